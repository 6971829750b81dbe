"""A real streaming replica: lists and pages are read from it within a bound, and it takes over."""

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from leasehold.dashboard import app as dashboard
from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError
from leasehold.http.app import Services, create_app, open_services
from leasehold.http.services import STALE_SECONDS
from tests.cell import Cell
from tests.cli.program import Program, started
from tests.faults.history import Expected, check
from tests.faults.replicated import Pair, replicated
from tests.faults.sink import drained, effects, more_than
from tests.http.conftest import Keys, bearer, make_key, settings_of
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.running import ENVIRONMENT

pytestmark = pytest.mark.long

APP = "tests.faults.apps:app"
#: Long: nothing that a test does in between makes the replica too old by itself.
BOUND_SECONDS = PATIENCE_SECONDS
LISTS = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
OF_OPERATORS = ("/v1/invitations", "/v1/queues", "/v1/limits", "/v1/workers", "/v1/tenants")
#: These act in a transaction, which the primary has.
NOT_READ_THERE = ("/v1/keys", "/v1/members", "/v1/invitations")
PAGES = ("/", "/jobs", "/failures", "/flows", "/approvals", "/gates", "/webhooks", "/audit")


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    async with replicated() as pair:
        yield pair


@asynccontextmanager
async def serving(pair: Pair, *, within_s: float = BOUND_SECONDS) -> AsyncIterator[Services]:
    """A server of the primary that may read from the replica, once that has answered."""
    settings = settings_of(pair.cell, read_url=reader(pair), read_staleness_seconds=within_s)
    async with open_services(settings, loopback=True) as services:
        assert services.replica

        async def fresh() -> bool:
            return bool(services.replica and services.replica.is_fresh_for(None))

        await eventually(fresh, what="a replica that is fresh")
        yield services


def reader(pair: Pair) -> str:
    """One login that may be the api and the operator role, as a superuser may."""
    return pair.standby.url(pair.endpoint, pair.cell.name)


def client_of(services: Services, key: object) -> httpx.AsyncClient:
    app = create_app(services)
    dashboard.mount(app)
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key))  # type: ignore[arg-type]


async def keys_of(pair: Pair) -> Keys:
    found = Keys(
        a=await make_key(pair.cell, pair.cell.tenant_a),
        b=await make_key(pair.cell, pair.cell.tenant_b),
        operator=await make_key(pair.cell, None),
    )
    await pair.caught_up()
    return found


def ids(answer: httpx.Response) -> set[UUID]:
    assert answer.status_code == 200, answer.text
    return {UUID(job["job_id"]) for job in answer.json()["data"]}


async def enqueue(cell: Cell, tenant: UUID) -> UUID:
    async with cell.database(Role.API, connections=1) as db:
        [made] = await jobs.enqueue(db, tenant, "t.work", ["{}"], {})
        return made.job_id


async def test_a_list_is_never_older_than_the_bound_and_says_how_old_it_may_be(pair: Pair) -> None:
    key = await keys_of(pair)
    first = await enqueue(pair.cell, pair.cell.tenant_a)
    await pair.caught_up()
    bound = 10.0
    async with serving(pair, within_s=bound) as services, client_of(services, key.a) as a:

        async def replica_answers() -> bool:
            answer = await a.get("/v1/jobs")
            assert ids(answer) == present
            assert float(answer.headers.get(STALE_SECONDS, 0)) <= bound
            return STALE_SECONDS in answer.headers

        present = {first}
        await eventually(replica_answers, what="an answer of the replica")
        assert "\nleasehold_replica_staleness_seconds " in (await a.get("/metrics")).text
        await pair.ask_standby("select pg_wal_replay_pause()")
        second = await enqueue(pair.cell, pair.cell.tenant_a)
        told = 0

        async def primary_answers() -> bool:
            nonlocal told
            answer = await a.get("/v1/jobs")
            told += STALE_SECONDS in answer.headers
            if STALE_SECONDS in answer.headers:
                assert float(answer.headers[STALE_SECONDS]) <= bound
                assert ids(answer) == {first}, "what the replica has"
                return False
            assert ids(answer) == {first, second}
            return True

        await eventually(primary_answers, what="an answer of the primary")
        assert told, "until then it was the replica that answered"
        await pair.ask_standby("select pg_wal_replay_resume()")
        present = {first, second}
        await eventually(replica_answers, what="an answer of the replica again")


