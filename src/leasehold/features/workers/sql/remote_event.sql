-- What a handler of a remote worker says, under its token: progress, or a line of its log. Of an attempt about 1000 lines
-- or 1 MiB are kept; the first line above that becomes one that says so, and the others are dropped.
-- for: api, operator
create or replace function leasehold.remote_event(
  p_worker uuid, p_key text, p_token bigint, p_type text, p_message text, p_progress real, p_data jsonb
) returns integer
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
declare
  c_most   constant integer := 1048576;
  -- a line costs what it holds and 1000 more, so that neither many nor long ones go on for ever
  v_cost   integer := case when p_type = 'log' then octet_length(concat(p_message, p_data)) + 1000 else 0 end;
  v_logged bigint;
begin
  perform leasehold.require_worker(p_worker, p_key);
  if p_type not in ('progress', 'log') then
    raise exception 'a handler says progress or log, not %', quote_literal(p_type) using errcode = 'LH400';
  end if;
  update leasehold.lease set logged = logged + v_cost where token = p_token and worker_id = p_worker
  returning logged into v_logged;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
  if p_type = 'log' and v_logged > c_most then
    if v_logged - v_cost > c_most then
      return null;
    end if;
    p_message := 'more than 1000 log lines, or 1 MiB of them: the others are not stored';
    p_data := '{"level": "warning"}';
  end if;
  return leasehold.append_event(p_token, p_type, p_message, p_progress, p_data);
end
$$;
