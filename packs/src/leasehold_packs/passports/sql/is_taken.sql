-- Whether somebody else signs under this slug: slugs stand in public addresses, so this is no secret.
-- for: api
create or replace function pack.is_taken(p_slug text) returns boolean
language sql stable security definer
as $$
  select exists (
    select from pack.issuer
    where slug = p_slug and tenant_id <> nullif(current_setting('leasehold.tenant', true), '')::uuid
  )
$$;
