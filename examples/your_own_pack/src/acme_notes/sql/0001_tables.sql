-- "pack." is this pack's own schema: leasehold_notes. Row security, policies and grants are added by the migration.
create table pack.note (
  tenant_id uuid not null,
  note_id   bigint generated always as identity,
  text      text not null,
  public    boolean not null,
  job_id    uuid not null,          -- the job that wrote it; packs never join the engine's tables
  primary key (tenant_id, note_id)
);

-- What strangers may see. It is above row security, so it says itself which rows these are.
create function pack.published(p_job_id uuid) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$ select text from pack.note where job_id = p_job_id and public $$;

grant execute on function pack.published(uuid) to leasehold_api;
