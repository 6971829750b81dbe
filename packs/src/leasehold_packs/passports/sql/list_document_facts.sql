-- All that was read from a version of a document, whatever became of it since.
-- for: api, worker
create or replace function pack.list_document_facts(p_version uuid, p_after bigint, p_limit integer)
returns table (
  fact_id bigint, pointer text, type text, text text, unit text, document text, ref text,
  state text, message text, author text, supersedes bigint, created_at timestamptz
)
language sql stable
as $$
  select f.fact_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref, f.state, f.message,
    f.author, f.supersedes, f.created_at
  from pack.fact f
  where f.document_version_id = p_version and f.fact_id > p_after
  order by f.fact_id
  limit p_limit
$$;
