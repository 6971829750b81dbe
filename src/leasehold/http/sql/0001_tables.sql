-- The answer to a request with an Idempotency-Key, committed together with what the request did.
-- Private to the functions.
create table leasehold.request (
  tenant_id   uuid not null references leasehold.tenant on delete cascade,
  key         text not null check (length(key) between 1 and 255),
  fingerprint bytea not null,
  status      smallint,              -- null only inside the transaction that answers
  headers     jsonb,
  answer      text,
  expires_at  timestamptz not null,
  primary key (tenant_id, key)
);
create index request_by_time on leasehold.request (expires_at);
