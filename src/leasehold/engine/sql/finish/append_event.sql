-- What a handler says, under its token. One statement fences, numbers and orders: the number is a counter in the lease.
-- for: worker
create or replace function leasehold.append_event(
  p_token bigint, p_type text, p_message text default null, p_progress real default null, p_data jsonb default null
) returns integer
language plpgsql
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
declare
  v_lease leasehold.lease;
begin
  update leasehold.lease set events = events + 1 where token = p_token returning * into v_lease;
  if not found then
    raise exception 'the lease with token % is gone', p_token using errcode = 'LH410';
  end if;
  insert into leasehold.event (job_id, seq, tenant_id, type, message, progress, data, at)
  values (
    v_lease.job_id, v_lease.events, v_lease.tenant_id, p_type, p_message,
    case when p_progress is not null then least(greatest(p_progress, 0), 100) end,  -- greatest() would pass over a null
    p_data, leasehold.now()
  );
  return v_lease.events;
end
$$;
