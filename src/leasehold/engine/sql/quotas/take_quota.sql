-- How many of a thing the tenant may have. Until the transaction ends nobody else makes one for it, so that what is counted
-- after this call is still true when the caller adds to it. A null tenant is the installation, which has the usual number.
-- internal
create or replace function leasehold.take_quota(p_tenant uuid, p_what text) returns integer
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7532, hashtext(p_what || coalesce(p_tenant::text, '')));
  return (
    select coalesce((t.quotas ->> q.what)::integer, q.most)
    from leasehold.quota q
    left join leasehold.tenant t on t.tenant_id = p_tenant
    where q.what = p_what
  );
end
$$;
