-- Deliveries of the current tenant, newest first, of one endpoint or in one state if asked for; p_before is the last id of
-- the page before. One whose job ended without a word (its worker died in the last attempt) has failed.
-- for: api, operator
create or replace function leasehold.list_deliveries(
  p_endpoint uuid default null, p_state text default null, p_before uuid default null, p_limit integer default 50
)
returns table (
  delivery_id uuid, event_id uuid, endpoint_id uuid, job_id uuid, type text, subject_type text,
  subject_id text, state text, reason text, attempts integer, status smallint,
  created_at timestamptz, ended_at timestamptz
)
language sql stable as $$
  select
    d.delivery_id, d.event_id, d.endpoint_id, d.job_id, v.type, v.subject_type, v.subject_id, s.state,
    coalesce(d.reason, case when s.state <> d.state then 'its job ended without a word' end),
    coalesce(a.n, 0), a.status, d.created_at, d.ended_at
  from leasehold.delivery d
  join leasehold.webhook_event v on v.event_id = d.event_id
  left join lateral (
    select n, status from leasehold.delivery_attempt where delivery_id = d.delivery_id order by n desc limit 1
  ) a on true
  cross join lateral (
    select case when d.state = 'pending' and exists (select from leasehold.outcome o where o.job_id = d.job_id) then 'failed' else d.state end as state
  ) s
  where d.tenant_id = leasehold.current_tenant() and d.endpoint_id = coalesce(p_endpoint, d.endpoint_id)
    and s.state = coalesce(p_state, s.state) and d.delivery_id < coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  order by d.delivery_id desc limit least(p_limit, 1000)
$$;
