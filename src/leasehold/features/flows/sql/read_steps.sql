-- Steps as a caller writes them, or LH400 with a sentence that says what cannot be.
-- internal
create or replace function leasehold.read_steps(p_steps jsonb) returns leasehold.asked_step[]
language plpgsql as $$
declare
  v_steps leasehold.asked_step[];
  v_bad   record;
begin
  if jsonb_typeof(p_steps) is distinct from 'array' or jsonb_array_length(p_steps) > 20000 then
    raise exception 'steps are a list of at most 20000' using errcode = 'LH400';
  end if;
  if exists (
    select from jsonb_array_elements(p_steps) s where jsonb_typeof(s) <> 'object'
      or coalesce(jsonb_typeof(s -> 'after'), 'null') not in ('array', 'null')
      or coalesce(jsonb_typeof(s -> 'options'), 'null') not in ('object', 'null')
      or coalesce(jsonb_typeof(s -> 'wait'), 'null') not in ('object', 'null')
  ) then
    raise exception 'a step is an object; its after is a list, its options and wait are objects' using errcode = 'LH400';
  end if;
  select array_agg(
    row(o - 1, s.name, s.kind, coalesce(s.payload, '{}'), leasehold.given_options(s.options),
      coalesce(s.after, '{}'),
      coalesce(s.on_failure, 'fail'), s.wait)::leasehold.asked_step order by o
  ) into v_steps
  from rows from (
    jsonb_to_recordset(p_steps) as (name text, kind text, payload jsonb, options jsonb, after integer[], on_failure text, wait jsonb)
  ) with ordinality s(name, kind, payload, options, after, on_failure, wait, o);

  select s.place, s.kind, a.parent, a.parent is not null as early,
    s.on_failure not in ('fail', 'skip', 'continue') as policy, length(s.name) not between 1 and 200 as name into v_bad
  from unnest(v_steps) s left join lateral (select p as parent from unnest(s.after) p where p < 0 or p >= s.place limit 1) a on true
  where a.parent is not null or s.on_failure not in ('fail', 'skip', 'continue') or length(s.name) not between 1 and 200
  limit 1;
  if v_bad.early then
    raise exception 'step % waits for %, which does not stand before it', v_bad.place, v_bad.parent
      using errcode = 'LH400', hint = 'parents come first, and nothing waits for itself';
  elsif v_bad.policy then
    raise exception 'on_failure of step % is not fail, skip or continue', v_bad.place using errcode = 'LH400';
  elsif v_bad.name then
    raise exception 'the name of step % has not 1 to 200 characters', v_bad.place using errcode = 'LH400';
  end if;
  if (select count(s.name) <> count(distinct s.name) from unnest(v_steps) s) then
    raise exception 'two steps have the same name' using errcode = 'LH400', hint = 'give one of them another';
  end if;
  perform leasehold.check_options_of('step', format('step %s of kind %s', s.place, s.kind), s.options)
  from unnest(v_steps) s where s.options <> '{}';
  perform leasehold.check_wait(s.kind, s.wait) from unnest(v_steps) s where s.wait is not null or s.kind like 'flow.%';
  return coalesce(v_steps, '{}');
end
$$;
