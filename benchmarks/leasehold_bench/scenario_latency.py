"""Scenarios E and I: how long jobs wait for their start."""

import asyncio
import math
import statistics
import time
from collections.abc import AsyncIterator, Sequence

from leasehold_bench import handlers
from leasehold_bench.scratch_database import TURN, Rows, ScratchDatabase
from leasehold_bench.server import TENANTS
from leasehold_bench.sizes import IDLE_SECONDS, LIMIT_SECONDS, Bench, Measures, expect
from leasehold_bench.worker_processes import Workers

_WARM_UP = 5
#: Long enough that the small flood lasts as long as the small tenants' jobs keep coming.
_NAP_SECONDS = 0.1


async def pick_up(bench: Bench) -> AsyncIterator[Measures]:
    jobs = _WARM_UP + bench.sizes.probes
    async with ScratchDatabase.open(bench.server) as here:
        async with here.workers(1) as workers:
            await here.resume()
            await asyncio.sleep(IDLE_SECONDS)
            waits = [await _probe(here, number, workers) for number in range(jobs)]
        expect(await here.rows(), Rows(jobs, jobs, jobs))
    milliseconds = [seconds * 1000 for seconds in waits[_WARM_UP:]]
    yield {"E p50 ms": statistics.median(milliseconds), "E p99 ms": percentile(milliseconds, 0.99)}


async def _probe(here: ScratchDatabase, number: int, workers: Workers) -> float:
    """Seconds from before the enqueue to the handler's first line."""
    tenant = TURN[number % len(TURN)]
    job = await here.app.enqueue(handlers.PROBE, handlers.Probe(t0=time.monotonic()), tenant=tenant)
    await asyncio.sleep(0.02 + number * 7 % 30 / 1000)
    client = await here.app.client(tenant)
    while not (ended := await client.get(job.job_id)).state.is_outcome:
        workers.require_alive()
        await asyncio.sleep(0.005)
    return float(ended.result)


async def flooded(bench: Bench) -> AsyncIterator[Measures]:
    sizes = bench.sizes
    calm = await _small_waits(bench, flood=sizes.flood)
    wild = await _small_waits(bench, flood=sizes.great_flood)
    yield {
        f"I p95 ms, flood of {sizes.flood:,}": percentile(calm, 0.95),
        f"I p95 ms, flood of {sizes.great_flood:,}": percentile(wild, 0.95),
    }


async def _small_waits(bench: Bench, *, flood: int) -> list[float]:
    """Milliseconds that the jobs of ninety-nine tenants wait while one tenant has all the rest of the queue."""
    flooding, *small = TENANTS
    jobs = bench.sizes.small
    async with ScratchDatabase.open(bench.server) as here:
        await here.allow(flooding, max_queued=10 * flood)
        await here.enqueue_bulk(flood, handlers.NAP, lambda _: handlers.Nap(seconds=_NAP_SECONDS), tenant=flooding)
        async with here.workers(1) as workers:
            await here.resume()
            for number in range(jobs):
                await here.app.enqueue(handlers.NOOP, handlers.Noop(number=number), tenant=small[number % len(small)])
                await asyncio.sleep(0.01)
            await here.started(jobs, small, workers, limit_s=LIMIT_SECONDS)
        rows = await here.rows()
        expect(rows, Rows(flood + jobs, rows.attempt, rows.attempt))
        return await here.waits(small)


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(len(values) * share) - 1]
