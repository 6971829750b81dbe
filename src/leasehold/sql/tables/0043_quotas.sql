-- How many of a thing a tenant may have: the usual number, and in tenant.quotas the one that a tenant has instead. Packs add
-- rows for things of their own.
create table leasehold.quota (
  what text primary key check (what ~ '^[a-z_]+(\.[a-z_]+)?$'),
  most integer not null check (most >= 0)
);
insert into leasehold.quota (what, most) values
  ('endpoints', 100), ('schedules', 1000), ('gates', 1000), ('secrets', 1000), ('keys', 100), ('invitations', 1000);

alter table leasehold.tenant add column quotas jsonb not null default '{}' check (jsonb_typeof(quotas) = 'object');
