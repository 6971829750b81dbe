-- Remove names of bodies that have expired; bodies that were put before p_old and that no job or outcome
-- names; and those that only handlers have put; bodies only when no name holds them and their time is
-- over. Jobs that old are gone, but for the few that still wait and those that waited so long that they
-- stand in the default partition.
-- internal
create or replace function leasehold.purge_blobs(p_old timestamptz, p_limit integer) returns integer
language plpgsql as $$
declare
  v_live uuid[] := leasehold.unfinished_jobs('00000000-0000-0000-0000-000000000000', leasehold.first_id_of_day(p_old));
  v_n    integer;
begin
  delete from leasehold.held where (tenant_id, name) in (
    select tenant_id, name from leasehold.held
    where keep_until < leasehold.now() order by keep_until limit p_limit for update skip locked
  );
  with old as materialized (
    select b.tenant_id, b.sha256 from leasehold.body b
    where b.named and b.at < p_old and coalesce(b.keep_until < leasehold.now(), true)
      and not exists (select from leasehold.held h where h.tenant_id = b.tenant_id and h.sha256 = b.sha256)
      and not exists (select from leasehold.job j where j.job_id = any(v_live) and j.tenant_id = b.tenant_id and j.payload_ref = b.sha256)
      and not exists (select from leasehold.job_default j where j.tenant_id = b.tenant_id and j.payload_ref = b.sha256)
      and not exists (select from leasehold.outcome_default o where o.tenant_id = b.tenant_id and o.result_ref = b.sha256)
    order by b.at limit p_limit for update skip locked
  ),
  unwanted as materialized (
    select b.tenant_id, b.sha256 from leasehold.body b
    where not b.named and b.keep_until < leasehold.now()
      and not exists (select from leasehold.held h where h.tenant_id = b.tenant_id and h.sha256 = b.sha256)
    order by b.keep_until limit p_limit for update skip locked
  ),
  gone as (
    delete from leasehold.body b using (table old union all table unwanted) u
    where b.tenant_id = u.tenant_id and b.sha256 = u.sha256
    returning b.object_key
  ),
  loosened as (
    insert into leasehold.loose_object (object_key, since)
    select object_key, leasehold.now() from gone where object_key is not null
  )
  select count(*) into v_n from gone;
  return v_n;
end
$$;
