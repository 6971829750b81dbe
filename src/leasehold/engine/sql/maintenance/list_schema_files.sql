-- The files that made this schema with their checksums, and its release: whether a database is up to date is no secret.
-- for: api, operator
create or replace function leasehold.list_schema_files() returns table (files jsonb, release integer)
language sql stable as $$ select jsonb_object_agg(name, checksum), max(release) from leasehold.migration $$;
