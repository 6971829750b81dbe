-- The quarters of the SimHashes of these postings, in the place of those before.
-- for: worker
create or replace function pack.write_bands(
  p_tenant uuid, p_company uuid, p_postings uuid[], p_bands jsonb
) returns void
language sql
as $$
  delete from pack.band where posting_id = any(p_postings);
  insert into pack.band (tenant_id, company_id, band, value, posting_id)
  select p_tenant, p_company, band, value, posting_id
  from jsonb_populate_recordset(null::pack.band, p_bands);
$$;
