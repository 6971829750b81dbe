-- The tenant of this transaction, if this login may read it; null, and no rows, if not. For the policies of readers.
create or replace function leasehold.read_tenant() returns uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t from (select nullif(current_setting('leasehold.tenant', true), '')::uuid) s(t) where leasehold.may_read(t)
$$;

revoke all on function leasehold.read_tenant() from public;
grant execute on function leasehold.read_tenant() to leasehold_readonly;
