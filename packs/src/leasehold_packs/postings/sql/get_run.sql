-- A run by its id.
-- for: api, worker
create or replace function pack.get_run(p_run uuid)
returns table (
  run_id uuid, asked_by text, details text, flow_id uuid, state text, reason text, seq bigint,
  created_at timestamptz, finished_at timestamptz
)
language sql stable
as $$
  select run_id, asked_by, details, flow_id, state, reason, seq, created_at, finished_at
  from pack.run where run_id = p_run
$$;
