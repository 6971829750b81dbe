-- A public host belongs to one tenant: to the one that publishes the challenge of its issuer there. Until then the issuer
-- has no key, so nothing is signed in the name of a host that somebody else owns, and no QR code leads there.

alter table pack.issuer
  add column challenge text not null default replace(gen_random_uuid()::text, '-', ''),
  add column host_proven_at timestamptz;
create unique index issuer_host on pack.issuer (host) where host_proven_at is not null;

-- The tenant's host is its own, if its challenge is among those that are published there. Null is for loopback hosts of a
-- development installation, which need no proof. Another tenant keeps the host as long as its challenge is published, too.
create function pack.prove_host(p_published text[]) returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
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
revoke all on function pack.prove_host(text[]) from public;
grant execute on function pack.prove_host(text[]) to leasehold_api, leasehold_worker;

create function pack.key_needs_host() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from pack.issuer where tenant_id = new.tenant_id and host_proven_at is not null) then
    raise exception 'the host of the issuer is not proven, so the issuer gets no key'
      using errcode = 'LH409', hint = 'publish the challenge of the issuer on its host, then prove the host';
  end if;
  return new;
end
$$;
create trigger needs_host before insert on pack.signing_key for each row execute function pack.key_needs_host();

-- The passport that a GS1 Digital Link on this host means: of the tenant that the host belongs to, where a number is unique.
create or replace function pack.find_by_gtin(p_host text, p_gtin text, p_serial text) returns uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.passport_id
  from pack.issuer i
  join pack.passport p on p.tenant_id = i.tenant_id
  where i.host = p_host and i.host_proven_at is not null
    and p.gtin = p_gtin and p.serial = p_serial
    and exists (select from pack.version v where v.tenant_id = p.tenant_id and v.passport_id = p.passport_id and v.link is not null)
$$;
drop index pack.passport_gtin_serial_idx;  -- it was for a search across tenants

create function pack.is_public_host(p_host text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from pack.issuer where host = p_host and host_proven_at is not null)
$$;
revoke all on function pack.is_public_host(text) from public;
grant execute on function pack.is_public_host(text) to leasehold_api;

-- Whether pages of this passport may be shown at a public host: at its own issuer's, or at none (null), which is the server's.
create function pack.is_shown_at(p_passport uuid, p_host text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select p_host is null or exists (
    select from pack.passport p
    join pack.issuer i on i.tenant_id = p.tenant_id
    where p.passport_id = p_passport and i.host = p_host and i.host_proven_at is not null
  )
$$;
revoke all on function pack.is_shown_at(uuid, text) from public;
grant execute on function pack.is_shown_at(uuid, text) to leasehold_api;
