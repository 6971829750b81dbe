-- A sealed snapshot for each battery: the facts of its model (the base), and its own. An item has
-- passport_id, snapshot_id, hash and facts.
-- for: worker
create or replace function pack.seal_batteries(
  p_tenant uuid, p_base uuid, p_author text, p_items jsonb
) returns void
language plpgsql
as $$
begin
  insert into pack.snapshot (tenant_id, snapshot_id, passport_id, base_id, author)
  select p_tenant, i.snapshot_id, i.passport_id, p_base, p_author
  from jsonb_to_recordset(p_items) i (passport_id uuid, snapshot_id uuid);
  with item as (
    select * from jsonb_to_recordset(p_items) i (passport_id uuid, snapshot_id uuid, facts jsonb)
  ), made as (
    insert into pack.fact (tenant_id, passport_id, pointer, type, text, unit, document, ref, state,
      author)
    select p_tenant, i.passport_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref, 'ok',
      p_author
    from item i
    cross join jsonb_populate_recordset(null::pack.fact, i.facts) f
    returning fact_id, passport_id
  )
  insert into pack.snapshot_fact (tenant_id, snapshot_id, fact_id)
  select p_tenant, i.snapshot_id, m.fact_id from made m
  join item i using (passport_id);
  update pack.snapshot s set state = 'sealed', hash = i.hash, sealed_at = now()
  from jsonb_to_recordset(p_items) i (snapshot_id uuid, hash text)
  where s.snapshot_id = i.snapshot_id;
end
$$;
