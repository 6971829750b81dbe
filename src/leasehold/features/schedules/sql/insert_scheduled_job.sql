-- Make the job of a tick, as its schedule's overlap policy allows. A tick that is late runs from now on. The spread is
-- the same for the same tick, whoever fires it. A delay, the schedule's own or the kind's, is added.
-- internal
create or replace function leasehold.insert_scheduled_job(
  p_schedule leasehold.schedule, p_tick timestamptz, p_late boolean, out outcome text, out job_id uuid
)
language plpgsql as $$
declare
  v_dice    bigint := ('x' || left(md5(p_schedule.schedule_id::text || extract(epoch from p_tick)), 8))::bit(32)::bigint;
  v_spread  interval := make_interval(secs => p_schedule.jitter_s * (v_dice / 4294967296.0));
  v_options jsonb := leasehold.options_of(p_schedule.kind, p_schedule.options);
  v_delay   interval := make_interval(secs => coalesce((v_options ->> 'delay_s')::double precision, 0));
  v_live    boolean;
  v_tags    jsonb;
begin
  v_live := leasehold.state_of(p_schedule.last_job) not in ('succeeded', 'failed', 'dead', 'canceled');  -- null: it is gone
  if v_live and p_schedule.overlap = 'skip' then
    outcome := 'skipped';
    job_id := p_schedule.last_job;
    return;
  end if;
  if v_live and p_schedule.overlap = 'cancel_old' then
    perform leasehold.cancel(p_schedule.last_job, format('schedule %s: its next run has come', p_schedule.name));
  end if;

  v_tags := coalesce(jsonb_path_query_array(v_options -> 'tags', '$[0 to 18]'), '[]')
    || to_jsonb('schedule:' || p_schedule.name);
  select 'fired', m.job_ids[1] into outcome, job_id from leasehold.enqueue(
    p_schedule.kind,
    array[case
      when p_schedule.tick_as is null then p_schedule.payload
      else p_schedule.payload || jsonb_build_object(
        p_schedule.tick_as, to_char(p_tick at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      )
    end],
    p_schedule.options || jsonb_build_object(
      'tags', v_tags, 'run_at', case when p_late then leasehold.now() else p_tick end + v_spread + v_delay
    ),
    p_tenants => array[p_schedule.tenant_id]
  ) m;
end
$$;
