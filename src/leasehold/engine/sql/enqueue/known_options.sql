-- The options that one may give for a job, a kind (by its handler), a step or a schedule.
-- Made from options.csv by `python -m tools.generate`.
-- internal
create or replace function leasehold.known_options(p_of text) returns text[]
language sql immutable as $$
  select case p_of
    when 'job' then array[
      'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'delay_s',
      'version', 'tags', 'meta', 'group', 'group_limit', 'group_hold', 'group_gap_s', 'gate',
      'run_at', 'expires_at', 'key_window_s', 'unique', 'on_duplicate', 'copied_from',
      'traceparent'
    ]
    when 'kind' then array[
      'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'delay_s',
      'version', 'tags', 'meta', 'group', 'group_limit', 'group_hold', 'group_gap_s', 'gate',
      'key_window_s', 'on_duplicate'
    ]
    when 'step' then array[
      'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'delay_s',
      'version', 'tags', 'meta', 'group', 'group_limit', 'group_hold', 'group_gap_s', 'gate',
      'run_at', 'expires_at', 'traceparent'
    ]
    when 'schedule' then array[
      'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'delay_s',
      'version', 'tags', 'meta', 'group', 'group_limit', 'group_hold', 'group_gap_s', 'gate'
    ]
  end
$$;
