-- Write the current tenant's audit log, for packs: what somebody did to rows of theirs, called <pack>.<verb>.
-- for: api, worker
create or replace function leasehold.log_own_action(p_action text, p_target text, p_detail jsonb default null) returns void
language plpgsql as $$
declare
  v_tenant uuid := leasehold.current_tenant();
begin
  if not exists (select from leasehold.tenant where tenant_id = v_tenant) then
    raise exception 'there is no tenant %', v_tenant using errcode = 'LH404';
  end if;
  if p_action !~ '^[a-z][a-z0-9_]{0,19}\.[a-z][a-z0-9_]{0,39}$' then
    raise exception 'an action is called <pack>.<verb>' using errcode = 'LH400', hint = 'postings.abort';
  end if;
  perform leasehold.log_action(v_tenant, p_action, left(p_target, 200), p_detail);
end
$$;
