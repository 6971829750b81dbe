"""Scenarios A, B and H: how fast a program can ask for work."""

from collections.abc import AsyncIterator

from leasehold_bench.scratch_database import Rows, ScratchDatabase
from leasehold_bench.sizes import Bench, Measures, expect

CALLERS = 50


async def enqueue(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.enqueue
    async with ScratchDatabase.open(bench.server) as here:
        seconds = await here.enqueue(jobs)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {"A enqueue/s": jobs / seconds}


async def bulk(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.bulk
    async with ScratchDatabase.open(bench.server) as here:
        seconds = await here.enqueue_bulk(jobs)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {"B bulk/s": jobs / seconds}


async def concurrent(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.concurrent
    async with ScratchDatabase.open(bench.server) as here:
        seconds = await here.enqueue_at_once(jobs, callers=CALLERS)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {f"H enqueue/s, {CALLERS} callers": jobs / seconds}
