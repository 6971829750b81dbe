-- Note how many pages are known and done, at most once a second. Nobody waits to say so.
-- for: worker
create or replace function pack.measure(p_run uuid) returns void
language plpgsql
as $$
declare
  v_known integer;
  v_done  integer;
  v_bad   integer;
begin
  perform from pack.run
  where run_id = p_run and state = 'running' and coalesce(measured_at < leasehold.now() - interval '1 second', true)
  for no key update skip locked;
  if not found then
    return;
  end if;
  select count(*), count(*) filter (where state <> 'queued'), count(*) filter (where state = 'failed' or status >= 400)
  into v_known, v_done, v_bad
  from pack.url where run_id = p_run and state <> 'left';
  update pack.run set measured_at = leasehold.now() where run_id = p_run;
  perform pack.add_event(
    p_run, 'metric', 'crawl', v_done || ' of ' || v_known || ' pages',
    jsonb_build_object('known', v_known, 'done', v_done, 'failed', v_bad), 90 * v_done / greatest(v_known, 1)
  );
end
$$;
