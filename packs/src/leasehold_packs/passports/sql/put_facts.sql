-- The facts of a version of a document take the place of those of earlier versions, and of others
-- at the same pointers. One with a message is in error.
-- for: worker
create or replace function pack.put_facts(p_version uuid, p_facts jsonb) returns void
language sql
as $$
  update pack.fact f set state = 'superseded'
  from pack.document_version v
  join pack.document d using (tenant_id, document_id)
  where v.document_version_id = p_version and f.passport_id = d.passport_id
    and f.state in ('ok', 'error')
    and (
      f.pointer in (select g.pointer from jsonb_populate_recordset(null::pack.fact, p_facts) g)
      or f.document_version_id in (
        select o.document_version_id from pack.document_version o
        where o.document_id = v.document_id
      )
    );
  insert into pack.fact
    (tenant_id, passport_id, pointer, type, text, unit, document_version_id, document, ref, state,
    message, author)
  select v.tenant_id, d.passport_id, g.pointer, g.type, g.text, g.unit, p_version, g.document,
    g.ref, case when g.message is null then 'ok' else 'error' end, g.message, v.author
  from pack.document_version v
  join pack.document d using (tenant_id, document_id)
  cross join jsonb_populate_recordset(null::pack.fact, p_facts) g
  where v.document_version_id = p_version;
$$;
