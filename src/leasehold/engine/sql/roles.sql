-- Roles belong to the cluster, not to a database: migrate runs this under a lock in one fixed database.
--   owner     owns everything, runs the functions, cannot log in
--   api       asks for one tenant at a time (enqueue, get, list)
--   worker    runs attempts for every tenant (claim, finish, beat)
--   operator  reads all tenants, runs the installation
--   readonly  reads one tenant at a time, of those that the operator lets its login read
-- Whoever runs this may then take all but the owner's role, which is how a program with one URL connects.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['leasehold_owner', 'leasehold_api', 'leasehold_worker', 'leasehold_operator', 'leasehold_readonly'] loop
    begin
      if not exists (select from pg_roles where rolname = v_role) then
        execute format('create role %I nologin nobypassrls', v_role);
      end if;
    exception when duplicate_object or unique_violation then
      null;  -- another database of this cluster is being migrated at the same moment
    end;
  end loop;
  -- So that `leasehold doctor` can name a session that keeps dead rows alive. Where it may not be granted, it says so.
  begin
    grant pg_read_all_stats to leasehold_owner;
  exception when insufficient_privilege then
    null;
  end;
  foreach v_role in array array['leasehold_api', 'leasehold_worker', 'leasehold_operator', 'leasehold_readonly'] loop
    continue when (select rolsuper from pg_roles where rolname = current_user);
    if current_setting('server_version_num')::integer >= 160000 then
      execute format('grant %I to current_user with inherit false, set true', v_role);
    else
      execute format('grant %I to current_user', v_role);
    end if;
  end loop;
end
$$;
