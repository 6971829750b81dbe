-- The tenant's host is its own, if its challenge is among those that are published there. Null is for loopback hosts of a
-- development installation, which need no proof. Another tenant keeps the host as long as its challenge is published, too.
-- for: api, worker
create or replace function pack.prove_host(p_published text[]) returns timestamptz
language plpgsql security definer
as $$
declare
  v_issuer pack.issuer;
begin
  select * into v_issuer from pack.issuer
  where tenant_id = nullif(current_setting('leasehold.tenant', true), '')::uuid
  for no key update;
  if not found then
    raise exception 'there is no such issuer' using errcode = 'LH404';
  end if;
  if v_issuer.host_proven_at is not null then
    return v_issuer.host_proven_at;
  end if;
  if v_issuer.challenge <> all(p_published) then
    raise exception 'the challenge % is not published on %', v_issuer.challenge, v_issuer.host
      using errcode = 'LH409', hint = 'publish it on a line of its own, then prove the host again';
  end if;
  update pack.issuer set host_proven_at = null
  where host = v_issuer.host and host_proven_at is not null and challenge <> all(p_published);
  update pack.issuer set host_proven_at = now()
  where tenant_id = v_issuer.tenant_id
  returning host_proven_at into v_issuer.host_proven_at;
  return v_issuer.host_proven_at;
exception when unique_violation then
  raise exception 'the host % belongs to another tenant, whose proof still holds', v_issuer.host
    using errcode = 'LH409', hint = 'name a host of your own, or have the other challenge removed from it';
end
$$;
