-- Remove bodies that were put before p_old and that no job or outcome names. Jobs that old are gone, but for the few
-- that still wait and those that waited so long that they stand in the default partition.
create or replace function leasehold.purge_bodies(p_old timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_live uuid[] := leasehold.live_jobs('00000000-0000-0000-0000-000000000000', leasehold.first_id(p_old));
  v_n    integer;
begin
  delete from leasehold.body where (tenant_id, sha256) in (
    select b.tenant_id, b.sha256 from leasehold.body b
    where b.at < p_old
      and not exists (select from leasehold.job j where j.job_id = any(v_live) and j.tenant_id = b.tenant_id and j.payload_ref = b.sha256)
      and not exists (select from leasehold.job_default j where j.tenant_id = b.tenant_id and j.payload_ref = b.sha256)
      and not exists (select from leasehold.outcome_default o where o.tenant_id = b.tenant_id and o.result_ref = b.sha256)
    order by b.at limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count;
  return v_n;
end
$$;

revoke all on function leasehold.purge_bodies(timestamptz, integer) from public;
