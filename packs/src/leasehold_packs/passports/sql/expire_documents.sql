-- Documents whose time is over, each once. One that a newer version follows is left out.
-- for: worker
create or replace function pack.expire_documents(p_limit integer)
returns table (document_version_id uuid, passport_id uuid, name text, valid_until timestamptz)
language sql
as $$
  update pack.document_version v set expired_at = now()
  from pack.document d
  where d.document_id = v.document_id and v.document_version_id in (
    select o.document_version_id from pack.document_version o
    where o.valid_until <= now() and o.expired_at is null and not exists (
      select from pack.document_version n
      where n.document_id = o.document_id and n.number > o.number
    )
    order by o.valid_until
    limit p_limit
    for update
  )
  returning v.document_version_id, d.passport_id, d.name, v.valid_until
$$;
