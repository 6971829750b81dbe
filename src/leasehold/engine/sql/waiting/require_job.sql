-- A job of the current tenant; LH404 for one that is another's or never was.
-- internal
create or replace function leasehold.require_job(p_job uuid) returns leasehold.job
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_job    leasehold.job;
begin
  select * into v_job from leasehold.job where job_id = p_job and tenant_id = v_tenant;
  if not found then
    raise exception 'there is no job %', p_job using errcode = 'LH404', hint = 'leasehold jobs list';
  end if;
  return v_job;
end
$$;
