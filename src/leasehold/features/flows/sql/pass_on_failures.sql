-- The parents of these edges have ended without success. What becomes of the child, or of the whole flow, is the policy of the
-- edge. A step that was skipped has not failed: its children are skipped in turn, unless they said continue.
-- internal
-- settings: ordered
create or replace function leasehold.pass_on_failures(p_edges leasehold.dep[]) returns void
language plpgsql as $$
begin
  with bad as materialized (
    select e.child, e.on_failure, s.flow_id, coalesce(s.name, s.job_id::text) as name, o.state,
      coalesce(o.error ->> 'type', '') as type
    from unnest(p_edges) e
    join leasehold.outcome o on o.job_id = e.parent
    join leasehold.step s on s.job_id = e.parent
  ),
  unwanted as (
    insert into leasehold.unwanted (job_id, error)
    select child, jsonb_build_object('type', 'Skipped', 'message', format('step %s is %s', name, case type when 'Skipped' then 'skipped' else state end))
    from bad where child <> flow_id and (on_failure = 'skip' or on_failure = 'fail' and type = 'Skipped')
  )
  insert into leasehold.stop (flow_id, state, reason)
  select distinct on (flow_id) flow_id, 'failed', format('step %s is %s', name, state)
  from bad where on_failure = 'fail' and type not in ('Skipped', 'Stopped') order by flow_id;
end
$$;
