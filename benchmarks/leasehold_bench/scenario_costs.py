"""Scenarios L and M: what a worker process and a job cost."""

import asyncio
from collections.abc import AsyncIterator

from leasehold_bench.scratch_database import Rows, ScratchDatabase
from leasehold_bench.sizes import IDLE_SECONDS, LIMIT_SECONDS, Bench, Measures, expect

#: A session counts its commits at the latest when it ends.
_EXIT_SECONDS = 0.5


async def memory(bench: Bench) -> AsyncIterator[Measures]:
    jobs = bench.sizes.drain
    async with ScratchDatabase.open(bench.server) as here:
        await here.enqueue_bulk(jobs)
        async with here.workers(1) as workers:
            await asyncio.sleep(IDLE_SECONDS)
            idle = workers.resident_mb()
            since = await here.resume()
            await here.attempted(jobs // 2, since, workers, limit_s=LIMIT_SECONDS)
            busy = workers.resident_mb()
            await here.attempted(jobs, since, workers, limit_s=LIMIT_SECONDS)
        expect(await here.rows(), Rows(jobs, jobs, jobs))
    yield {"L idle MB": idle, "L busy MB": busy}


async def writing(bench: Bench) -> AsyncIterator[Measures]:
    singly, jobs = bench.sizes.enqueue, bench.sizes.drain
    async with ScratchDatabase.open(bench.server) as here:
        start = await here.spent()
        await here.enqueue(singly)
        one_by_one = await here.spent()
        await here.enqueue_bulk(jobs)
        in_bulk = await here.spent()
        await here.app.close()
        async with here.workers(1) as workers:
            await asyncio.sleep(_EXIT_SECONDS)
            before = await here.spent()
            since = await here.resume()
            await here.attempted(singly + jobs, since, workers, limit_s=LIMIT_SECONDS)
        await asyncio.sleep(_EXIT_SECONDS)
        after = await here.spent()
        expect(await here.rows(), Rows(*[singly + jobs] * 3))
    yield {
        "M WAL bytes/job, enqueued one by one": (one_by_one.wal_bytes - start.wal_bytes) / singly,
        "M WAL bytes/job, enqueued in bulk": (in_bulk.wal_bytes - one_by_one.wal_bytes) / jobs,
        "M WAL bytes/job, drained": (after.wal_bytes - before.wal_bytes) / (singly + jobs),
        "M commits/job, drained": (after.commits - before.commits) / (singly + jobs),
    }
