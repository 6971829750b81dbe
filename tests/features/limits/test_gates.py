"""Gates: so many starts in so much time, and none while the far end is broken."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.engine.maintenance import dispatch_due_jobs, ring_gates
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.features.limits import store as gates
from leasehold.features.limits.model import Gate
from leasehold.features.limits.store import Gates
from leasehold.job import ClaimedJob, Enqueued, State
from leasehold.json_codec import encode, plain_options
from tests.cell import Cell
from tests.engine.test_life import end, register

HOST = "host:example.com"


@pytest.fixture
async def worker(worker_db: Database) -> UUID:
    return await register(worker_db)


@pytest.fixture
def mine(cell: Cell, worker_db: Database) -> Gates:
    return Gates(worker_db, cell.tenant_a)


async def ask(db: Database, cell: Cell, count: int = 1, gate: str | None = HOST, **options: object) -> list[UUID]:
    given = plain_options({"gate": gate} | options)
    return [job.job_id for job in await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"] * count, given)]


async def claim(db: Database, worker: UUID, n: int = 10) -> list[UUID]:
    return [grant.job_id for grant in await grants(db, worker, n)]


async def grants(db: Database, worker: UUID, n: int = 10) -> list[ClaimedJob]:
    """After whatever bells are due have rung."""
    await ring_gates(db, ["default"])
    return await jobs.claim(db, worker, ["default"], n)


async def state(db: Database, cell: Cell, job: UUID) -> State:
    return (await jobs.get_job(db, cell.tenant_a, job)).state


async def left(cell: Cell) -> list[dict[str, Any]]:
    return await cell.look("select job_id from leasehold.ready union all select job_id from leasehold.gated")


async def test_a_gate_lets_its_burst_through_and_then_one_for_each_slot(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=10, burst=2)
    asked = await ask(worker_db, cell, 4)
    assert await claim(worker_db, worker) == asked[:2]
    assert await claim(worker_db, worker) == []
    await cell.pass_time(10)
    assert await claim(worker_db, worker) == [asked[2]]
    assert await claim(worker_db, worker) == []
    await cell.pass_time(10)
    assert await claim(worker_db, worker) == [asked[3]]
    assert await left(cell) == []


async def test_slots_that_nobody_took_are_not_kept_beyond_the_burst(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=10, burst=3)
    asked = await ask(worker_db, cell, 10)
    assert await claim(worker_db, worker, 1) == asked[:1]
    await cell.pass_time(3600)  # every worker stood still
    assert await claim(worker_db, worker) == asked[1:4]
    assert await claim(worker_db, worker) == []


async def test_a_job_at_a_gate_is_blocked_burns_no_attempt_and_is_explained(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    first, second, third = await ask(worker_db, cell, 3)
    [grant] = await grants(worker_db, worker)
    assert (grant.job_id, await state(worker_db, cell, second)) == (first, State.BLOCKED)
    blocked = await jobs.list_jobs(worker_db, cell.tenant_a, {"state": "blocked"})
    assert [(job.job_id, job.gate, job.attempt) for job in blocked] == [(third, HOST, 0), (second, HOST, 0)]
    [reason] = [one for one in await jobs.explain(worker_db, cell.tenant_a, third) if one.reason == "gate"]
    seen = await mine.get(HOST)
    assert seen.next_at is not None
    slot = grant_time(await cell.look("select started_at as at from leasehold.lease")) + timedelta(seconds=60)
    assert seen.next_at == slot
    assert reason.detail.startswith(f"waits for gate {HOST} until ")
    said = reason.detail.partition(" until ")[2].partition(",")[0]
    assert datetime.fromisoformat(said) == slot
    assert reason.detail.endswith(", and 1 jobs stand before it")
    assert (seen.state, seen.waiting, seen.rule, seen.shared) == ("closed", 2, HOST, False)
    await end(worker_db, grant)
    await cell.pass_time(60)
    [again] = await grants(worker_db, worker)
    assert (again.job_id, again.attempt) == (second, 1)


def grant_time(rows: Sequence[dict[str, Any]]) -> datetime:
    return datetime.fromisoformat(rows[0]["at"])


async def test_a_gate_holds_up_nobody_else(cell: Cell, worker_db: Database, worker: UUID, mine: Gates) -> None:
    await mine.set("host:", rate=1, per_s=60)
    shut = await ask(worker_db, cell, 3)
    [other] = await ask(worker_db, cell, gate="host:example.net")
    [free] = await ask(worker_db, cell, gate=None)
    [unruled] = await ask(worker_db, cell, gate="account:7")
    [theirs] = await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ["{}"], {"gate": HOST})
    assert set(await claim(worker_db, worker)) == {shut[0], other, free, unruled, theirs.job_id}


async def test_every_attempt_asks_the_gate(cell: Cell, worker_db: Database, worker: UUID, mine: Gates) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    [asked] = await ask(worker_db, cell)
    [grant] = await grants(worker_db, worker)
    await end(worker_db, grant, "lost")
    assert await claim(worker_db, worker) == []
    assert await state(worker_db, cell, asked) is State.BLOCKED
    await cell.pass_time(60)
    [again] = await grants(worker_db, worker)
    assert (again.job_id, again.attempt) == (asked, 2)


async def test_one_that_is_canceled_or_moved_takes_no_slot(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    first, second, third, fourth = await ask(worker_db, cell, 4)
    assert await claim(worker_db, worker) == [first]
    assert await jobs.cancel(worker_db, cell.tenant_a, second, None) == "canceled"
    later = await worker_db.value("now") + timedelta(seconds=90)
    await jobs.reschedule(worker_db, cell.tenant_a, third, later)
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [fourth]
    await cell.pass_time(60)
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == [third]
    assert await left(cell) == []


async def test_one_that_expires_at_the_gate_takes_no_slot(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    soon = await worker_db.value("now") + timedelta(seconds=30)
    [first] = await ask(worker_db, cell)
    [expiring] = await ask(worker_db, cell, expires_at=soon)
    [third] = await ask(worker_db, cell)
    assert await claim(worker_db, worker) == [first]
    await cell.pass_time(60)
    assert await claim(worker_db, worker) + await claim(worker_db, worker) == [third]
    assert await state(worker_db, cell, expiring) is State.CANCELED


async def test_a_retry_by_hand_asks_the_gate(cell: Cell, worker_db: Database, worker: UUID, mine: Gates) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    [asked] = await ask(worker_db, cell)
    await end(worker_db, (await grants(worker_db, worker))[0], "failed")
    await jobs.retry(worker_db, cell.tenant_a, asked, None)
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [asked]


async def test_a_claim_that_is_rolled_back_takes_no_slot(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    first, _ = await ask(worker_db, cell, 2)
    with pytest.raises(ZeroDivisionError):
        async with worker_db.transaction() as connection:
            assert len(await worker_db.call("claim", worker, ["default"], 10, connection=connection)) == 1
            raise ZeroDivisionError
    assert await claim(worker_db, worker) == [first]


async def test_while_another_transaction_is_at_a_gate_its_jobs_stay_for_the_next_claim(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60, burst=2)
    first, second, third = await ask(worker_db, cell, 3)
    [free] = await ask(worker_db, cell, gate=None)
    async with worker_db.transaction() as connection:
        rows = await worker_db.call("claim", worker, ["default"], 1, connection=connection)
        assert [row["job_id"] for row in rows] == [first]
        assert await claim(worker_db, worker) == [free]
    assert await claim(worker_db, worker) == [second]
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [third]


async def test_the_rule_of_a_gate_wins_over_that_of_its_class(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set("host:", rate=1, per_s=60)
    await mine.set(HOST, rate=1, per_s=60, burst=3)
    asked = await ask(worker_db, cell, 4)
    other = await ask(worker_db, cell, 2, gate="host:example.net")
    assert set(await claim(worker_db, worker)) == {*asked[:3], other[0]}
    found = {one.gate: (one.rule, one.burst, one.waiting) for one in await mine.list()}
    assert found == {"host:": ("host:", 1, 0), HOST: (HOST, 3, 1), "host:example.net": ("host:", 1, 1)}


async def test_who_waits_may_go_when_the_rule_is_removed_or_eased(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=3600)
    asked = await ask(worker_db, cell, 6)
    assert await claim(worker_db, worker) == asked[:1]
    await mine.set(HOST, rate=10, per_s=1, burst=2)
    await cell.pass_time(1)
    assert await claim(worker_db, worker) == asked[1:3]
    await mine.remove(HOST)
    assert await claim(worker_db, worker) == asked[3:]
    with pytest.raises(NotFound, match="no rule"):
        await mine.remove(HOST)


async def test_a_shared_rule_holds_for_all_tenants_together_and_before_their_own(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    async with cell.database(Role.OPERATOR) as operator:
        await gates.set_shared(operator, "host:", {"rate": 1, "per_s": 60, "burst": 2})
        with pytest.raises(BadInput, match="no breaker"):
            await gates.set_shared(operator, HOST, {"failures": 5})
    await mine.set(HOST, rate=1000, burst=1000)
    ours = await ask(worker_db, cell, 3)
    theirs = [job.job_id for job in await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ["{}"] * 3, {"gate": HOST})]
    started = await claim(worker_db, worker)
    assert len(started) == 2
    for _ in range(4):
        await cell.pass_time(60)
        started += await claim(worker_db, worker)
    assert set(started) == {*ours, *theirs}
    assert [one.gate for one in await mine.list() if one.shared] == ["host:", HOST]
    for change in (mine.hold(HOST, 60), mine.reset(HOST)):
        with pytest.raises(Conflict, match="all tenants together"):
            await change


async def test_tenants_neither_see_nor_move_each_others_gates(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=60)
    theirs = Gates(worker_db, cell.tenant_b)
    assert await theirs.list() == []
    with pytest.raises(NotFound):
        await theirs.remove(HOST)
    await theirs.hold(HOST, 3600)
    [first, second] = await ask(worker_db, cell, 2)
    assert await claim(worker_db, worker) == [first]
    await theirs.reset(HOST)
    assert await claim(worker_db, worker) == []
    assert (await theirs.get(HOST)).waiting == 0
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [second]


async def fail(db: Database, given: Sequence[ClaimedJob], outcome: str = "errored") -> None:
    for grant in given:
        await end(db, grant, outcome, delay_s=10000.0 if outcome == "errored" else None)


async def breaker(mine: Gates) -> tuple[str | None, int | None]:
    seen = await mine.get(HOST)
    return seen.state, seen.failed


async def test_a_breaker_opens_at_so_many_failures_and_lets_probes_through_after_its_cool_down(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, failures=3, cooldown_s=100, probes=2)
    asked = await ask(worker_db, cell, 20)
    first = await grants(worker_db, worker, 3)
    await fail(worker_db, first[:2])
    assert await breaker(mine) == ("closed", 2)
    await fail(worker_db, first[2:])
    assert await claim(worker_db, worker) == []
    assert (await breaker(mine))[0] == "open"
    await cell.pass_time(99)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(22)  # the cool-down is up to a fifth longer
    probes = await grants(worker_db, worker)
    assert [grant.job_id for grant in probes] == asked[3:5]
    assert await claim(worker_db, worker) == []
    await fail(worker_db, probes[:1])
    assert await claim(worker_db, worker) == []
    assert (await breaker(mine))[0] == "open", "a failure opens it again"
    await fail(worker_db, probes[1:], "succeeded")
    await cell.pass_time(121)
    probes = await grants(worker_db, worker)
    await fail(worker_db, probes[:1], "succeeded")
    assert (await breaker(mine))[0] == "half-open"
    await fail(worker_db, probes[1:], "failed")  # the far end has answered: the job itself was wrong
    assert await breaker(mine) == ("closed", 0)
    assert await claim(worker_db, worker, 50) == asked[7:], "whoever waited is told at once"


async def test_a_breaker_stays_closed_while_failures_are_too_small_a_share(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, failures=3, ratio=0.5, window_s=60)
    await ask(worker_db, cell, 30)
    first = await grants(worker_db, worker, 10)
    await fail(worker_db, first[:4])
    assert len(await claim(worker_db, worker, 1)) == 1
    await fail(worker_db, first[4:6], "lost")  # a worker died: that says nothing of the far end
    assert len(await claim(worker_db, worker, 1)) == 1
    await fail(worker_db, first[6:8])
    assert await breaker(mine) == ("open", 0)


async def test_failures_are_forgotten_after_two_windows(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, failures=3, window_s=60)
    await ask(worker_db, cell, 30)
    await fail(worker_db, await grants(worker_db, worker, 2))
    for _ in range(3):
        await cell.pass_time(61)
        await fail(worker_db, await grants(worker_db, worker, 1), "succeeded")
    await fail(worker_db, await grants(worker_db, worker, 2))
    assert (await breaker(mine))[0] == "closed"
    assert len(await cell.look("select word_id from leasehold.gate_word")) == 2, "the old ones are gone"


async def test_a_probe_of_which_nothing_is_heard_is_followed_by_another(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, failures=1, cooldown_s=100)
    asked = await ask(worker_db, cell, 4)
    await fail(worker_db, await grants(worker_db, worker, 1))
    assert await claim(worker_db, worker) == []
    await cell.pass_time(121)
    [probe] = await grants(worker_db, worker)
    await fail(worker_db, [probe], "lost")
    assert await claim(worker_db, worker) == []
    await cell.pass_time(101)
    assert await claim(worker_db, worker) == [asked[1]]


async def test_a_probe_that_was_due_while_the_gate_was_held_does_not_make_it_two(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, failures=1, cooldown_s=100)
    asked = await ask(worker_db, cell, 3)
    await fail(worker_db, await grants(worker_db, worker, 1))
    assert await claim(worker_db, worker) == []
    await cell.pass_time(121)
    await mine.hold(HOST, 300)
    await ask(worker_db, cell)  # it asks the gate, and waits
    assert await claim(worker_db, worker) == []
    await cell.pass_time(301)
    assert await claim(worker_db, worker) == [asked[1]]
    assert await claim(worker_db, worker) == []


@pytest.mark.parametrize("outcome", ["errored", "snoozed"])
async def test_what_an_attempt_was_told_to_wait_holds_the_gate_for_everybody(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates, outcome: str
) -> None:
    first, second, third = await ask(worker_db, cell, 3)  # a gate without a rule
    [grant] = await grants(worker_db, worker, 1)
    await end(worker_db, grant, outcome, error='{"gate_after_s": 120}', delay_s=120.0)
    assert await claim(worker_db, worker) == []
    assert await state(worker_db, cell, second) is State.BLOCKED
    await cell.pass_time(119)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(2)
    await dispatch_due_jobs(worker_db)
    assert set(await claim(worker_db, worker)) == {first, second, third}


async def test_a_person_holds_a_gate_and_resets_it(cell: Cell, worker_db: Database, worker: UUID, mine: Gates) -> None:
    await mine.set(HOST, rate=1, per_s=10, failures=1)
    await mine.hold(HOST, 3600)
    first, second = await ask(worker_db, cell, 2)
    assert await claim(worker_db, worker) == []
    await mine.reset(HOST)
    [grant] = await grants(worker_db, worker)
    assert grant.job_id == first
    await end(worker_db, grant, "errored", delay_s=10000.0)
    assert await claim(worker_db, worker) == []
    assert (await breaker(mine))[0] == "open"
    await mine.reset(HOST)
    assert await claim(worker_db, worker) == [], "the rate goes on from where it was"
    await cell.pass_time(10)
    assert await claim(worker_db, worker) == [second]
    actions = [row["action"] for row in await cell.look("select action from leasehold.audit order by audit_id")]
    assert actions == ["gate.set", "gate.hold", "gate.reset", "gate.reset"]


async def test_jobs_of_a_group_start_with_a_gap(cell: Cell, worker_db: Database, worker: UUID) -> None:
    asked = await ask(worker_db, cell, 3, gate=None, group="acme", group_gap_s=2)
    for job in asked:
        [grant] = await grants(worker_db, worker)
        assert grant.job_id == job
        await end(worker_db, grant)
        assert await claim(worker_db, worker) == []
        await cell.pass_time(2)
    assert await left(cell) == []


async def test_a_retry_keeps_the_gap_and_its_place(cell: Cell, worker_db: Database, worker: UUID) -> None:
    first, second = await ask(worker_db, cell, 2, gate=None, group="acme", group_gap_s=60)
    await end(worker_db, (await grants(worker_db, worker))[0], "lost")
    assert await claim(worker_db, worker) == []
    await cell.pass_time(60)
    [again] = await grants(worker_db, worker)
    assert (again.job_id, again.attempt) == (first, 2)
    await end(worker_db, again)
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [second]


async def test_a_group_keeps_its_order_while_its_head_waits_at_a_gate(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.hold("host:slow", 100)
    [head] = await ask(worker_db, cell, gate="host:slow", group="g", group_limit=3)
    others = await ask(worker_db, cell, 2, gate="host:fast", group="g", group_limit=3)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(101)
    started: list[UUID] = []
    for _ in range(3):
        started += await claim(worker_db, worker)
    assert started == [head, *others]


async def test_a_gap_and_a_gate_must_both_be_open(cell: Cell, worker_db: Database, worker: UUID, mine: Gates) -> None:
    await mine.set(HOST, rate=1, per_s=10)
    [other] = await ask(worker_db, cell)
    one = await ask(worker_db, cell, 2, group="one", group_limit=2, group_gap_s=25)
    assert await claim(worker_db, worker) == [other]
    await cell.pass_time(10)
    assert await claim(worker_db, worker) == [one[0]]
    [late] = await ask(worker_db, cell)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(10)
    assert await claim(worker_db, worker) == [late], "who waits for the gap leaves the slot to others"
    await cell.pass_time(14)
    assert await claim(worker_db, worker) == []
    await cell.pass_time(1)
    assert await claim(worker_db, worker) == [one[1]]
    assert await left(cell) == []


async def test_a_long_backlog_at_a_shut_gate_does_not_hold_up_its_tenants_other_jobs(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await mine.set(HOST, rate=1, per_s=3600)
    asked = await ask(worker_db, cell, 3000)
    [free] = await ask(worker_db, cell, gate=None)
    assert set(await claim(worker_db, worker, 2) + await claim(worker_db, worker, 2)) == {asked[0], free}


async def test_a_paused_queue_does_not_take_the_slots_of_another(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await worker_db.call("create_queue", "other")
    await mine.set(HOST, rate=1, per_s=60)
    here = await ask(worker_db, cell, 2)
    await ask(worker_db, cell, 2, queue="other")
    assert await claim(worker_db, worker) == here[:1]
    assert await jobs.claim(worker_db, worker, ["other"], 5) == []
    await cell.change("update leasehold.queue set paused = true where queue = 'other'")
    await cell.pass_time(60)
    await ring_gates(worker_db, ["other"])
    assert await claim(worker_db, worker) == here[1:]


async def test_a_job_that_waits_for_its_tenant_takes_no_slot(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    await cell.change(f"update leasehold.tenant set max_running = 1 where tenant_id = '{cell.tenant_a}'")
    await mine.set(HOST, rate=1, per_s=60, burst=2)
    first, second, third = await ask(worker_db, cell, 3)
    [grant] = await grants(worker_db, worker)
    assert grant.job_id == first
    await end(worker_db, grant)
    [grant] = await grants(worker_db, worker) or await grants(worker_db, worker)
    assert grant.job_id == second
    await end(worker_db, grant)
    assert await claim(worker_db, worker) + await claim(worker_db, worker) == []
    await cell.pass_time(60)
    assert await claim(worker_db, worker) == [third]


async def test_a_gate_is_made_of_each_payload(cell: Cell, worker_db: Database) -> None:
    payloads = ['{"at": {"host": "a.example"}, "n": 7}', '{"at": {"host": "b.example"}, "n": true}']
    options = {"gate": "host:{at.host}/{n}/{n}"}
    made = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", payloads, options, keys=["a", "b"])
    seen = [(await jobs.get_job(worker_db, cell.tenant_a, job.job_id)).gate for job in made]
    assert seen == ["host:a.example/7/7", "host:b.example/true/true"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.Example.com/a?b#c", "shop.example.com"),
        ("http://ada:pw@shop.example.com:8080", "shop.example.com"),
        ("https://user@evil@shop.example.com/", "shop.example.com"),
        ("https://shop.example.com\\@evil.example/", "shop.example.com"),
        ("https://[2001:DB8::1]:443/", "[2001:db8::1]"),
        ("https://shop.example.com?q=@other.example", "shop.example.com"),
        ("shop.example.com/a", None),
        ("https:///a", None),
        ("mailto:ada@example.com", None),
    ],
)
async def test_a_gate_of_a_host(cell: Cell, worker_db: Database, url: str, host: str | None) -> None:
    asked = jobs.enqueue(worker_db, cell.tenant_a, "t.work", [encode({"url": url})], {"gate": "host:{url|host}"})
    if host is None:
        with pytest.raises(BadInput, match="needs a URL as 'url' in the payload"):
            await asked
    else:
        [job] = await asked
        assert (await jobs.get_job(worker_db, cell.tenant_a, job.job_id)).gate == f"host:{host}"


@pytest.mark.parametrize(
    "payload", [{}, {"n": None}, {"n": ""}, {"n": [1]}, {"n": {"a": 1}}, {"n": "{m}", "m": 1}, [1], "n"]
)
async def test_a_payload_that_leaves_a_gate_open_is_refused(cell: Cell, worker_db: Database, payload: Any) -> None:
    """Without its gate the job would start at any rate."""
    with pytest.raises(BadInput, match="the gate 'stripe:{n}' needs a text or a number as 'n' in the payload"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [encode(payload)], {"gate": "stripe:{n}"})
    assert await cell.look("select * from leasehold.job") == []


@pytest.mark.parametrize("value", ["x" * 201, "a:", "a\tb"])
async def test_what_a_template_makes_is_checked_as_a_gate(cell: Cell, worker_db: Database, value: str) -> None:
    with pytest.raises(BadInput, match="cannot be called"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [encode({"n": value})], {"gate": "{n}"})


@pytest.mark.parametrize(
    "gate",
    ["{", "}", "a{}", "{a", "a}b", "{{a}}", "{a|upper}", "{a.}", "{.a}", "{a|host|host}", "host:{a}:", "group:{a}"],
)
async def test_what_cannot_be_a_template_is_refused(cell: Cell, worker_db: Database, gate: str) -> None:
    with pytest.raises(BadInput, match="cannot be made by the template"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['{"a": 1}'], {"gate": gate})


async def test_a_payload_that_is_replaced_takes_its_gate_along(
    cell: Cell, worker_db: Database, worker: UUID, mine: Gates
) -> None:
    """Wherever the job waits: due, for later, and at the gate of the payload before."""
    await mine.set("host:", rate=1, per_s=3600)
    options = {"gate": "host:{host}", "unique": "u", "on_duplicate": "replace"}

    async def ask_for(host: str, **more: Any) -> Enqueued:
        [made] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [encode({"host": host})], options | more)
        return made

    taken = [await ask_for(host, unique=host) for host in ("a", "b")]
    assert set(await claim(worker_db, worker)) == {one.job_id for one in taken}
    job = await ask_for("a")
    assert (await ask_for("b")).job_id == job.job_id
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == [], "the gate of b is shut"
    assert (await jobs.get_job(worker_db, cell.tenant_a, job.job_id)).gate == "host:b"
    assert (await ask_for("c")).job_id == job.job_id
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == [job.job_id], "nobody has asked c yet"

    plain = {"unique": "later", "on_duplicate": "replace", "delay_s": 60}
    [later] = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", [encode({"host": "a"})], plain)
    assert (await ask_for("a", unique="later")).job_id == later.job_id
    await cell.pass_time(61)
    await dispatch_due_jobs(worker_db)
    assert await claim(worker_db, worker) == [], "it had no gate before"


@pytest.mark.parametrize("gate", ["", "host:", "group:g", 7, ["x", "y"], "a\nb", "x" * 201])
async def test_what_cannot_be_a_gate_is_refused(cell: Cell, worker_db: Database, gate: object) -> None:
    with pytest.raises(BadInput, match="cannot be called"):
        await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"] * 2, {"gate": gate})


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({}, "a rate, or failures"),
        ({"rate": 0}, "rate and burst"),
        ({"rate": 1, "per_s": 0}, "per_s"),
        ({"rate": 1, "burst": 0}, "burst"),
        ({"failures": 0}, "failures"),
        ({"failures": 1, "ratio": 2}, "ratio"),
        ({"failures": 1, "window_s": 0}, "window_s"),
        ({"speed": 1}, "no number 'speed'"),
        ({"rate": 1.5}, "integer"),
    ],
)
async def test_what_cannot_be_a_rule_is_refused(mine: Gates, rule: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        await mine.set(HOST, **rule)


async def test_gates_are_listed_page_by_page(mine: Gates) -> None:
    for number in range(5):
        await mine.set(f"host:{number}", rate=1)
    first: list[Gate] = await mine.list(limit=3)
    assert [one.gate for one in first + await mine.list(after=first[-1].gate)] == [f"host:{n}" for n in range(5)]
