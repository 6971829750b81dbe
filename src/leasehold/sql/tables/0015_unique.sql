-- Keys of which at most one job waits: see enqueue_unique. The row says which job was asked for last under its key.
create table leasehold.unique_job (
  tenant_id uuid not null,
  kind      text not null,
  key       text not null,
  job_id    uuid,                    -- null only within the transaction that makes it
  primary key (tenant_id, kind, key)
);
create index unique_job_by_job on leasehold.unique_job (job_id);

alter table leasehold.job add column unique_key text;
