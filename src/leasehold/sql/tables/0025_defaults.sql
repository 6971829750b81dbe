-- Five workers of default size, which have become larger: see 0018_defaults.
alter table leasehold.tenant alter column max_running set default 1500;
