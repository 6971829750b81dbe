-- An issuer has keys only at a host that it has proven.
-- internal
create or replace function pack.key_needs_host() returns trigger
language plpgsql
as $$
begin
  if not exists (select from pack.issuer where tenant_id = new.tenant_id and host_proven_at is not null) then
    raise exception 'the host of the issuer is not proven, so the issuer gets no key'
      using errcode = 'LH409', hint = 'publish the challenge of the issuer on its host, then prove the host';
  end if;
  return new;
end
$$;

create or replace trigger needs_host before insert on pack.signing_key for each row execute function pack.key_needs_host();
