-- Enqueue one job for each payload, all of one kind and with the same options, in the caller's transaction. Every way to
-- enqueue ends here. Returns three arrays in the order of the payloads: the jobs, their states, and whether each is new.
--
-- Options: those of the caller, else those of the kind, else the defaults of options.csv. p_tenants names the tenant of all
-- jobs or of each; null: the tenant of the transaction. Logins that may call this may be any tenant, see current_tenant.
--
-- Keys make a job idempotent: the same key of the same tenant and kind within its window is the same job, returned with
-- created = false and no write; with another payload it is a conflict (LH409). A call without keys, without the option
-- unique and with payloads that fit into their rows waits for no other transaction.
-- for: api, worker
create or replace function leasehold.enqueue(
  p_kind text, p_payloads jsonb[], p_options jsonb default '{}', p_keys text[] default null,
  p_tenants uuid[] default null, out job_ids uuid[], out states text[], out created boolean[]
)
language plpgsql as $$
declare
  v_options jsonb := coalesce(p_options, '{}');
  v_wrong   text;
  v_made    record;
begin
  if p_tenants is null then
    p_tenants := array[leasehold.current_tenant()];
  end if;
  v_wrong := leasehold.check_enqueue(p_tenants, p_payloads, p_keys);
  if v_wrong is not null then
    raise exception '%', v_wrong using errcode = 'LH400';
  end if;
  if v_options <> '{}' then
    v_options := leasehold.given_options(v_options);
    perform leasehold.check_options(v_options);
  end if;
  v_options := leasehold.options_of(p_kind, v_options);
  if v_options ? 'unique' then
    v_made := leasehold.insert_unique_jobs(p_tenants, p_kind, p_payloads, v_options, p_keys);
  else
    v_made := leasehold.insert_jobs(p_tenants, p_kind, p_payloads, v_options, p_keys);
  end if;
  job_ids := v_made.job_ids;
  states := v_made.states;
  created := v_made.created;
end
$$;
