-- Make a schedule, or let the one of this name be what the definition says. Null for p_declared leaves it a person's.
-- The next tick is the caller's arithmetic, and counts only where the time of its ticks changes: a tick that is due
-- and not yet fired is not lost because somebody edits the payload.
-- internal
create or replace function leasehold.write_schedule(
  p_tenant uuid, p_old leasehold.schedule, p_new leasehold.schedule, p_next_at timestamptz, p_declared jsonb
) returns leasehold.schedule
language plpgsql as $$
declare
  v_now      timestamptz := leasehold.now();
  v_schedule leasehold.schedule;
  v_most     integer;
begin
  if p_old.schedule_id is null then
    if not exists (select from leasehold.tenant where tenant_id = p_tenant) then
      raise exception 'there is no tenant %', p_tenant using errcode = 'LH404';
    end if;
    v_most := leasehold.take_quota(p_tenant, 'schedules');
    if (select count(*) from leasehold.schedule where tenant_id = p_tenant) >= v_most then
      perform leasehold.refuse_more('schedules', v_most);
    end if;
    insert into leasehold.schedule (
      schedule_id, tenant_id, name, kind, payload, options, tick_as, cron, every_s, at, zone, starts_at, ends_at, jitter_s,
      overlap, catch_up, catch_up_max, origin, declared, paused, revision, next_at, created_at, updated_at
    )
    values (
      leasehold.new_id(leasehold.micros(v_now)), p_tenant, p_new.name, p_new.kind, p_new.payload, p_new.options, p_new.tick_as,
      p_new.cron, p_new.every_s, p_new.at, p_new.zone, p_new.starts_at, p_new.ends_at, p_new.jitter_s,
      p_new.overlap, p_new.catch_up, p_new.catch_up_max, case when p_declared is null then 'api' else 'code' end, p_declared,
      false, 1, p_next_at, v_now, v_now
    )
    returning * into v_schedule;
    return v_schedule;
  end if;

  if p_old.removed_at is null and
    (p_old.cron, p_old.every_s, p_old.at, p_old.zone, p_old.starts_at, p_old.ends_at) is not distinct from
    (p_new.cron, p_new.every_s, p_new.at, p_new.zone, p_new.starts_at, p_new.ends_at)
  then
    p_next_at := p_old.next_at;
  elsif p_next_at <= p_old.last_at then
    raise exception 'schedule % has ticked meanwhile', quote_literal(p_old.name) using errcode = 'LH409', hint = 'try again';
  end if;
  update leasehold.schedule set
    kind = p_new.kind, payload = p_new.payload, options = p_new.options, tick_as = p_new.tick_as,
    cron = p_new.cron, every_s = p_new.every_s, at = p_new.at, zone = p_new.zone,
    starts_at = p_new.starts_at, ends_at = p_new.ends_at, jitter_s = p_new.jitter_s,
    overlap = p_new.overlap, catch_up = p_new.catch_up, catch_up_max = p_new.catch_up_max,
    declared = coalesce(p_declared, declared), revision = revision + 1, next_at = p_next_at, updated_at = v_now,
    removed_at = null, paused = paused and removed_at is null
  where schedule_id = p_old.schedule_id
  returning * into v_schedule;
  return v_schedule;
exception when check_violation or not_null_violation then
  raise exception 'this schedule cannot be: it breaks the rule on %', (
    select case
      when num_nonnulls(p_new.cron, p_new.every_s, p_new.at) <> 1 then 'cron, every_s and at: it has exactly one of them'
      when p_new.every_s not between 1 and 31622400 then 'every_s: 1 second to 366 days'
      when p_new.jitter_s not between 0 and 86400 then 'jitter_s: at most one day'
      when p_new.overlap not in ('skip', 'queue', 'cancel_old') then 'overlap: skip, queue or cancel_old'
      when p_new.catch_up not in ('none', 'one', 'all') then 'catch_up: none, one or all'
      when p_new.catch_up = 'all' and p_new.overlap <> 'queue' then 'catch_up all: it needs overlap queue'
      when p_new.catch_up_max not between 1 and 1000 then 'catch_up_max: 1 to 1000'
      when p_new.ends_at <= p_new.starts_at then 'ends_at: it comes after starts_at'
      else 'the length of a text'
    end
  ) using errcode = 'LH400';
end
$$;