async def test_whoever_wrote_sees_it_though_the_replica_does_not_have_it_yet(pair: Pair) -> None:
    key = await keys_of(pair)
    async with serving(pair) as services, client_of(services, key.a) as a, client_of(services, key.b) as b:
        await pair.ask_standby("select pg_wal_replay_pause()")
        made = (await a.post("/v1/jobs", json={"kind": "t.work"})).json()
        own, other = await a.get("/v1/jobs"), await b.get("/v1/jobs")
        assert ids(own) == {UUID(made["job_id"])}
        assert STALE_SECONDS not in own.headers
        assert STALE_SECONDS in other.headers, "for another tenant the replica is fresh enough"
        elsewhere = await b.get("/v1/jobs", headers={"Cache-Control": "no-cache"})
        assert STALE_SECONDS not in elsewhere.headers, "whoever wrote at another server can ask for the newest"
        await pair.ask_standby("select pg_wal_replay_resume()")
        await pair.caught_up()

        async def replica_answers() -> bool:
            answer = await a.get("/v1/jobs")
            assert ids(answer) == {UUID(made["job_id"])}
            return STALE_SECONDS in answer.headers

        await eventually(replica_answers, what="a replica that has what was written")


async def test_every_list_and_page_can_be_read_from_the_replica(pair: Pair) -> None:
    key = await keys_of(pair)
    await enqueue(pair.cell, pair.cell.tenant_a)
    await pair.caught_up()
    lists = [
        path
        for path, ways in json.loads(LISTS.read_text())["paths"].items()
        if ways.get("get", {}).get("operationId", "").endswith(".list")
    ]
    assert len(lists) > 15
    async with (
        serving(pair) as services,
        client_of(services, key.a) as a,
        client_of(services, key.operator) as operator,
    ):
        for path in [*lists, *PAGES]:
            answer = await (operator if path in OF_OPERATORS else a).get(path)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            assert (STALE_SECONDS in answer.headers) == (path not in NOT_READ_THERE), path
    assert "read-only transaction" not in pair.standby.log.read_text()


async def test_a_replica_that_dies_takes_no_list_with_it(pair: Pair) -> None:
    key = await keys_of(pair)
    made = await enqueue(pair.cell, pair.cell.tenant_a)
    await pair.caught_up()
    async with serving(pair) as services, client_of(services, key.a) as a:
        assert STALE_SECONDS in (await a.get("/v1/jobs")).headers
        await asyncio.to_thread(pair.standby.stop)
        answer = await a.get("/v1/jobs")
        assert (ids(answer), STALE_SECONDS in answer.headers) == ({made}, False)


# -- fail-over ------------------------------------------------------------------------------------------------------


class Caller:
    """Asks one job after another of whichever server can be written to; what was not answered is asked again."""

    def __init__(self, pair: Pair, sink: Path) -> None:
        self.acknowledged: list[UUID] = []
        self.failures = 0
        self._pair, self._sink = pair, sink
        self._stop = False

    def stop(self) -> None:
        self._stop = True

    async def run(self) -> None:
        payload, n = json.dumps({"sink": str(self._sink), "seconds": 0.01}), 0
        target = Target(url=self._pair.either(Role.API), role=Role.API)
        while not self._stop:
            try:
                async with Database(target, connections=1) as db:
                    while not self._stop:
                        tenant = self._pair.cell.tenant_a
                        [made] = await jobs.enqueue(db, tenant, "f.work", [payload], {}, keys=[f"k-{n}"])
                        self.acknowledged.append(made.job_id)
                        n += 1
            except LeaseholdError:
                self.failures += 1
                await asyncio.sleep(0.02)


