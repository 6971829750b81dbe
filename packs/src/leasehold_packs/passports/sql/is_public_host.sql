-- Whether a tenant has proven this host.
-- for: api
create or replace function pack.is_public_host(p_host text) returns boolean
language sql stable security definer
as $$
  select exists (select from pack.issuer where host = p_host and host_proven_at is not null)
$$;
