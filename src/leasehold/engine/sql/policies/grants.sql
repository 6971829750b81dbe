-- Who may read what. Writing is never granted: it happens inside the functions.
--
-- Row security is enabled, not forced: the owner runs the functions and cannot log in; everybody who can log in is
-- under the policy. Grants go to the parents only: a partition named directly would skip its parent's policy.
--
-- Policies that are there are left alone: to make them anew would shut everybody out for a moment. Whoever changes a
-- policy drops the old one in a file of tables.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['tenant', 'job', 'attempt_row', 'outcome', 'event', 'body', 'audit', 'stat', 'schedule', 'tick', 'flow', 'step'] loop
    continue when to_regclass(format('leasehold.%I', v_table)) is null;  -- its feature is not here
    execute format('grant select on leasehold.%I to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly', v_table);
    -- Readers are let in one by one, and asked for once a query.
    if not exists (select from pg_policy where polrelid = format('leasehold.%I', v_table)::regclass and polname = 'read_rows') then
      execute format(
        'create policy read_rows on leasehold.%I for select to leasehold_readonly
           using (tenant_id = (select leasehold.read_tenant()))', v_table);
    end if;
    if exists (select from pg_policy where polrelid = format('leasehold.%I', v_table)::regclass and polname = 'own_rows') then
      continue;
    end if;
    execute format('alter table leasehold.%I enable row level security', v_table);
    execute format(
      'create policy own_rows on leasehold.%I for all to leasehold_api, leasehold_worker
         using (tenant_id = nullif(current_setting(''leasehold.tenant'', true), '''')::uuid)
         with check (tenant_id = nullif(current_setting(''leasehold.tenant'', true), '''')::uuid)', v_table);
    execute format('create policy all_rows on leasehold.%I for select to leasehold_operator using (true)', v_table);
  end loop;
end
$$;

grant select on leasehold.attempt to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;

-- Whether a database is up to date is no secret.
grant select on leasehold.migration to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
