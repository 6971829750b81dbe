-- What keeps a snapshot from being sealed: facts in error, and facts of documents whose time is
-- over.
-- for: api, worker
create or replace function pack.list_wrong_facts(p_snapshot uuid)
returns table (at text, message text)
language sql stable
as $$
  select coalesce(f.pointer, f.ref), coalesce(f.message, 'its document is not valid any more')
  from pack.snapshot_fact s
  join pack.fact f using (tenant_id, fact_id)
  left join pack.document_version v using (tenant_id, document_version_id)
  where s.snapshot_id = p_snapshot and (f.message is not null or v.valid_until <= now())
  order by f.fact_id
  limit 100
$$;
