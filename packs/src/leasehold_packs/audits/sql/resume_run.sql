-- A page that could not be read is asked for again.
-- for: api
create or replace function pack.resume_run(p_run uuid) returns integer
language plpgsql
as $$
declare
  v_part integer;
begin
  update pack.run
  set state = 'running', reason = null, finished_at = null, part = part + 1, begun_at = leasehold.now(), is_full = false
  where run_id = p_run and state in ('canceled', 'failed')
  returning part into v_part;
  if v_part is null then
    return null;
  end if;
  with again as (
    update pack.url u set state = 'queued', status = null, problem = null
    where u.run_id = p_run and u.state in ('failed', 'fetched') and not pack.is_read(u)
    returning u.key
  )
  delete from pack.issue i using again a where i.run_id = p_run and i.key = a.key;
  perform pack.add_event(p_run, 'status_changed', 'running', 'the audit goes on', jsonb_build_object('state', 'running'));
  return v_part;
end
$$;
