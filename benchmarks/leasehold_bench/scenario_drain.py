"""Scenarios C, D, F, G, J and K: how fast workers empty a queue.

A rate is that of the starts, by the database's clock: (n - 1) / (last start - first start). The start of the processes
is not in it, and neither is the report of the last batch.
"""

import time
from collections.abc import AsyncIterator
from datetime import datetime

from leasehold_bench import history
from leasehold_bench.scratch_database import Rows, ScratchDatabase
from leasehold_bench.sizes import LIMIT_SECONDS, Bench, Measures, expect

#: Of J: the jobs of each run in order, one at a time.
GROUPS = 1_000


async def drain_by_one(bench: Bench) -> AsyncIterator[Measures]:
    yield {"C drain/s x1": await _filled_and_drained(bench, processes=1)}


async def drain_by_two(bench: Bench) -> AsyncIterator[Measures]:
    yield {"D drain/s x2": await _filled_and_drained(bench, processes=2)}


async def drain_of_backlog(bench: Bench) -> AsyncIterator[Measures]:
    async with ScratchDatabase.open(bench.server) as here:
        seconds = await here.enqueue_bulk(bench.sizes.backlog)
        loaded: Measures = {"F load s": seconds}
        for _ in range(bench.repetitions):
            yield loaded | {"F drain/s, backlog": await drained(here, bench.sizes.drain, leave=True)}
            loaded = {}


async def drain_under_snapshot(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.snapshot
    async with ScratchDatabase.open(bench.server) as here:
        await here.enqueue_bulk(jobs)
        async with here.old_snapshot():
            since = await drain(here, jobs)
        windows = await here.rates(since, bench.sizes.window)
    yield {"G first/s": windows[0], "G last/s": windows[-1], "G windows/s": windows}


async def drain_of_groups(bench: Bench) -> AsyncIterator[Measures]:
    async with ScratchDatabase.open(bench.server) as here:
        await here.enqueue_grouped(bench.sizes.drain, groups=GROUPS)
        yield {"J drain/s, groups": await drained(here, bench.sizes.drain)}


async def drain_after_history(bench: Bench) -> AsyncIterator[Measures]:
    async with ScratchDatabase.open(bench.server) as here:
        began = time.monotonic()
        await history.load(here.settings, bench.sizes.history)
        loaded: Measures = {"K load s": time.monotonic() - began, "K database MB": await here.megabytes()}
        for _ in range(bench.repetitions):
            await here.enqueue_bulk(bench.sizes.drain)
            yield loaded | {"K drain/s, history": await drained(here, bench.sizes.drain)}
            loaded = {}


async def _filled_and_drained(bench: Bench, *, processes: int) -> float:
    async with ScratchDatabase.open(bench.server) as here:
        await here.enqueue_bulk(bench.sizes.drain)
        return await drained(here, bench.sizes.drain, processes=processes)


async def drained(here: ScratchDatabase, jobs: int, *, processes: int = 1, leave: bool = False) -> float:
    """Jobs a second, from the first start to the last by the database's clock."""
    return (await here.starts(await drain(here, jobs, processes=processes, leave=leave))).per_second


async def drain(here: ScratchDatabase, jobs: int, *, processes: int = 1, leave: bool = False) -> datetime:
    """Run all jobs (or, with ``leave``, so many of them); since when. Void unless each has one attempt and outcome."""
    before = await here.rows()
    async with here.workers(processes) as workers:
        since = await here.resume()
        complete = await here.attempted(jobs, since, workers, limit_s=LIMIT_SECONDS)
    done = (await here.rows()).since(before)
    expect(done, Rows(0, done.attempt, done.attempt) if leave or not complete else Rows(0, jobs, jobs))
    return since
