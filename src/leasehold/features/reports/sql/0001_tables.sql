-- What report.generate made: where its bytes are, and until when. Its id is that of its job.
-- Private to the functions.
create table leasehold.report (
  report_id  uuid primary key,
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  name       text not null,          -- activity, jobs, attempts, deliveries; data: handed in
  title      text not null check (length(title) between 1 and 200),
  format     text not null,
  media_type text not null,
  sha256     bytea not null,
  size       bigint not null,
  lines      bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index report_by_tenant on leasehold.report (tenant_id, report_id);
create index report_by_end on leasehold.report (expires_at);

-- A line of a report, and where the next page goes on.
create type leasehold.report_line as (last uuid, line jsonb);
