-- Keep a body of the current tenant for at least p_days from now; until when it is kept. No row: there is none.
-- for: worker
create or replace function leasehold.extend_blob_retention(p_sha256 bytea, p_days double precision) returns setof timestamptz
language sql volatile as $$
  update leasehold.body set keep_until = greatest(keep_until, leasehold.now() + make_interval(secs => p_days * 86400))
  where tenant_id = leasehold.current_tenant() and sha256 = p_sha256
  returning keep_until
$$;
