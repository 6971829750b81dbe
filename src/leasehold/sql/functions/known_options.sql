-- The options of a job and who may give each: the caller for one job, the handler for its kind, a step of a flow, a
-- schedule. The other lists of options (check_options, the handlers and the bodies of requests in Python) are compared
-- with this one by tests/options.
create or replace function leasehold.known_options(p_of text) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(name order by o) from unnest(
    array[
      'queue', 'priority', 'max_attempts', 'retry_base_s', 'retry_cap_s', 'timeout_s', 'delay_s', 'version', 'tags',
      'group', 'group_limit', 'group_hold', 'group_gap_s', 'gate'
    ] || case p_of
      when 'job' then array[
        'run_at', 'expires_at', 'key_window_s', 'unique', 'on_duplicate', 'copied_from', 'traceparent'
      ]
      when 'kind' then array['key_window_s', 'on_duplicate']
      when 'step' then array['run_at', 'expires_at', 'traceparent']
      when 'schedule' then array[]::text[]
    end
  ) with ordinality u(name, o)
$$;

revoke all on function leasehold.known_options(text) from public;
