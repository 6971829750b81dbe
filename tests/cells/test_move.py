"""A cell goes from one real server to another while it is used."""

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import asyncpg
import httpx
import pytest

from leasehold import Leasehold
from leasehold.api import create_app, open_services
from leasehold.engine import jobs, workers
from leasehold.engine.connect import target
from leasehold.engine.database import Database, Role
from leasehold.errors import Moved
from leasehold.job import Ended, State
from tests.cells.places import Place, Places
from tests.waiting import eventually

pytestmark = pytest.mark.long

OLD, NEW, HOME = "old", "new", "home"
#: Each step, and what somebody does meanwhile, and where, so that it cannot end before the mover is killed.
STEPS: dict[str, tuple[str, str] | None] = {
    "making the new place": None,
    "copying": None,
    "closing the old place": (OLD, "select leasehold.enter_cell(1)"),
    "waiting for the last changes": (NEW, "lock table leasehold.audit in share mode"),
    "opening the new place": (NEW, "lock table leasehold.here in share mode"),
    "sending everybody there": (HOME, "lock table leasehold.cell in share mode"),
}
PATIENCE_SECONDS = 300.0
#: The lock of movers, held by a transaction.
ALONE = "select pg_advisory_xact_lock(7507, hashtext('leasehold'))"


class Load:
    """Enqueues one job after the other, and keeps what was acknowledged and how long the longest took."""

    def __init__(self, app: Leasehold, sink: Path) -> None:
        self._app = app
        self._sink = sink
        self._going = True
        self.made: list[UUID] = []
        self.longest_s = 0.0

    async def run(self) -> None:
        while self._going:
            await self.add(1)

    async def add(self, n: int) -> None:
        for _ in range(n):
            began = time.monotonic()
            order = {"sink": str(self._sink), "seconds": 0.2 if len(self.made) % 10 == 0 else 0}
            job = await self._app.enqueue("c.work", order, tenant="acme", queue="work")
            self.made.append(job.job_id)
            self.longest_s = max(self.longest_s, time.monotonic() - began)

    def stop(self) -> None:
        self._going = False

    async def check(self) -> None:
        """Every job that was acknowledged has succeeded, in one attempt, and its effect happened once."""
        client = await self._app.client("acme")

        async def all_ended() -> bool:
            waiting = [await client.list_jobs(state=state, limit=1) for state in ("queued", "running", "scheduled")]
            return not any(waiting)

        await eventually(all_ended, what="the end of all jobs", seconds=120)
        for job_id in self.made:
            assert (await client.get(job_id)).state is State.SUCCEEDED, await client.attempts(job_id)
            assert [attempt.outcome for attempt in await client.attempts(job_id)] == ["succeeded"]
        effects = self._sink.read_text().split()
        assert sorted(effects) == sorted(str(job_id) for job_id in self.made)


async def test_a_cell_moves_under_load_and_nothing_is_lost_or_done_twice(
    places: Places, here: Place, tmp_path: Path
) -> None:
    there = places.at(1)
    with places.worker(cells="home,c"):
        async with Leasehold(places.settings) as app:
            load = Load(app, tmp_path / "sink")
            task = asyncio.create_task(load.run())
            await eventually(lambda: _true(len(load.made) >= 50), what="fifty jobs")
            with places.begun("cells", "move", "c", there.url) as mover:
                said = await asyncio.to_thread(mover.ended, PATIENCE_SECONDS)
            assert said.code == 0, said.err
            before = len(load.made)
            await eventually(lambda: _true(len(load.made) >= before + 50), what="fifty jobs more")
            load.stop()
            await task
            await load.check()
    print(f"{len(load.made)} jobs; {said.err.splitlines()[-1]}; the longest enqueue took {load.longest_s:.2f} s")
    found = re.search(r"it took no writes for ([\d.]+) s", said.err)
    assert found
    assert load.longest_s < float(found[1]) + 10

    [shown] = places.ran("cells", "list", "--json").json
    assert (shown["url"], shown["epoch"], shown["next_url"]) == (there.url, 2, None)
    tokens = "select token from leasehold.attempt union select token from leasehold.lease"
    old = {token for (token,) in await here.look(tokens)}
    new = {token for (token,) in await there.look(tokens)}
    assert old < new
    assert min(new - old) > max(old)  # no number of the old place comes again
    assert len(new) == len(load.made)
    assert await there.look("select 1 from leasehold.lease") == []
    assert await there.look("select 1 from pg_stat_subscription where subname like '%move%'") == []
    assert await here.look("select 1 from pg_replication_slots where database = current_database()") == []


