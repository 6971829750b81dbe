-- Replace the settings of a person. Logged, without the settings.
-- for: api
create or replace function leasehold.put_person_settings(p_person uuid, p_settings jsonb) returns void
language plpgsql as $$
begin
  update leasehold.person set settings = p_settings where person_id = p_person;
  if not found then
    raise exception 'there is no person %', p_person using errcode = 'LH404';
  end if;
  perform leasehold.log_action(null, 'person.settings', p_person::text);
exception when check_violation then
  raise exception 'settings are an object of at most 64 KiB' using errcode = 'LH413';
end
$$;
