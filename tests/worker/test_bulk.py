"""``jobs.act``: one action on every job that fits a filter, done by a job."""

from uuid import UUID

import pytest

from leasehold.client import Backend, Client
from leasehold.connectors import jobs_act
from leasehold.engine import jobs, watch
from leasehold.engine.database import Database, Role
from leasehold.errors import BadInput, NotFound
from leasehold.job import State
from leasehold.settings import Settings
from tests.cell import Cell
from tests.sql.test_life import end, enqueue, register
from tests.worker.running import Shop, running


@pytest.fixture
def client(cell: Cell, worker_db: Database) -> Client:
    return Client(Backend(Settings(), worker_db), cell.tenant_a)


async def ended(db: Database, tenant: UUID, outcome: str, n: int = 1, **options: object) -> list[UUID]:
    """Jobs that have ended like this."""
    made = await enqueue(db, tenant, n, max_attempts=1, **options)
    worker = await register(db, slots=n)
    grants = await jobs.claim(db, worker, [str(options.get("queue", "default"))], n)
    assert {grant.job_id for grant in grants} == set(made)
    for grant in grants:
        assert await end(db, grant, outcome)
    return made


async def states(db: Database, tenant: UUID, made: list[UUID]) -> set[State]:
    return {(await jobs.get_job(db, tenant, job_id)).state for job_id in made}


async def test_all_that_fit_are_retried_and_the_others_left(
    cell: Cell, shop: Shop, client: Client, worker_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_act, "PIECE", 10)
    dead = await ended(worker_db, cell.tenant_a, "errored", 25, tags=["x"])
    other = await ended(worker_db, cell.tenant_a, "errored", 2, tags=["y"])
    good = await ended(worker_db, cell.tenant_a, "succeeded", 2, tags=["x"])
    foreign = await ended(worker_db, cell.tenant_b, "errored", 2, tags=["x"])
    assert await client.count_to_act("retry", tag="x") == 25
    made = await client.act_on_jobs("retry", tag="x")
    await worker_db.call("create_queue", "aside")
    later = await ended(worker_db, cell.tenant_a, "errored", 1, tags=["x"], queue="aside")
    async with running(cell, jobs_act.app):
        job = await shop.ended(made.job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, {"done": 25})
    assert [event.message for event in await shop.events(made.job_id, "progress")] == ["10 jobs", "20 jobs", "25 jobs"]
    assert await states(worker_db, cell.tenant_a, dead) <= {State.SCHEDULED, State.QUEUED}
    assert await states(worker_db, cell.tenant_a, other + later) == {State.DEAD}
    assert await states(worker_db, cell.tenant_a, good) == {State.SUCCEEDED}
    assert await states(worker_db, cell.tenant_b, foreign) == {State.DEAD}


async def test_an_action_that_is_begun_again_does_not_retry_what_has_died_once_more(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    [dead] = await ended(worker_db, cell.tenant_a, "errored")
    by = (await client.act_on_jobs("retry", kind="t.work")).job_id

    async def act() -> int:
        done, rest = await jobs.act_on_jobs(
            worker_db, cell.tenant_a, by, "retry", {"kind": "t.work"}, before=None, limit=100, reason=None
        )
        assert rest is None
        return done

    assert await act() == 1
    await client.cancel(dead)
    assert await act() == 0, "it ended after the action was asked for"
    assert await states(worker_db, cell.tenant_a, [dead]) == {State.CANCELED}


async def test_waiting_jobs_are_canceled_and_running_ones_asked_to_stop(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    waiting = await enqueue(worker_db, cell.tenant_a, 3, delay_s=3600)
    grouped = await enqueue(worker_db, cell.tenant_a, 2, group="g")
    made = await client.act_on_jobs("cancel", kind="t.work", reason="withdrawn")
    async with running(cell, jobs_act.app):
        assert (await shop.ended(made.job_id)).result == {"done": 5}
    assert await states(worker_db, cell.tenant_a, waiting + grouped) == {State.CANCELED}
    error = (await shop.get(waiting[0])).error
    assert error is not None
    assert error["message"] == "withdrawn"


async def test_deleted_jobs_leave_nothing_and_their_keys_are_free(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    [old] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"secret": 1}'], {}, keys=["k"])
    [grant] = await jobs.claim(worker_db, await register(worker_db), ["default"], 1)
    await jobs.append_event(worker_db, grant.token, "log", message="said")
    await end(worker_db, grant)
    [waiting] = await enqueue(worker_db, cell.tenant_a, delay_s=3600)
    made = await client.act_on_jobs("delete", kind="t.work")
    async with running(cell, jobs_act.app):
        assert (await shop.ended(made.job_id)).result == {"done": 1}
    with pytest.raises(NotFound):
        await shop.get(old.job_id)
    for table in ("job", "attempt", "outcome", "event", "idempotency"):
        assert await cell.look(f"select 1 from leasehold.{table} where job_id = '{old.job_id}'") == []
    assert (await shop.get(waiting)).state is State.SCHEDULED, "only what has ended is deleted"
    [again] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"secret": 2}'], {}, keys=["k"])
    assert again.created


async def test_the_audit_log_names_the_job_that_did_it(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    [dead] = await ended(worker_db, cell.tenant_a, "errored")
    made = await client.act_on_jobs("delete", state="dead")
    async with running(cell, jobs_act.app):
        await shop.ended(made.job_id)
    async with cell.database(Role.OPERATOR, connections=1) as operator:
        lines = await watch.list_audit(operator, None, before=None, limit=10)
    assert ("job.delete", str(dead), f"job {made.job_id}") in [(line.action, line.target, line.actor) for line in lines]


@pytest.mark.parametrize(
    ("action", "filters", "words"),
    [
        ("explode", {"kind": "t.work"}, "no action"),
        ("retry", {}, "needs a filter"),
        ("retry", {"kin": "x"}, "no filter"),
    ],
)
async def test_an_order_that_makes_no_sense_is_refused_at_once(
    client: Client, action: str, filters: dict[str, str], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        await client.act_on_jobs(action, **filters)


async def test_a_state_that_the_action_does_not_apply_to_finds_nothing(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await ended(worker_db, cell.tenant_a, "succeeded")
    assert await client.count_to_act("retry", state="succeeded") == 0
    assert await client.count_to_act("cancel", state="succeeded") == 0
    assert await client.count_to_act("delete", state="succeeded") == 1
