-- Receipts of versions, and the fields of their tiers: version_id, tier and fields each.
-- for: worker
create or replace function pack.put_compiled(
  p_tenant uuid, p_versions uuid[], p_receipts bytea[], p_hashes text[], p_tiers jsonb
) returns void
language sql
as $$
  update pack.version v set state = 'compiled', receipt = g.receipt, receipt_hash = g.hash
  from unnest(p_versions, p_receipts, p_hashes) g(version, receipt, hash)
  where v.version_id = g.version;
  insert into pack.tier (tenant_id, version_id, tier, fields)
  select p_tenant, version_id, tier, fields from jsonb_populate_recordset(null::pack.tier, p_tiers);
$$;
