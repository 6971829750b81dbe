-- Select the jobs that a bulk action applies to now, all of them, and keep their ids: what is confirmed afterwards is what
-- start_selected_action has done. One selection for the current tenant, empty if it has none; for the operator, without a tenant, one
-- for each that has such jobs.
-- for: api, worker, operator
-- settings: no jit
create or replace function leasehold.select_jobs(p_action text, p_filter jsonb) returns setof leasehold.selection
language plpgsql as $$
#variable_conflict use_column
declare
  c_piece  constant integer := 500;  -- jobs that one transaction acts on
  v_tenant uuid := leasehold.tenant_filter();
  v_jobs   uuid[] := leasehold.list_matching_action(v_tenant, p_action, p_filter);
  v_now    timestamptz := leasehold.now();  -- after the look: no outcome that it saw is later
begin
  return query
    with found as materialized (
      select j.tenant_id, j.job_id, (row_number() over (partition by j.tenant_id order by j.job_id) - 1) / c_piece as piece
      from leasehold.job j where j.job_id = any(v_jobs)
    ),
    made as (
      insert into leasehold.selection (selection_id, tenant_id, action, filter, n, selected_at)
      select leasehold.new_id(leasehold.micros(v_now)), owner.tenant_id, p_action, p_filter, owner.n, v_now
      from (
        select tenant_id, count(*) as n from found group by tenant_id
        union all
        select tenant_id, 0 from leasehold.tenant where tenant_id = v_tenant and v_jobs = '{}'
      ) owner
      returning *
    ),
    kept as (
      insert into leasehold.selected (selection_id, piece, jobs)
      select m.selection_id, f.piece, array_agg(f.job_id order by f.job_id)
      from made m join found f on f.tenant_id = m.tenant_id
      group by m.selection_id, f.piece
    )
    select * from made order by tenant_id;
end
$$;
