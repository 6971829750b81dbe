-- Refuse options that are unknown or out of range, with a sentence that says which.
-- Made from options.csv by `python -m tools.generate`.
-- internal
create or replace function leasehold.check_options(p_options jsonb) returns void
language plpgsql stable as $$
declare
  c_known constant text[] := leasehold.known_options('job');
begin
  if jsonb_typeof(p_options) <> 'object' then
    raise exception 'options are not a JSON object' using errcode = 'LH400';
  end if;
  if p_options - c_known <> '{}' then
    raise exception 'there is no option %',
      (select quote_literal(o) from jsonb_object_keys(p_options - c_known) o limit 1)
      using errcode = 'LH400', hint = 'known options: ' || array_to_string(c_known, ', ');
  end if;
  if jsonb_typeof(p_options -> 'priority') not in ('number', 'null') then
    raise exception 'priority is a number, not %', p_options -> 'priority' using errcode = 'LH400';
  end if;
  if (p_options ->> 'priority')::numeric not between 0 and 3 or (p_options ->> 'priority')::numeric % 1 <> 0 then
    raise exception 'priority % is not a whole number from 0 to 3', p_options ->> 'priority' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'max_attempts') not in ('number', 'null') then
    raise exception 'max_attempts is a number, not %', p_options -> 'max_attempts' using errcode = 'LH400';
  end if;
  if (p_options ->> 'max_attempts')::numeric not between 1 and 1000 or (p_options ->> 'max_attempts')::numeric % 1 <> 0 then
    raise exception 'max_attempts % is not a whole number from 1 to 1000', p_options ->> 'max_attempts' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'retry_base_s') not in ('number', 'null') then
    raise exception 'retry_base_s is a number, not %', p_options -> 'retry_base_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'retry_base_s')::numeric not between 0.001 and 86400 then
    raise exception 'retry_base_s % is not between 0.001 seconds and one day', p_options ->> 'retry_base_s' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'retry_cap_s') not in ('number', 'null') then
    raise exception 'retry_cap_s is a number, not %', p_options -> 'retry_cap_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'retry_cap_s')::numeric not between 0.001 and 2592000 then
    raise exception 'retry_cap_s % is not between 0.001 seconds and thirty days', p_options ->> 'retry_cap_s' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'timeout_s') not in ('number', 'null') then
    raise exception 'timeout_s is a number, not %', p_options -> 'timeout_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'timeout_s')::numeric not between 0.1 and 604800 then
    raise exception 'timeout_s % is not between 0.1 seconds and one week', p_options ->> 'timeout_s' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'delay_s') not in ('number', 'null') then
    raise exception 'delay_s is a number, not %', p_options -> 'delay_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'delay_s')::numeric not between 0 and 315576000 then
    raise exception 'delay_s % is not between 0 seconds and ten years', p_options ->> 'delay_s' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'version') not in ('number', 'null') then
    raise exception 'version is a number, not %', p_options -> 'version' using errcode = 'LH400';
  end if;
  if (p_options ->> 'version')::numeric not between 1 and 30000 or (p_options ->> 'version')::numeric % 1 <> 0 then
    raise exception 'version % is not a whole number from 1 to 30000', p_options ->> 'version' using errcode = 'LH400';
  end if;
  if p_options ? 'tags' and not (
    jsonb_typeof(p_options -> 'tags') = 'array' and jsonb_array_length(p_options -> 'tags') <= 20
    and not exists (
      select from jsonb_array_elements(p_options -> 'tags') t
      where jsonb_typeof(t) <> 'string'
        or length(t #>> '{}') not between 1 and 100
    )
  ) then
    raise exception 'tags are a list of at most 20 texts of 1 to 100 characters' using errcode = 'LH400';
  end if;
  if p_options ? 'meta' and (jsonb_typeof(p_options -> 'meta') <> 'object' or octet_length(p_options ->> 'meta') > 16384) then
    raise exception 'meta is a JSON object of at most 16384 bytes' using errcode = 'LH400';
  end if;
  if p_options ? 'group' and (jsonb_typeof(p_options -> 'group') <> 'string' or length(p_options ->> 'group') not between 1 and 200) then
    raise exception 'group is a text of 1 to 200 characters' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'group_limit') not in ('number', 'null') then
    raise exception 'group_limit is a number, not %', p_options -> 'group_limit' using errcode = 'LH400';
  end if;
  if (p_options ->> 'group_limit')::numeric not between 1 and 1000 or (p_options ->> 'group_limit')::numeric % 1 <> 0 then
    raise exception 'group_limit % is not a whole number from 1 to 1000', p_options ->> 'group_limit' using errcode = 'LH400';
  end if;
  if p_options ? 'group_hold' and jsonb_typeof(p_options -> 'group_hold') <> 'boolean' then
    raise exception 'group_hold is true or false' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'group_gap_s') not in ('number', 'null') then
    raise exception 'group_gap_s is a number, not %', p_options -> 'group_gap_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'group_gap_s')::numeric not between 0.001 and 86400 then
    raise exception 'group_gap_s % is not between 0.001 seconds and one day', p_options ->> 'group_gap_s' using errcode = 'LH400';
  end if;
  if p_options ? 'gate' then
    perform leasehold.check_gate_template(p_options -> 'gate');
  end if;
  if (p_options ->> 'run_at')::timestamptz not between '1970-01-01' and leasehold.now() + interval '315576000 s' then
    raise exception 'run_at % is more than ten years away', p_options ->> 'run_at' using errcode = 'LH400';
  end if;
  if (p_options ->> 'expires_at')::timestamptz <= leasehold.now() then
    raise exception 'expires_at % has passed', p_options ->> 'expires_at' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'key_window_s') not in ('number', 'null') then
    raise exception 'key_window_s is a number, not %', p_options -> 'key_window_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'key_window_s')::numeric not between 1 and 31557600 then
    raise exception 'key_window_s % is not between one second and one year', p_options ->> 'key_window_s' using errcode = 'LH400';
  end if;
  if p_options ? 'unique' and (jsonb_typeof(p_options -> 'unique') <> 'string' or length(p_options ->> 'unique') not between 1 and 255) then
    raise exception 'unique is a text of 1 to 255 characters' using errcode = 'LH400';
  end if;
  if p_options ? 'on_duplicate' and coalesce(p_options ->> 'on_duplicate', '') not in ('keep', 'replace', 'push') then
    raise exception 'on_duplicate is keep, replace or push' using errcode = 'LH400';
  end if;
  if (p_options ->> 'copied_from')::uuid is null and p_options ? 'copied_from' then
    raise exception 'copied_from is not a job id' using errcode = 'LH400';
  end if;
  if jsonb_typeof(p_options -> 'traceparent') not in ('string', 'null') or length(p_options ->> 'traceparent') > 100 then
    raise exception 'traceparent is a text of at most 100 characters' using errcode = 'LH400';
  end if;
end
$$;
