-- All versions of all documents of a passport; or one version.
-- for: api, worker
create or replace function pack.list_documents(p_passport uuid, p_version uuid)
returns table (
  document_version_id uuid, document_id uuid, passport_id uuid, name text, role text, under text,
  number integer, sha256 text, media_type text, schema_id uuid, state text, encoding text,
  facts integer, errors integer, problem jsonb, valid_until timestamptz, expired_at timestamptz,
  author text, received_at timestamptz
)
language sql stable
as $$
  select v.document_version_id, v.document_id, d.passport_id, d.name, d.role, d.under, v.number,
    v.sha256, v.media_type, v.schema_id, v.state, v.encoding, v.facts, v.errors, v.problem,
    v.valid_until, v.expired_at, v.author, v.received_at
  from pack.document_version v
  join pack.document d using (tenant_id, document_id)
  where d.passport_id = p_passport or v.document_version_id = p_version
  order by d.name, v.number
  limit 1000
$$;
