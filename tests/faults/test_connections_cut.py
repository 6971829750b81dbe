"""Connections that are cut at the worst moment, terminated at random, or swallowed."""

import asyncio
import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest

from leasehold.database.database import Role
from leasehold.job import State
from tests.cell import Cell
from tests.cli.program import Program, started
from tests.faults.apps import TABLE
from tests.faults.history import Expected, check
from tests.faults.sink import drained, effects
from tests.faults.test_postgres_killed import Caller
from tests.waiting import eventually
from tests.worker.proxy import Proxy, proxied
from tests.worker.running import ENVIRONMENT, Shop

pytestmark = pytest.mark.long

APP = "tests.faults.apps:app"


def environment(cell: Cell, url: str | None = None) -> dict[str, str]:
    own = {"LEASEHOLD_WORKER_URL": url} if url else {}
    return cell.environment() | ENVIRONMENT | own | {"LEASEHOLD_LEASE_SECONDS": "4"}


async def has_started(program: Program) -> None:
    """The proxy lives in this event loop: wait without stopping it."""
    await asyncio.to_thread(program.said, "worker started")


async def has_stopped(program: Program) -> int:
    return (await asyncio.to_thread(program.stopped)).code


def arm(proxy: Proxy, how: str, words: bytes, *, after: bytes = b"") -> None:
    proxy.lose_answer_to(words, after=after) if how == "answer" else proxy.lose(words, after=after)


ROUNDS = [("answer" if n % 2 else "message") for n in range(10)]


async def test_a_report_that_is_cut_before_or_after_its_commit_is_made_once(
    cell: Cell, shop: Shop, tmp_path: Path
) -> None:
    sink, made = tmp_path / "sink", []
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        with started("worker", APP, "--name", "w", env=environment(cell, url)) as program:
            await has_started(program)
            for how in ROUNDS:
                arm(proxy, how, str(cell.tenant_a).encode())  # its result
                job = await shop.run("f.work", {"sink": str(sink)})
                made.append(job.job_id)
                assert job.state is State.SUCCEEDED
            assert await has_stopped(program) == 0
            assert "finish refused" not in program.err
        assert (proxy.lost_answers, proxy.lost_messages) == (5, 5)
    assert sorted(effects(sink)) == sorted(made), "no effect was had twice"
    history = await check(cell, Expected(acknowledged=dict.fromkeys(made, cell.tenant_a), stopped=["w"]))
    assert [row["outcome"] for row in history.attempt] == ["succeeded"] * len(made)


async def test_a_handlers_transaction_that_is_cut_at_its_commit_is_all_there_once(cell: Cell, shop: Shop) -> None:
    await cell.change(TABLE)
    made = []
    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        with started("worker", APP, "--name", "w", env=environment(cell, url)) as program:
            await has_started(program)
            for how in ROUNDS:
                # Not the commit of the worker that finds out what became of the round before.
                arm(proxy, how, b"COMMIT;", after=b"f.child")
                made.append((await shop.run("f.pack", {})).job_id)
            await drained(cell)
            assert await has_stopped(program) == 0
            assert "finish refused" not in program.err
        assert (proxy.lost_answers, proxy.lost_messages) == (5, 5)
    once = [UUID(row["job_id"]) for row in await cell.look("select job_id from leasehold_test.effect")]
    parents = [row["parent"] for row in await cell.look("select payload ->> 'parent' as parent from leasehold.job")]
    assert sorted(filter(None, parents)) == sorted(map(str, made)), "one child each"
    children = [
        UUID(row["job_id"]) for row in await cell.look("select job_id from leasehold.job where kind = 'f.child'")
    ]
    history = await check(
        cell,
        Expected(acknowledged=dict.fromkeys(made + children, cell.tenant_a), stopped=["w"], once=once + children),
    )
    by_job = {job_id: [a["outcome"] for a in history.attempt if a["job_id"] == str(job_id)] for job_id in made}
    for how, job_id in zip(ROUNDS, made, strict=True):
        assert by_job[job_id] == (["succeeded"] if how == "answer" else ["errored", "succeeded"])


async def test_sessions_of_callers_and_workers_that_are_terminated_at_random_cost_nothing(
    cell: Cell, tmp_path: Path
) -> None:
    dice, sink = random.Random(9), tmp_path / "sink"
    callers = [Caller(cell, sink, name) for name in ("one", "two")]
    killed = 0
    with (
        started("worker", APP, "--name", "w1", env=environment(cell)) as one,
        started("worker", APP, "--name", "w2", env=environment(cell)) as two,
    ):
        one.said("worker started")
        two.said("worker started")
        calling = [asyncio.create_task(caller.run()) for caller in callers]
        until = time.monotonic() + 4
        while time.monotonic() < until:
            rows = await cell.look(
                "select pid from pg_stat_activity where datname = current_database()"
                " and usename in ('leasehold_api', 'leasehold_worker')"
            )
            for row in dice.sample(rows, min(2, len(rows))):
                with suppress(ProcessLookupError):
                    os.kill(row["pid"], signal.SIGTERM)  # what pg_terminate_backend does
                    killed += 1
            await asyncio.sleep(dice.uniform(0, 0.2))  # between two faults, not for an effect
        for caller in callers:
            caller.stop()
        await asyncio.gather(*calling)
        await drained(cell)
        assert (one.stopped().code, two.stopped().code) == (0, 0)
    assert killed > 20
    acknowledged = set().union(*(caller.acknowledged for caller in callers))
    history = await check(
        cell,
        Expected(acknowledged=dict.fromkeys(acknowledged, cell.tenant_a), effects=effects(sink), stopped=("w1", "w2")),
    )
    assert {row["state"] for row in history.outcome} == {"succeeded"}


@pytest.mark.parametrize("end", ["cut", "flow"])
async def test_a_worker_in_a_black_hole_stops_its_attempt_before_another_may_begin_it(
    cell: Cell, shop: Shop, tmp_path: Path, end: str
) -> None:
    sink = tmp_path / "sink"

    async def said(word: str) -> float:
        async def ask() -> float:
            lines = sink.read_text().splitlines() if sink.exists() else []
            return next((float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(word)), 0.0)

        return await eventually(ask, what=word)

    async with proxied(cell.url(Role.WORKER)) as (proxy, url):
        with started("worker", APP, "--name", "hole", env=environment(cell, url)) as hole:
            await has_started(hole)
            job_id = await shop.enqueue("f.watched", {"sink": str(sink)})
            await said("began 1")
            proxy.swallow()
            with started("worker", APP, "--name", "direct", env=environment(cell)) as direct:
                began_again = await said("began 2")
                assert await said("stopped 1") < began_again, "never two at one time"
                if end == "cut":
                    proxy.cut()
                proxy.flow()
                assert (await shop.ended(job_id)).result == 2
                assert await has_stopped(direct) == 0
            again = await shop.run("f.work", {"sink": str(tmp_path / "other")})
            assert again.state is State.SUCCEEDED, "it came back"
            assert await has_stopped(hole) == 0
    expected = Expected(acknowledged=dict.fromkeys((job_id, again.job_id), cell.tenant_a), stopped=("hole", "direct"))
    history = await check(cell, expected)
    names = {row["worker_id"]: row["name"] for row in history.worker}
    lived = [(row["outcome"], names[row["worker_id"]]) for row in history.attempt if row["job_id"] == str(job_id)]
    assert lived == [("lost", "hole"), ("succeeded", "direct")]
