-- A tenant of a person's own, named after their address, with them as its owner. Logged.
-- internal
create or replace function leasehold.create_personal_tenant(p_person uuid, p_email text) returns uuid
language plpgsql as $$
declare
  v_word   text := left(trim(both '-' from regexp_replace(lower(split_part(p_email, '@', 1)), '[^a-z0-9]+', '-', 'g')), 40);
  v_tenant uuid;
begin
  -- With dice, so that it is a new one: create_tenant would open one that is there.
  v_tenant := leasehold.create_tenant(concat_ws('-', nullif(v_word, ''), right(gen_random_uuid()::text, 12)));
  insert into leasehold.membership (tenant_id, person_id, role, created_at) values (v_tenant, p_person, 'owner', leasehold.now());
  perform leasehold.log_action(v_tenant, 'member.join', p_person::text, jsonb_build_object('email', p_email, 'role', 'owner'));
  return v_tenant;
end
$$;