async def test_an_attempt_that_runs_during_a_move_ends_at_the_new_place_and_only_there(
    places: Places, here: Place
) -> None:
    async with here.database(Role.WORKER) as old:
        worker = await workers.register_worker(
            old, name="w", version="0", queues=["default"], kinds={}, slots=4, lease_s=60
        )
        [(tenant,)] = await here.look("select tenant_id from leasehold.tenant")
        await jobs.enqueue(old, tenant, "t.work", ["{}", "{}"], {})
        _, [grant] = await jobs.exchange(old, worker, ["default"], 1, [])
        places.ran("cells", "move", "c", places.url(1))
        ended = Ended(token=grant.token, outcome="succeeded")
        for refused in (
            jobs.finish(old, [ended]),
            jobs.exchange(old, worker, ["default"], 1, []),
            workers.beat(old, worker),
            jobs.enqueue(old, tenant, "t.work", ["{}"], {}),
        ):
            with pytest.raises(Moved):
                await refused
    async with Database(target(replace(places.settings, cell="c"), Role.WORKER)) as new:
        assert await jobs.finish(new, [ended]) == {grant.token}
        _, [other] = await jobs.exchange(new, worker, ["default"], 4, [])
        assert other.job_id != grant.job_id


async def test_the_old_place_refuses_every_write_of_everybody(places: Places, here: Place) -> None:
    places.ran("cells", "move", "c", places.url(1))
    for role, statement in [
        (Role.API, "select leasehold.create_queue('new')"),
        (Role.WORKER, "select leasehold.register_worker('w', '0', array['default'], '{}', 1, 60)"),
        (Role.OPERATOR, "select leasehold.create_tenant('new')"),
        (None, "truncate leasehold.ready"),
        (None, "delete from leasehold.job_default"),
    ]:
        async with here.connected(role) as connection:
            with pytest.raises(asyncpg.PostgresError) as refused:
                await connection.execute(statement)
            assert refused.value.sqlstate == Moved.sqlstate, statement


async def test_endpoints_hear_of_a_job_once_though_its_cell_moved_before_they_were_told(
    places: Places, here: Place
) -> None:
    [(tenant,)] = await here.look("select tenant_id from leasehold.tenant")
    async with here.database(Role.API) as api:
        await api.call("create_endpoint", "https://example.com/", ["*"], tenant=tenant)
        [job] = await jobs.enqueue(api, tenant, "t.work", ["{}"], {})
        await jobs.cancel(api, tenant, job.job_id)
    told = "select subject_id from leasehold.webhook_event where type = 'job.canceled'"
    assert await here.look(told) == []
    places.ran("cells", "move", "c", places.url(1))
    there = places.at(1)
    assert await there.look(told) == [(str(job.job_id),)]
    await there.look("select leasehold.collect_job_events()")
    assert await there.look(told) == [(str(job.job_id),)]


async def test_a_server_goes_with_its_cell(places: Places, here: Place) -> None:
    pepper = "a pepper for tests that is long enough to be one"
    made = places.ran(
        "keys", "create", "ci", "--tenant", "acme", "--scope", "jobs:read", "--scope", "jobs:write", "--json",
        LEASEHOLD_CELL="c", LEASEHOLD_KEY_PEPPER=pepper,
    ).json  # fmt: skip
    settings = replace(places.settings, cell="c", key_pepper=pepper)
    async with (
        open_services(settings, loopback=True) as services,
        httpx.AsyncClient(transport=httpx.ASGITransport(create_app(services)), base_url="http://localhost") as client,
    ):
        client.headers["Authorization"] = f"Bearer {made['key']}"
        first = await client.post("/v1/jobs", json={"kind": "t.work"})
        assert first.status_code == 202, first.text
        places.ran("cells", "move", "c", places.url(1))
        seen = await client.get(f"/v1/jobs/{first.json()['job_id']}")
        assert seen.json()["state"] == "queued"
        second = await client.post("/v1/jobs", json={"kind": "t.work"})
        assert second.status_code == 202, second.text
    assert await places.at(1).look("select count(*) from leasehold.job") == [(2,)]
    assert await here.look("select count(*) from leasehold.job") == [(1,)]


