-- The files that made this schema with their checksums, and its release: whether a database is up to date is no secret.
create or replace function leasehold.schema_files() returns table (files jsonb, release integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select jsonb_object_agg(name, checksum), max(release) from leasehold.migration $$;

revoke all on function leasehold.schema_files() from public;
grant execute on function leasehold.schema_files() to leasehold_api, leasehold_operator;
