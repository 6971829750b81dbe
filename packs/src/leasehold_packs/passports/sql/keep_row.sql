-- For tables whose rows never change: tiers, events, documents as they were received.
-- internal
create or replace function pack.keep_row() returns trigger
language plpgsql
as $$
begin
  perform pack.refuse(format('rows of %s are kept as they are', tg_table_name));
  return null;
end
$$;

create or replace trigger keep before update or delete on pack.tier for each row execute function pack.keep_row();

create or replace trigger keep before update or delete on pack.event for each row execute function pack.keep_row();

create or replace trigger keep before delete on pack.document_version for each row execute function pack.keep_row();

create or replace trigger keep before delete on pack.signing_key for each row execute function pack.keep_row();