async def test_both_places_may_be_databases_of_one_server(places: Places, here: Place) -> None:
    places.ran("cells", "move", "c", places.url(0, "_2"))
    assert await places.at(0, "_2").look("select name from leasehold.tenant") == [("acme",)]


async def test_a_cell_is_not_moved_into_one_that_is_lived_in(places: Places, here: Place) -> None:
    places.ran("cells", "add", "d", places.url(1))
    places.ran("tenants", "create", "bolt", "--cell", "d")
    await places.at(1).look("update leasehold.here set epoch = 2")  # as if it had come from elsewhere
    assert "there are tenants" in places.refused("cells", "move", "c", places.url(1))
    places.ran("cells", "move", "c", places.url(1), "--undo")
    assert await here.look("select state from leasehold.here") == [("open",)]


async def test_of_two_movers_one_moves_the_cell_and_the_other_says_so(places: Places, here: Place) -> None:
    move = ("cells", "move", "c", places.url(1))
    with places.begun(*move) as first, places.begun(*move) as second:
        async with _held((OLD, ALONE), {OLD: here}):
            await eventually(lambda: _wait_to_be_alone(here, 2), what="two movers that wait")
        said = [await asyncio.to_thread(mover.ended, PATIENCE_SECONDS) for mover in (first, second)]
    winner, loser = sorted(said, key=lambda one: one.code)
    assert winner.code == 0, winner.err
    assert loser.code == 4
    assert "somebody else" in loser.err
    assert await places.at(1).look("select name from leasehold.tenant") == [("acme",)]
    assert await here.look("select state from leasehold.here") == [("closed",)]


async def test_a_mover_that_waits_while_the_move_is_taken_back_moves_nothing(places: Places, here: Place) -> None:
    move = ("cells", "move", "c", places.url(1))
    with places.begun(*move) as killed:
        await asyncio.to_thread(killed.said, "making the new place")
        killed.kill(signal.SIGKILL)
        killed.ended()
    with ExitStack() as programs:
        async with _held((OLD, ALONE), {OLD: here}):
            undo = programs.enter_context(places.begun(*move, "--undo"))
            await eventually(lambda: _wait_to_be_alone(here, 1), what="an undo that waits")
            mover = programs.enter_context(places.begun(*move))
            await eventually(lambda: _wait_to_be_alone(here, 2), what="a mover that waits behind it")
        assert (await asyncio.to_thread(undo.ended, PATIENCE_SECONDS)).code == 0, undo.err
        said = await asyncio.to_thread(mover.ended, PATIENCE_SECONDS)
    assert said.code == 4
    assert "somebody else has moved cell c, or let it stay" in said.err
    assert await here.look("select state from leasehold.here") == [("open",)]
    [shown] = places.ran("cells", "list", "--json").json
    assert (shown["epoch"], shown["next_url"]) == (1, None)


async def test_home_does_not_move(places: Places, here: Place) -> None:
    with pytest.raises(asyncpg.PostgresError, match="home does not move"):
        await places.home.change("select leasehold.leave_cell()")


async def test_tables_of_packs_go_with_their_cell(places: Places) -> None:
    packs = {"LEASEHOLD_PACKS": "audits"}
    places.ran("cells", "add", "c", places.url(0), **packs)
    here, there = places.at(0), places.at(1)
    site = "insert into leasehold_audits.site (tenant_id, url, url_key) values ($1, 'https://a.example/', 'a')"
    await here.look(site, places.home.tenant_a)
    assert "other packs" in places.refused("cells", "move", "c", there.url)
    places.ran("cells", "move", "c", there.url, **packs)
    assert await there.look("select url from leasehold_audits.site") == [("https://a.example/",)]
    with pytest.raises(asyncpg.PostgresError) as refused:
        await here.look(site, places.home.tenant_b)
    assert refused.value.sqlstate == Moved.sqlstate


