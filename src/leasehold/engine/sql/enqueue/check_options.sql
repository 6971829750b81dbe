-- Refuse options that are unknown or out of range, with a sentence that says which.
create or replace function leasehold.check_options(p_options jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_known  constant text[] := leasehold.known_options('job');
  v_option text;
begin
  if jsonb_typeof(p_options) <> 'object' then
    raise exception 'options are not a JSON object' using errcode = 'LH400';
  end if;
  select o into v_option from jsonb_object_keys(p_options) o where o <> all(c_known) limit 1;
  if found then
    raise exception 'there is no option %', quote_literal(v_option)
      using errcode = 'LH400', hint = 'known options: ' || array_to_string(c_known, ', ');
  end if;
  if (p_options ->> 'priority')::numeric not in (0, 1, 2, 3) then
    raise exception 'priority % is not 0 (critical), 1 (high), 2 (normal) or 3 (low)', p_options ->> 'priority' using errcode = 'LH400';
  end if;
  if (p_options ->> 'max_attempts')::numeric not between 1 and 1000 then
    raise exception 'max_attempts % is not between 1 and 1000', p_options ->> 'max_attempts' using errcode = 'LH400';
  end if;
  if (p_options ->> 'delay_s')::numeric not between 0 and 315576000 then
    raise exception 'delay_s % is not between 0 and ten years', p_options ->> 'delay_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'run_at')::timestamptz not between '1970-01-01' and leasehold.now() + interval '10 years' then
    raise exception 'run_at % is more than ten years away', p_options ->> 'run_at' using errcode = 'LH400';
  end if;
  if (p_options ->> 'retry_base_s')::numeric not between 0.001 and 86400 or (p_options ->> 'retry_cap_s')::numeric not between 0.001 and 2592000 then
    raise exception 'retry_base_s is between 0.001 and one day, retry_cap_s between 0.001 and thirty days' using errcode = 'LH400';
  end if;
  if (p_options ->> 'timeout_s')::numeric not between 0.1 and 604800 then
    raise exception 'timeout_s % is not between 0.1 and one week', p_options ->> 'timeout_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'expires_at')::timestamptz <= leasehold.now() then
    raise exception 'expires_at % has passed', p_options ->> 'expires_at' using errcode = 'LH400';
  end if;
  if (p_options ->> 'key_window_s')::numeric not between 1 and 31557600 then
    raise exception 'key_window_s % is not between one second and one year', p_options ->> 'key_window_s' using errcode = 'LH400';
  end if;
  if (p_options ->> 'version')::numeric not between 1 and 30000 then
    raise exception 'version % is not between 1 and 30000', p_options ->> 'version' using errcode = 'LH400';
  end if;
  if p_options ? 'tags' and not (
    jsonb_typeof(p_options -> 'tags') = 'array' and jsonb_array_length(p_options -> 'tags') <= 20
    and not exists (select from jsonb_array_elements(p_options -> 'tags') t where jsonb_typeof(t) <> 'string' or length(t #>> '{}') not between 1 and 100)
  ) then
    raise exception 'tags are a list of at most 20 texts of 1 to 100 characters' using errcode = 'LH400';
  end if;
  if (p_options ->> 'copied_from')::uuid is null and p_options ? 'copied_from' then
    raise exception 'copied_from is not a job id' using errcode = 'LH400';
  end if;
  if p_options ? 'group' and (jsonb_typeof(p_options -> 'group') <> 'string' or length(p_options ->> 'group') not between 1 and 200) then
    raise exception 'group is a text of 1 to 200 characters' using errcode = 'LH400';
  end if;
  if (p_options ->> 'group_limit')::numeric not between 1 and 1000 or (p_options ->> 'group_limit')::numeric % 1 <> 0 then
    raise exception 'group_limit % is not a whole number from 1 to 1000', p_options ->> 'group_limit' using errcode = 'LH400';
  end if;
  if p_options ? 'group_hold' and jsonb_typeof(p_options -> 'group_hold') <> 'boolean' then
    raise exception 'group_hold is true or false' using errcode = 'LH400';
  end if;
  if (p_options ->> 'group_gap_s')::numeric not between 0.001 and 86400 then
    raise exception 'group_gap_s % is not between 0.001 and one day', p_options ->> 'group_gap_s' using errcode = 'LH400';
  end if;
  if p_options ? 'unique' and (jsonb_typeof(p_options -> 'unique') <> 'string' or length(p_options ->> 'unique') not between 1 and 255) then
    raise exception 'unique is a text of 1 to 255 characters' using errcode = 'LH400';
  end if;
  if p_options ? 'on_duplicate' and coalesce(p_options ->> 'on_duplicate', '') not in ('keep', 'replace', 'push') then
    raise exception 'on_duplicate is keep, replace or push' using errcode = 'LH400';
  end if;
  if p_options ? 'gate' then
    perform leasehold.check_gate_template(p_options -> 'gate');
  end if;
  if jsonb_typeof(p_options -> 'traceparent') not in ('string', 'null') or length(p_options ->> 'traceparent') > 100 then
    raise exception 'traceparent is a text of at most 100 characters' using errcode = 'LH400';
  end if;
end
$$;

revoke all on function leasehold.check_options(jsonb) from public;
