-- The current facts of a passport, not sealed yet. Facts of the model are part of it, one by one.
-- for: api, worker
create or replace function pack.open_snapshot(p_tenant uuid, p_passport uuid, p_author text)
returns uuid
language plpgsql
as $$
declare
  v_snapshot uuid := gen_random_uuid();
begin
  insert into pack.snapshot (tenant_id, snapshot_id, passport_id, author)
  values (p_tenant, v_snapshot, p_passport, p_author);
  insert into pack.snapshot_fact (tenant_id, snapshot_id, fact_id)
  select p_tenant, v_snapshot, f.fact_id from pack.current_facts(p_passport) f;
  return v_snapshot;
end
$$;
