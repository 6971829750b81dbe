-- A document stays as it was received; only what was read of it is added.
-- internal
create or replace function pack.keep_document_version() returns trigger
language plpgsql
as $$
begin
  if (new.document_id, new.number, new.sha256, new.media_type, new.author, new.received_at) is distinct from
     (old.document_id, old.number, old.sha256, old.media_type, old.author, old.received_at)
     or new.bytes <> old.bytes then
    perform pack.refuse(format('version %s of a document is kept as it is', old.number));
  end if;
  return new;
end
$$;

create or replace trigger keep_bytes before update on pack.document_version for each row execute function pack.keep_document_version();
