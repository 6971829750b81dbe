-- "pack." is this pack's own schema: leasehold_notes. Row security, policies and grants are added by the migration.
create table pack.note (
  tenant_id uuid not null,
  note_id   bigint generated always as identity,
  text      text not null,
  public    boolean not null,
  job_id    uuid not null,          -- the job that wrote it; packs never join the engine's tables
  primary key (tenant_id, note_id)
);
