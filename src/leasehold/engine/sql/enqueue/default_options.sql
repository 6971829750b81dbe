-- What holds where neither the caller nor the kind gives an option.
-- Made from options.csv by `python -m tools.generate`.
-- internal
-- settings: none
create or replace function leasehold.default_options() returns jsonb
language sql immutable as $$
  select '{
    "queue": "default",
    "priority": 2,
    "max_attempts": 5,
    "retry_base_s": 1,
    "retry_cap_s": 3600,
    "timeout_s": 600,
    "version": 1,
    "group_limit": 1,
    "group_hold": false,
    "key_window_s": 86400,
    "on_duplicate": "keep"
  }'::jsonb
$$;
