-- The code of a program declares a schedule of the current tenant. Says what that did:
--   made     there was none
--   same     the code declares what it declared before; whatever people made of it stays
--   changed  the code declares something new, and nobody had edited the old
--   kept     the code declares something new, but people have edited or removed the schedule
--   taken    people made one of this name themselves
-- Writes nothing unless it is made or changed, and logs that.
-- for: worker
create or replace function leasehold.sync_schedule(p_name text, p_definition jsonb, p_next_at timestamptz) returns text
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_new    leasehold.schedule := leasehold.read_schedule(p_name, p_definition);
  v_says   jsonb := leasehold.schedule_definition(v_new);
  v_old    leasehold.schedule;
  v_said   text;
begin
  perform pg_advisory_xact_lock(7510, hashtext(v_tenant::text));
  select * into v_old from leasehold.schedule where tenant_id = v_tenant and name = p_name for no key update;
  v_said := case
    when v_old.schedule_id is null then 'made'
    when v_old.origin = 'api' then 'taken'
    when v_old.declared = v_says then 'same'
    when v_old.removed_at is not null or v_old.declared <> leasehold.schedule_definition(v_old) then 'kept'
    else 'changed'
  end;
  if v_said in ('made', 'changed') then
    perform leasehold.write_schedule(v_tenant, v_old, v_new, p_next_at, v_says);
    perform leasehold.log_action(
      v_tenant, 'schedule.sync', p_name, jsonb_build_object('said', v_said) || v_says - 'payload'
    );
  end if;
  return v_said;
end
$$;
