-- Many batteries of one model, from the lines of a sheet.
-- for: api, worker
create or replace function pack.add_bulk(
  p_tenant uuid, p_model uuid, p_document_version uuid, p_base uuid, p_package uuid, p_key text,
  p_issued_at timestamptz, p_activate boolean, p_author text
) returns uuid
language sql
as $$
  insert into pack.bulk
    (tenant_id, model_id, document_version_id, base_id, package_id, key_id, issued_at, activate,
    author)
  values (p_tenant, p_model, p_document_version, p_base, p_package, p_key, p_issued_at, p_activate,
    p_author)
  returning bulk_id
$$;
