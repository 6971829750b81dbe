"""``jobs.act``: one action on every job that fits a filter, done by a job."""

from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, maintenance
from leasehold.engine.audit import list_audit
from leasehold.errors import BadInput, NotFound
from leasehold.features.flows.model import chain, step
from leasehold.features.jobs import handlers as jobs_act
from leasehold.features.jobs import store_bulk
from leasehold.job import State
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cell
from tests.engine.test_life import end, enqueue, register
from tests.worker.bulk import put_dead
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


async def test_all_that_were_selected_are_retried_and_the_others_left(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    dead = await ended(worker_db, cell.tenant_a, "errored", 25, tags=["x"])
    other = await ended(worker_db, cell.tenant_a, "errored", 2, tags=["y"])
    good = await ended(worker_db, cell.tenant_a, "succeeded", 2, tags=["x"])
    foreign = await ended(worker_db, cell.tenant_b, "errored", 2, tags=["x"])
    assert await client.count_to_act("retry", tag="x") == 25
    selection = await client.select_jobs("retry", tag="x")
    assert (selection.count, selection.filter) == (25, {"tag": "x"})
    await worker_db.call("create_queue", "aside")
    later = await ended(worker_db, cell.tenant_a, "errored", 1, tags=["x"], queue="aside")
    made = await client.act_on(selection)
    async with running(cell, jobs_act.app):
        job = await shop.ended(made.job_id)
    assert (job.state, job.result) == (State.SUCCEEDED, {"selected": 25, "done": 25, "changed": 0})
    assert job.payload == {
        "action": "retry", "filter": {"tag": "x"}, "reason": None,
        "selection": str(selection.selection_id), "count": 25,
    }  # fmt: skip
    assert await states(worker_db, cell.tenant_a, dead) <= {State.SCHEDULED, State.QUEUED}
    assert await states(worker_db, cell.tenant_a, other + later) == {State.DEAD}
    assert await states(worker_db, cell.tenant_a, good) == {State.SUCCEEDED}
    assert await states(worker_db, cell.tenant_b, foreign) == {State.DEAD}


async def test_jobs_that_changed_since_they_were_selected_are_left_alone_and_counted(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    again, gone, away, left = await ended(worker_db, cell.tenant_a, "errored", 4)
    selection = await client.select_jobs("retry", state="dead")
    await client.retry(again)  # by somebody else, and it fails once more
    assert await maintenance.dispatch_due_jobs(worker_db) == 1
    [grant] = await jobs.claim(worker_db, await register(worker_db), ["default"], 1)
    assert await end(worker_db, grant, "failed")
    await client.retry(away)
    await cell.change(f"select leasehold.delete_jobs('{cell.tenant_a}', array['{gone}']::uuid[])")
    made = await client.act_on(selection)
    async with running(cell, jobs_act.app):
        job = await shop.ended(made.job_id)
    assert job.result == {"selected": 4, "done": 1, "changed": 3}
    [said] = await shop.events(made.job_id, "progress")
    assert said.message == "1 of 4 jobs; 3 had changed since they were selected"
    assert await states(worker_db, cell.tenant_a, [again]) == {State.FAILED}
    assert await states(worker_db, cell.tenant_a, [left]) <= {State.SCHEDULED, State.QUEUED}


async def test_a_job_that_comes_into_the_state_after_the_selection_is_not_canceled(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    queued = await enqueue(worker_db, cell.tenant_a, 2)
    scheduled = await enqueue(worker_db, cell.tenant_a, 2, delay_s=3600)
    selection = await client.select_jobs("cancel", state="queued")
    assert selection.count == 2
    await cell.pass_time(3601)
    assert await maintenance.dispatch_due_jobs(worker_db) == 2
    by = (await client.act_on(selection)).job_id
    acted = await store_bulk.act(worker_db, cell.tenant_a, by, None)
    assert (acted.done, acted.changed, acted.rest) == (2, 0, False)
    assert await states(worker_db, cell.tenant_a, queued) == {State.CANCELED}
    assert await states(worker_db, cell.tenant_a, scheduled) == {State.QUEUED}


async def test_an_attempt_after_a_crash_goes_on_where_the_last_one_stopped(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    await put_dead(cell, cell.tenant_a, 1200)
    by = (await client.act_on_jobs("delete", state="dead")).job_id
    first = await store_bulk.act(worker_db, cell.tenant_a, by, None)
    assert (first.count, first.done, first.rest) == (1200, 500, True)
    async with running(cell, jobs_act.app):
        job = await shop.ended(by)
    assert job.result == {"selected": 1200, "done": 1200, "changed": 0}
    assert await client.count_to_act("delete", state="dead") == 0


async def test_jobs_are_counted_to_the_end(cell: Cell, client: Client) -> None:
    await put_dead(cell, cell.tenant_a, 10_001)
    assert await client.count_to_act("retry", state="dead") == 10_001
    assert (await client.select_jobs("retry", tag="x")).count == 10_001


async def test_what_cannot_be_acted_on_is_not_selected(cell: Cell, client: Client, worker_db: Database) -> None:
    """A flow is retried as a whole, and its steps stay with it."""
    await client.flows.start(chain(step("t.work"), step("t.work")))
    [grant] = await jobs.claim(worker_db, await register(worker_db), ["default"], 1)
    await end(worker_db, grant, "failed")
    await ended(worker_db, cell.tenant_a, "errored", 2)
    assert (await client.select_jobs("retry", kind="t.work")).count == 2
    assert (await client.select_jobs("delete", kind="t.work")).count == 2


async def test_a_selection_is_begun_once(client: Client, cell: Cell, worker_db: Database) -> None:
    await ended(worker_db, cell.tenant_a, "errored")
    selection = await client.select_jobs("retry", state="dead")
    first, second = await client.act_on(selection), await client.act_on(selection)
    assert (first.created, second.created) == (True, False)
    assert first.job_id == second.job_id


async def test_a_selection_that_nobody_began_is_gone_after_an_hour(
    client: Client, cell: Cell, worker_db: Database
) -> None:
    await ended(worker_db, cell.tenant_a, "errored", 2)
    left, begun = await client.select_jobs("retry", state="dead"), await client.select_jobs("retry", state="dead")
    await client.act_on(begun)
    await cell.pass_time(3601)
    await maintenance.purge(worker_db, history_days=90, result_days=7)
    with pytest.raises(NotFound, match="there is no selection"):
        await client.act_on(left)
    assert not (await client.act_on(begun)).created
    assert len(await cell.look("select 1 from leasehold.selected")) == 1


async def test_a_selection_belongs_to_its_tenant(cell: Cell, client: Client, worker_db: Database) -> None:
    await ended(worker_db, cell.tenant_a, "errored")
    selection = await client.select_jobs("delete", state="dead")
    with pytest.raises(NotFound, match="there is no selection"):
        await Client(client.backend, cell.tenant_b).act_on(selection)
    by = (await client.act_on(selection)).job_id
    with pytest.raises(NotFound, match="no jobs were selected"):
        await store_bulk.act(worker_db, cell.tenant_b, by, None)


async def test_the_operator_selects_for_every_tenant_that_has_such_jobs(cell: Cell) -> None:
    """However many jobs of one tenant are newer than those of the other."""
    await put_dead(cell, cell.tenant_b, 2)
    await put_dead(cell, cell.tenant_a, 1100)
    async with cell.database(Role.OPERATOR, connections=1) as operator:
        found = await store_bulk.select_jobs(operator, None, "retry", {"state": "dead"})
        assert {one.tenant_id: one.count for one in found} == {cell.tenant_a: 1100, cell.tenant_b: 2}
        assert await store_bulk.select_jobs(operator, None, "retry", {"state": "failed"}) == []


async def test_a_job_that_nothing_was_selected_for_acts_on_nothing(cell: Cell, shop: Shop, worker_db: Database) -> None:
    [dead] = await ended(worker_db, cell.tenant_a, "errored")
    async with running(cell, jobs_act.app):
        job = await shop.run("jobs.act", {"action": "delete", "filter": {"state": "dead"}})
    assert job.state is State.FAILED
    assert (await shop.error(job.job_id))["message"] == (
        f"no jobs were selected for job {job.job_id}; ask for it with `leasehold jobs retry`, `cancel` or `delete`,"
        " or POST /v1/jobs:act"
    )
    assert await states(worker_db, cell.tenant_a, [dead]) == {State.DEAD}


async def test_waiting_jobs_are_canceled_and_running_ones_asked_to_stop(
    cell: Cell, shop: Shop, client: Client, worker_db: Database
) -> None:
    waiting = await enqueue(worker_db, cell.tenant_a, 3, delay_s=3600)
    grouped = await enqueue(worker_db, cell.tenant_a, 2, group="g")
    made = await client.act_on_jobs("cancel", kind="t.work", reason="withdrawn")
    async with running(cell, jobs_act.app):
        assert (await shop.ended(made.job_id)).result == {"selected": 5, "done": 5, "changed": 0}
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
        assert (await shop.ended(made.job_id)).result == {"selected": 1, "done": 1, "changed": 0}
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
        lines = await list_audit(operator, None, before=None, limit=10)
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
