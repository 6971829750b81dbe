-- Whether the plain branch of an enqueue can carry all of these options.
-- Made from options.csv by `python -m tools.generate`.
-- internal
-- settings: none
create or replace function leasehold.is_plain(p_options jsonb) returns boolean
language sql immutable as $$
  select p_options - array[
    'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'version',
    'key_window_s', 'traceparent'
  ] = '{}'
$$;