async def test_a_mover_that_is_killed_in_each_step_goes_on_when_it_is_called_again(
    places: Places, here: Place, tmp_path: Path
) -> None:
    there = places.at(1)
    with places.worker(cells="c"):
        async with Leasehold(places.settings) as app:
            load = Load(app, tmp_path / "sink")
            task = asyncio.create_task(load.run())
            killed = []
            for step, hold in STEPS.items():
                if step == "closing the old place":  # writes wait from here on, for as long as this test takes
                    load.stop()
                    await task
                async with _held(hold, {OLD: here, NEW: there, HOME: places.at_home()}):
                    with places.begun("cells", "move", "c", there.url) as mover:
                        await asyncio.to_thread(mover.said, step)
                        mover.kill(signal.SIGKILL)
                        if (await asyncio.to_thread(mover.ended)).code == -signal.SIGKILL:
                            killed.append(step)
                    # What the mover asked for last goes on without it, until it meets the lock's timeout.
                    if step == "closing the old place":
                        await eventually(lambda: _closes_no_more(here), what="the end of the close")
            with places.begun("cells", "move", "c", there.url) as mover:
                last = await asyncio.to_thread(mover.ended, PATIENCE_SECONDS)
            assert last.code == 0 or "already" in last.err, last.err
            await load.add(20)
            await load.check()
    assert killed == list(STEPS)
    assert await here.look("select state from leasehold.here") == [("closed",)]
    assert await there.look("select state, epoch from leasehold.here") == [("open", 2)]


async def test_a_move_is_taken_back_until_the_old_place_is_closed(places: Places, here: Place) -> None:
    async with Leasehold(places.settings) as app:
        job = await app.enqueue("c.work", {}, tenant="acme")
        with places.begun("cells", "move", "c", places.url(1)) as mover:
            await asyncio.to_thread(mover.said, "copying")
            mover.kill(signal.SIGKILL)
            mover.ended()
        assert "is being moved to" in places.refused("cells", "move", "c", places.url(1, "_other"))
        places.ran("cells", "move", "c", places.url(1), "--undo")
        assert await here.look("select state from leasehold.here") == [("open",)]
        assert await here.look("select 1 from pg_replication_slots where database = current_database()") == []
        await app.enqueue("c.work", {}, tenant="acme")
        places.ran("cells", "move", "c", places.url(1))  # into the rest of the first copy
        client = await app.client("acme")
        assert len(await client.list_jobs()) == 2
        assert (await client.get(job.job_id)).state is State.QUEUED
    assert "is not being moved" in places.refused("cells", "move", "c", places.url(1), "--undo")


async def test_an_open_transaction_holds_the_close_back(places: Places, here: Place) -> None:
    await here.look("select leasehold.leave_cell()")
    async with here.connected(Role.API) as api, here.connected(None) as mover:
        async with api.transaction():
            await api.execute("select leasehold.enter_cell(1)")
            with pytest.raises(asyncpg.LockNotAvailableError):
                await mover.execute("select leasehold.close_cell(array['leasehold'])")
        await mover.execute("select leasehold.close_cell(array['leasehold'])")
        with pytest.raises(asyncpg.PostgresError) as refused:
            await api.execute("select leasehold.enter_cell(1)")
        assert refused.value.sqlstate == Moved.sqlstate


async def test_no_partition_is_dropped_while_a_cell_is_being_copied(places: Places, here: Place) -> None:
    await here.look("select leasehold.leave_cell()")
    assert await here.look("select leasehold.drop_partitions(-10)") == [(0,)]
    await here.look("select leasehold.leave_cell(false)")
    assert await here.look("select leasehold.drop_partitions(-10) > 0") == [(True,)]


async def _true(value: bool) -> bool:
    return value


@asynccontextmanager
async def _held(hold: tuple[str, str] | None, places: dict[str, Place]) -> AsyncIterator[None]:
    """A transaction that holds something until the end of the block."""
    if hold is None:
        yield
        return
    place, statement = hold
    async with places[place].connected(None) as connection, connection.transaction():
        await connection.execute(statement)
        yield


async def _wait_to_be_alone(place: Place, movers: int) -> bool:
    waiting = "locktype = 'advisory' and classid = 7507 and not granted"
    return await place.look(f"select count(*) from pg_locks where {waiting}") == [(movers,)]


async def _closes_no_more(place: Place) -> bool:
    asked = "state = 'active' and query like '%close_cell(%' and pid <> pg_backend_pid()"
    return not await place.look(f"select 1 from pg_stat_activity where {asked}")
