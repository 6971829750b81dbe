"""Many jobs that have ended, put into the tables at once: to claim and end each of them would take minutes."""

from uuid import UUID

from tests.cell import Cell

_DEAD = """
with made as (select unnest(leasehold.new_ids(leasehold.now() - interval '1 hour', {n})) as job_id),
jobs as (
  insert into leasehold.job (
    job_id, tenant_id, kind, queue, priority, payload, created_at, run_at, max_attempts, retry_base_s, retry_cap_s,
    timeout_s, version, tags
  )
  select
    job_id, '{tenant}', '{kind}', '{queue}', 2, '{{}}', leasehold.now(), leasehold.now(), 1, 1, 3600, 600, 1, array['x']
  from made
)
insert into leasehold.outcome (job_id, tenant_id, state, finished_at, error, seq)
select job_id, '{tenant}', 'dead', leasehold.now(), '{{"type": "Boom", "message": "order 4711 failed"}}', 3 from made
"""


async def put_dead(cell: Cell, tenant: UUID, n: int, kind: str = "t.work", queue: str = "default") -> None:
    """Dead jobs with the tag x."""
    await cell.change(_DEAD.format(tenant=tenant, n=n, kind=kind, queue=queue))


async def count(cell: Cell, kind: str, state: str | None) -> int:
    """Jobs of the kind, of all tenants, that ended as this; None: that have not ended."""
    ended = "o.state is null" if state is None else f"o.state = '{state}'"
    query = f"from leasehold.job j left join leasehold.outcome o using (job_id) where j.kind = '{kind}' and {ended}"
    [found] = await cell.look(f"select count(*) as n {query}")
    return int(found["n"])
