-- Write an event of a tenant, its deliveries and their jobs.
-- internal
create or replace function leasehold.put_event(
  p_tenant uuid, p_type text, p_subject_type text, p_subject_id text, p_data jsonb
) returns uuid
language plpgsql as $$
declare
  v_event uuid := leasehold.new_id(leasehold.micros(leasehold.now()));
begin
  insert into leasehold.webhook_event (event_id, tenant_id, type, subject_type, subject_id, occurred_at, data)
  values (v_event, p_tenant, p_type, p_subject_type, p_subject_id, leasehold.now(), p_data);
  perform leasehold.send_deliveries(leasehold.insert_deliveries(array[v_event]));
  return v_event;
end
$$;
