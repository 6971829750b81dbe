-- Who acts: as the application says (setting leasehold.actor), else the database login.
create or replace function leasehold.actor() returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$ select coalesce(nullif(current_setting('leasehold.actor', true), ''), session_user) $$;

revoke all on function leasehold.actor() from public;
