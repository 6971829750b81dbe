-- Whether pages of this passport may be shown at a public host: at its own issuer's, or at none (null), which is the server's.
-- for: api
create or replace function pack.is_shown_at(p_passport uuid, p_host text) returns boolean
language sql stable security definer
as $$
  select p_host is null or exists (
    select from pack.passport p
    join pack.issuer i on i.tenant_id = p.tenant_id
    where p.passport_id = p_passport and i.host = p_host and i.host_proven_at is not null
  )
$$;
