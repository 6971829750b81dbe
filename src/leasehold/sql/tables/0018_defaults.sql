-- A tenant may run as many as five workers of default size. Below the number of all slots every claim has to count what its
-- tenants run, one claim after the other: a hundred made two workers wait for each other, for a limit nobody had asked for.
alter table leasehold.tenant alter column max_running set default 1000;
