-- The next version of a document. The same bytes again are the same version (is_new is false).
-- for: api, worker
create or replace function pack.add_document_version(
  p_tenant uuid, p_document uuid, p_sha256 text, p_media_type text, p_bytes bytea, p_schema uuid,
  p_author text, p_valid_until timestamptz
) returns table (document_version_id uuid, is_new boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
  return query
    select v.document_version_id, false from pack.document_version v
    where v.document_id = p_document and v.sha256 = p_sha256;
  if not found then
    return query
      insert into pack.document_version
        (tenant_id, document_id, number, sha256, media_type, bytes, schema_id, author, valid_until)
      select p_tenant, p_document, coalesce(max(v.number), 0) + 1, p_sha256, p_media_type, p_bytes,
        p_schema, p_author, p_valid_until
      from pack.document_version v
      where v.document_id = p_document
      returning document_version_id, true;
  end if;
end
$$;
