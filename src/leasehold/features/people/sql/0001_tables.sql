-- People who sign in, what they may do where, and the sessions they have. Private to the functions.

-- A person whom an issuer has identified. The key is the issuer's own name for them, because an
-- address may change hands.
create table leasehold.person (
  person_id    uuid primary key,
  issuer       text not null check (length(issuer) between 1 and 500),
  subject      text not null check (length(subject) between 1 and 255),
  email        text not null check (length(email) between 3 and 320),
  name         text not null check (length(name) <= 200),
  settings     jsonb not null
    check (jsonb_typeof(settings) = 'object' and pg_column_size(settings) <= 65536),
  is_operator  boolean not null default false,  -- of the installation's staff
  created_at   timestamptz not null,
  signed_in_at timestamptz not null,
  unique (issuer, subject)
);

create table leasehold.membership (
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  person_id  uuid not null references leasehold.person on delete cascade,
  role       text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null,
  primary key (tenant_id, person_id)
);
create index membership_by_person on leasehold.membership (person_id);

-- A person who signs in with this address, verified by the issuer, joins the tenant; without a
-- tenant, the staff of the installation.
create table leasehold.invitation (
  invitation_id uuid primary key,
  tenant_id     uuid references leasehold.tenant on delete cascade,
  email         text not null check (email = lower(email) and length(email) between 3 and 320),
  role          text not null check (role in ('owner', 'admin', 'member', 'viewer', 'operator')),
  invited_by    text not null,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  check ((tenant_id is null) = (role = 'operator')),
  unique nulls not distinct (tenant_id, email)
);
create index invitation_by_email on leasehold.invitation (email);

-- A browser that is signed in, or a program that renews its tokens. As of an API key, only the HMAC
-- is here. Without a person it came from a login link, and is the operator's.
create table leasehold.session (
  session_id  text primary key check (session_id ~ '^[0-9A-Za-z]{22}$'),
  kind        text not null check (kind in ('browser', 'refresh')),
  person_id   uuid references leasehold.person on delete cascade,
  tenant_id   uuid references leasehold.tenant on delete set null,  -- the one that was chosen
  is_operator boolean not null,  -- signed in as operator; the person must still be one
  digest      bytea not null check (length(digest) = 32),
  spent       bytea[] not null default '{}',  -- digests before the last renewals
  pepper_id   text not null,
  created_at  timestamptz not null,
  seen_at     timestamptz not null,  -- exact to a minute
  expires_at  timestamptz not null,
  revoked_at  timestamptz,
  check (person_id is not null or is_operator)
);
create index session_by_person on leasehold.session (person_id);
create index session_by_time on leasehold.session (expires_at);

-- A link that signs the operator in, once.
create table leasehold.login_link (
  digest     bytea primary key check (length(digest) = 32),
  tenant_id  uuid references leasehold.tenant on delete cascade,  -- where its session begins
  created_by text not null,
  expires_at timestamptz not null
);

-- A program of a person has no API key: its tickets for streams belong to its session.
create table leasehold.session_ticket (
  digest     bytea primary key,
  tenant_id  uuid not null references leasehold.tenant on delete cascade,
  job_id     uuid,                   -- as in the tickets of keys
  flow_id    uuid,
  session_id text not null references leasehold.session on delete cascade,
  expires_at timestamptz not null,
  check (num_nonnulls(job_id, flow_id) <= 1)
);
create index session_ticket_by_time on leasehold.session_ticket (expires_at);

insert into leasehold.quota (what, most) values ('invitations', 1000);

create type leasehold.person_view as (
  person_id uuid, issuer text, subject text, email text, name text, settings jsonb,
  is_operator boolean, created_at timestamptz, signed_in_at timestamptz
);
create type leasehold.invitation_view as (
  invitation_id uuid, tenant_id uuid, email text, role text, invited_by text,
  created_at timestamptz, expires_at timestamptz
);
