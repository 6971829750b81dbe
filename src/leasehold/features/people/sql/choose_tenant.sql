-- The tenant, by name or id, in which a session acts from now on: one of its person's, any for the operator. Null is the
-- installation, for the operator only. Logged, where a tenant can see who came in.
-- for: api
create or replace function leasehold.choose_tenant(p_session_id text, p_tenant text) returns uuid
language plpgsql as $$
declare
  v_session record;
  v_tenant  uuid;
begin
  select s.person_id, s.is_operator and (s.person_id is null or p.is_operator) as is_operator into v_session
  from leasehold.session s left join leasehold.person p on p.person_id = s.person_id
  where s.session_id = p_session_id
  for update of s;
  select t.tenant_id into v_tenant from leasehold.tenant t
  where (t.name = p_tenant or t.tenant_id::text = lower(p_tenant)) and (
    v_session.is_operator
    or exists (select from leasehold.membership m where m.tenant_id = t.tenant_id and m.person_id = v_session.person_id)
  );
  if v_tenant is null and not (p_tenant is null and coalesce(v_session.is_operator, false)) then
    raise exception 'there is no tenant % for this person', coalesce(quote_literal(p_tenant), '')
      using errcode = 'LH404', hint = 'the tenants of a person: GET /v1/me';
  end if;
  update leasehold.session set tenant_id = v_tenant where session_id = p_session_id;
  perform leasehold.log_action(v_tenant, 'session.tenant', p_session_id);
  return v_tenant;
end
$$;
