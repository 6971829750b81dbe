-- Whether a person is of the installation's staff from now on. Sessions lose it at once; those that began without it never
-- gain it. Logged.
-- for: operator
create or replace function leasehold.set_operator(p_person uuid, p_is_operator boolean) returns void
language plpgsql as $$
begin
  update leasehold.person set is_operator = p_is_operator where person_id = p_person;
  if not found then
    raise exception 'there is no person %', p_person using errcode = 'LH404';
  end if;
  perform leasehold.log_action(null, 'person.operator', p_person::text, jsonb_build_object('operator', p_is_operator));
end
$$;
