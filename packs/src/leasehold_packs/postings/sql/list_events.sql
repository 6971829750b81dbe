-- What became of a posting, the newest first.
-- for: api, worker
create or replace function pack.list_events(p_posting uuid)
returns table (kind text, diff jsonb, run_id uuid, at timestamptz)
language sql stable
as $$
  select kind, diff, run_id, at from pack.event where posting_id = p_posting
  order by event_id desc limit 500
$$;
