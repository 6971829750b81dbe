"""What a child of a fan-out with fan-in costs, in wide flows and in narrow ones: the engine alone, without handlers.

python -m tests.faults.fan_cost --narrow 100 --wide 10000
"""

import argparse
import asyncio
import sys
import time
from uuid import UUID

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.features.flows import store as flows
from leasehold.features.flows.model import chord, step
from leasehold.features.flows.store import Flows
from leasehold.job import AttemptOutcome, ClaimedJob
from tests.cell import Cell, apart
from tests.engine.test_life import register

BATCH = 50
WORKERS = 4


async def micros_per_child(cell: Cell, width: int, children: int) -> tuple[float, float]:
    """To start the flows, and to run them to their ends."""
    async with cell.database(Role.WORKER, connections=WORKERS + 1) as db:
        mine = Flows(db, cell.tenant_a, lambda: None)
        worker = await register(db, slots=10**6, lease_s=1e6)
        began = time.perf_counter()
        started = [await mine.start(chord([step("t.leaf")] * width, step("t.sum"))) for _ in range(children // width)]
        half = time.perf_counter()
        while await mine.list(state="running", limit=1):
            await asyncio.gather(*(_drain(db, worker) for _ in range(WORKERS)))
            await flows.tend_flows(db)
        ended = time.perf_counter()
        assert {(await mine.get(flow_id)).state for flow_id in started} == {"succeeded"}
        await db.call("end_worker", worker)
    return 1e6 * (half - began) / children, 1e6 * (ended - half) / children


async def _drain(db: Database, worker: UUID) -> None:
    grants: list[ClaimedJob] = []
    while True:
        ended = [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in grants]
        _, grants = await jobs.exchange(db, worker, ["default"], BATCH, ended)
        if not grants:
            return


async def main(arguments: argparse.Namespace) -> int:
    async with apart() as cell:
        await cell.change("update leasehold.tenant set max_running = 1000000, max_queued = 100000000")
        await micros_per_child(cell, arguments.narrow, arguments.children // 4)  # warm
        cost: dict[int, list[float]] = {arguments.narrow: [], arguments.wide: []}
        for _ in range(arguments.rounds):
            for width, seen in cost.items():
                start, run = await micros_per_child(cell, width, arguments.children)
                seen.append(start + run)
                print(f"width {width}: {start:.0f} µs to start, {run:.0f} µs to run, for each child", flush=True)
    narrow, wide = (sorted(cost[width])[arguments.rounds // 2] for width in (arguments.narrow, arguments.wide))
    print(f"width {arguments.wide} costs {wide / narrow:.2f} times as much for each child as width {arguments.narrow}")
    return int(wide > 1.5 * narrow)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--narrow", type=int, default=100)
    parser.add_argument("--wide", type=int, default=10000)
    parser.add_argument("--children", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    sys.exit(asyncio.run(main(parser.parse_args())))