@contextmanager
def working(pair: Pair, names: Sequence[str]) -> Iterator[list[Program]]:
    env = ENVIRONMENT | {"LEASEHOLD_WORKER_URL": pair.either(Role.WORKER), "LEASEHOLD_SLOTS": "8"}
    with ExitStack() as stack:
        found = [stack.enter_context(started("worker", APP, "--name", name, env=env)) for name in names]
        for worker in found:
            worker.said("worker started")
        yield found


async def test_with_a_synchronous_replica_a_fail_over_under_load_loses_nothing(pair: Pair, tmp_path: Path) -> None:
    sink = tmp_path / "sink"
    await pair.make_synchronous()
    caller = Caller(pair, sink)
    with working(pair, ("w1", "w2")) as workers:
        calling = asyncio.create_task(caller.run())
        await eventually(more_than(60, lambda: len(effects(sink))), what="work")
        await pair.lose_primary()
        await pair.promote()
        before = len(effects(sink))
        await eventually(more_than(before + 60, lambda: len(effects(sink))), what="work on the replica")
        caller.stop()
        await calling
        await drained(pair.copy)
        assert [(await asyncio.to_thread(worker.stopped)).code for worker in workers] == [0, 0]
    assert caller.failures, "the fail-over was met"
    acknowledged = dict.fromkeys(caller.acknowledged, pair.cell.tenant_a)
    history = await check(pair.copy, Expected(acknowledged=acknowledged, effects=effects(sink), stopped=("w1", "w2")))
    assert {row["state"] for row in history.outcome} == {"succeeded"}


async def test_with_an_asynchronous_replica_a_fail_over_loses_what_it_had_not_received_and_no_more(
    pair: Pair, tmp_path: Path
) -> None:
    sink = tmp_path / "sink"
    caller = Caller(pair, sink)
    calling = asyncio.create_task(caller.run())
    await eventually(more_than(50, lambda: len(caller.acknowledged)), what="jobs")
    safe = list(caller.acknowledged)
    await pair.caught_up()
    with frozen(receiver_of(pair)):
        n = len(caller.acknowledged)
        await eventually(more_than(n + 50, lambda: len(caller.acknowledged)), what="jobs that the replica lacks")
        caller.stop()
        await calling
        await pair.lose_primary()
        # What waits in the receiver's socket is as lost as if another machine had died.
        await asyncio.to_thread(pair.standby.kill)
    await asyncio.to_thread(pair.standby.start)
    await pair.promote()
    found = {UUID(row["job_id"]) for row in await pair.copy.look("select job_id from leasehold.job")}
    lost = [job for job in caller.acknowledged if job not in found]
    assert lost
    assert set(safe) <= found, "what it had received is there"
    assert lost == caller.acknowledged[len(caller.acknowledged) - len(lost) :], "the newest ones, without a hole"
    with working(pair, ("w",)) as [worker]:
        await drained(pair.copy)
        assert (await asyncio.to_thread(worker.stopped)).code == 0
    kept = dict.fromkeys(found, pair.cell.tenant_a)
    await check(pair.copy, Expected(acknowledged=kept, effects=effects(sink), stopped=["w"]))


def receiver_of(pair: Pair) -> int:
    """The process that receives the primary's log."""
    listed = subprocess.check_output(["ps", "-eo", "pid,args"], text=True)
    parent = (pair.standby.data / "postmaster.pid").read_text().split()[0]
    children = subprocess.check_output(["ps", "-o", "pid=", "--ppid", parent], text=True).split()
    [pid] = [pid for pid, args in re.findall(r"^\s*(\d+) (.*)$", listed, re.M) if pid in children and "walrec" in args]
    return int(pid)


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
