-- A definition as the row it would become, or a sentence that says what is wrong with it.
-- internal
create or replace function leasehold.read_schedule(p_name text, p_definition jsonb) returns leasehold.schedule
language plpgsql stable as $$
declare
  c_known   constant text[] := array[
    'kind', 'payload', 'options', 'tick_as', 'cron', 'every_s', 'at', 'zone', 'starts_at', 'ends_at', 'jitter_s', 'overlap',
    'catch_up', 'catch_up_max'
  ];
  v_schedule leasehold.schedule;
  v_wrong    text;
  v_queue    text;
begin
  if p_name is null or p_name !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception 'a schedule cannot be called %', quote_nullable(p_name)
      using errcode = 'LH400', hint = 'lower-case letters, digits, _ . - and at most 63 characters';
  end if;
  if jsonb_typeof(p_definition) is distinct from 'object' then
    raise exception 'the definition of a schedule is not a JSON object' using errcode = 'LH400';
  end if;
  select d into v_wrong from jsonb_object_keys(p_definition) d where d <> all(c_known) limit 1;
  if found then
    raise exception 'a schedule has no %', quote_literal(v_wrong)
      using errcode = 'LH400', hint = 'it has: ' || array_to_string(c_known, ', ');
  end if;

  v_schedule := jsonb_populate_record(null::leasehold.schedule, p_definition);
  v_schedule.name := p_name;
  v_schedule.payload := coalesce(v_schedule.payload, '{}');
  v_schedule.options := coalesce(nullif(v_schedule.options, 'null'), '{}');
  v_schedule.zone := coalesce(v_schedule.zone, 'UTC');
  v_schedule.jitter_s := coalesce(v_schedule.jitter_s, 0);
  v_schedule.catch_up := coalesce(v_schedule.catch_up, 'one');
  v_schedule.catch_up_max := coalesce(v_schedule.catch_up_max, 100);
  v_schedule.overlap := coalesce(v_schedule.overlap, case when v_schedule.catch_up = 'all' then 'queue' else 'skip' end);

  perform leasehold.check_options_of('schedule', 'the jobs of a schedule', v_schedule.options);
  v_schedule.options := leasehold.given_options(v_schedule.options);
  v_queue := coalesce(leasehold.options_of(v_schedule.kind, v_schedule.options) ->> 'queue', 'default');
  if not exists (select from leasehold.queue where queue = v_queue) then
    raise exception 'there is no queue %', quote_literal(v_queue)
      using errcode = 'LH404', hint = 'leasehold queues create ' || v_queue;
  end if;
  if octet_length(v_schedule.payload::text) > 65536 then
    raise exception 'the payload of a schedule has more than 65536 bytes'
      using errcode = 'LH413', hint = 'store it elsewhere and schedule a reference';
  end if;
  if v_schedule.tick_as is not null and jsonb_typeof(v_schedule.payload) <> 'object' then
    raise exception 'tick_as puts the tick into the payload, which is not an object' using errcode = 'LH400';
  end if;
  return v_schedule;
end
$$;
