-- Make a schedule of the current tenant, or change the one of this name. Logged.
--
-- Definition: kind, payload, options (queue, priority, max_attempts, retry_base_s, retry_cap_s, timeout_s, version, tags),
-- tick_as, one of cron, every_s, at; zone, starts_at, ends_at, jitter_s, overlap, catch_up, catch_up_max. The caller
-- computes the first tick after now (null: there is none). With a revision, 0 for a new schedule, another than the
-- current one is a conflict (LH409).
-- for: api, worker
create or replace function leasehold.put_schedule(
  p_name text, p_definition jsonb, p_next_at timestamptz, p_revision integer default null
) returns leasehold.schedule_view
language plpgsql as $$
declare
  v_tenant   uuid := leasehold.current_tenant();
  v_new      leasehold.schedule := leasehold.read_schedule(p_name, p_definition);
  v_old      leasehold.schedule;
  v_schedule leasehold.schedule;
begin
  perform pg_advisory_xact_lock(7510, hashtext(v_tenant::text));  -- two may make the same one
  select * into v_old from leasehold.schedule where tenant_id = v_tenant and name = p_name for no key update;
  if p_revision <> (case when v_old.removed_at is null then coalesce(v_old.revision, 0) else 0 end) then
    raise exception 'schedule % was changed meanwhile', quote_literal(p_name) using errcode = 'LH409', hint = 'look at it and try again';
  end if;
  v_schedule := leasehold.write_schedule(v_tenant, v_old, v_new, p_next_at, null);
  perform leasehold.log_action(
    v_tenant, case when v_old.schedule_id is null or v_old.removed_at is not null then 'schedule.create' else 'schedule.change' end,
    p_name, leasehold.schedule_definition(v_schedule) - 'payload'
  );
  return leasehold.view_schedule(v_schedule);
end
$$;
