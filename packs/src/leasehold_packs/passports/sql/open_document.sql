-- The document of a passport by its name; null if it has another role. The lock orders uploads.
-- for: api, worker
create or replace function pack.open_document(
  p_tenant uuid, p_passport uuid, p_name text, p_role text, p_under text
) returns uuid
language sql
as $$
  insert into pack.document (tenant_id, passport_id, name, role, under)
  values (p_tenant, p_passport, p_name, p_role, p_under)
  on conflict (tenant_id, passport_id, name) do update set under = excluded.under
  where document.role = excluded.role
  returning document_id
$$;
