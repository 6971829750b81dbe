-- Tell the endpoints of the current tenant that something happened, if and when this transaction commits; returns the
-- event's id, which receivers see too. One delivery and one job for each endpoint that wants it.
-- for: api, worker
create or replace function leasehold.emit_event(p_type text, p_subject_type text, p_subject_id text, p_data jsonb) returns uuid
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if p_type is null or p_type !~ '^[a-z0-9_]+(\.[a-z0-9_]+)+$' or length(p_type) > 100 then
    raise exception '% is no type of event', quote_nullable(p_type) using errcode = 'LH400', hint = 'such as order.paid';
  end if;
  if split_part(p_type, '.', 1) in ('job', 'endpoint') then
    raise exception 'events of type % are ours', p_type using errcode = 'LH400', hint = 'begin it with a word of your own';
  end if;
  if coalesce(length(p_subject_type), 0) not between 1 and 100 or coalesce(length(p_subject_id), 0) not between 1 and 255 then
    raise exception 'the subject of an event has a type of 1 to 100 characters and an id of 1 to 255' using errcode = 'LH400';
  end if;
  if p_data is null or pg_column_size(p_data) > 262144 then
    raise exception 'the data of an event is JSON of at most 256 kB' using errcode = 'LH413', hint = 'send a reference';
  end if;
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  return leasehold.put_event(v_tenant, p_type, p_subject_type, p_subject_id, p_data);
end
$$;
