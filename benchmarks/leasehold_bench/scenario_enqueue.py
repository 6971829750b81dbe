"""Scenarios A, B and H: how fast a program can ask for work."""

from collections.abc import AsyncIterator

from leasehold.bench.bench import Bench, Measures, expect
from leasehold.bench.scratch import Rows, Scratch

CALLERS = 50


async def enqueue(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.enqueue
    async with Scratch.open(bench.place) as here:
        seconds = await here.enqueue(jobs)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {"A enqueue/s": jobs / seconds}


async def bulk(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.bulk
    async with Scratch.open(bench.place) as here:
        seconds = await here.enqueue_bulk(jobs)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {"B bulk/s": jobs / seconds}


async def concurrent(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.concurrent
    async with Scratch.open(bench.place) as here:
        seconds = await here.enqueue_at_once(jobs, callers=CALLERS)
        expect(await here.rows(), Rows(jobs, 0, 0))
    yield {f"H enqueue/s, {CALLERS} callers": jobs / seconds}
