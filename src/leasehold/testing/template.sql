-- What a test database has and no other: the engine's clock can be moved, and what is left to do can be counted.
create schema leasehold_test authorization leasehold_owner;
set role leasehold_owner;

create table leasehold_test.clock (frozen_at timestamptz, shift interval not null);
insert into leasehold_test.clock values (null, '0');

create or replace function leasehold.now() returns timestamptz
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$ select coalesce(frozen_at, clock_timestamp()) + shift from leasehold_test.clock $$;

-- Stop the clock, at a moment or where it is.
create function leasehold_test.freeze(p_at timestamptz) returns timestamptz
language sql volatile security definer
as $$
  update leasehold_test.clock set frozen_at = coalesce(p_at, leasehold.now()), shift = '0';
  select leasehold.now();
$$;

-- By so much, or to a moment; a clock that runs goes on from there.
create function leasehold_test.move(p_by interval, p_to timestamptz) returns timestamptz
language sql volatile security definer
as $$
  update leasehold_test.clock
  set shift = case when p_to is null then shift + p_by else p_to - coalesce(frozen_at, clock_timestamp()) end;
  select leasehold.now();
$$;

create function leasehold_test.thaw() returns timestamptz
language sql volatile security definer
as $$
  update leasehold_test.clock set frozen_at = null, shift = '0';
  select leasehold.now();
$$;

-- What a worker could do now or is doing: queued, due and running jobs.
create function leasehold_test.to_do() returns table (job_id uuid, tenant_id uuid, kind text, queue text, state text)
language sql stable security definer
as $$
  select j.job_id, j.tenant_id, j.kind, j.queue, place.state
  from (
    select job_id, 'queued' as state from leasehold.ready
    union all select job_id, 'queued' from leasehold.parked
    union all select job_id, 'running' from leasehold.lease
    union all select job_id, 'due' from leasehold.deferred where run_at <= leasehold.now()
  ) place join leasehold.job j on j.job_id = place.job_id
$$;

grant usage on schema leasehold_test to leasehold_operator;
grant execute on all functions in schema leasehold_test to leasehold_operator;
reset role;
