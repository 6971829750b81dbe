"""A step adds many, and one more waits for all of them, on workers that are killed: the barrier opens once.

python -m tests.faults.fanned --width 200 --seeds 50
python -m tests.faults.fanned --width 10000 --seeds 3 --kills 20
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from leasehold.database.database import Role
from leasehold.features.flows.model import chain, step
from leasehold.features.flows.store import Flows
from tests.cell import Cell, apart
from tests.cli.program import Program, started
from tests.faults.apps import TABLE
from tests.faults.grouped import NURSERY
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

SLOTS = {"LEASEHOLD_SLOTS": "20"}
WORKERS = 3


async def drive(cell: Cell, *, width: int, seeds: list[int], kills: int) -> tuple[list[str], int]:
    """One flow for each seed, one after the other; what must not be, and how many processes were killed."""
    await cell.change(TABLE)
    found: list[str] = []
    with started(str(WORKERS), env=cell.environment() | ENVIRONMENT | SLOTS, command=NURSERY) as nursery:
        async with cell.database(Role.API) as db:
            flows = Flows(db, cell.tenant_a, lambda: None)
            for seed in seeds:
                began = time.monotonic()
                order = {"width": width, "seconds": 0.04}
                parts = (step("f.fan", order, attempts=100), step("f.sum", attempts=100))
                flow_id = await flows.start(chain(*parts), name="fanned")
                killed = await _kill_until_ended(flows, flow_id, nursery, random.Random(seed), kills, width)
                await eventually(lambda: _settled(cell), what="the leader's look at what settled late")
                wrong = await violations(cell, flow_id, width)
                found += [f"seed {seed}: {line}" for line in wrong]
                took = time.monotonic() - began
                print(f"seed {seed}: {killed} kills, {took:.1f} s, {len(wrong)} violations", flush=True)
        assert nursery.stopped().code == 0
        total = nursery.out.count("killed")
    return found, total


async def _kill_until_ended(
    flows: Flows, flow_id: UUID, nursery: Program, dice: random.Random, kills: int, width: int
) -> int:
    """Workers die at any moment of the run: in handlers, in calls, between them."""
    killed = 0

    async def over() -> bool:
        nonlocal killed
        if killed < kills and dice.random() < 0.5:
            killed += _kill_one(nursery.process.pid, dice)
            await asyncio.sleep(dice.uniform(0, 0.15 if width < 1000 else 2))
        [flow] = await flows.list(limit=1)
        assert flow.flow_id == flow_id
        return flow.state != "running"

    await eventually(over, what="the end of the flow", seconds=120 + width / 50)
    return killed


def _kill_one(nursery: int, dice: random.Random) -> int:
    children = Path(f"/proc/{nursery}/task/{nursery}/children").read_text().split()
    if not children:
        return 0
    os.kill(int(dice.choice(children)), signal.SIGKILL)
    return 1


async def _settled(cell: Cell) -> bool:
    """Two that end at the same moment may leave a note to look again, also where the other one has seen to it."""
    return not await cell.look("select child from leasehold.unsettled")


async def violations(cell: Cell, flow_id: UUID, width: int) -> list[str]:
    """Every leaf ended once, the barrier opened once and after all of them, and nothing of the flow is left."""
    rows: list[dict[str, Any]] = await cell.look(
        "select s.job_id, j.kind, o.state, o.result, a.n as done, a.started_at, a.finished_at"
        " from leasehold.step s join leasehold.job j using (job_id) left join leasehold.outcome o using (job_id)"
        " left join lateral (select count(*) filter (where outcome = 'succeeded') as n,"
        " to_char(min(started_at), 'YYYYMMDDHH24MISSUS') as started_at,"
        " to_char(max(finished_at), 'YYYYMMDDHH24MISSUS') as finished_at"
        f" from leasehold.attempt a where a.job_id = s.job_id) a on true where s.flow_id = '{flow_id}'"
    )
    found = [f"{row['kind']} {row['job_id']} is {row['state']}, done {row['done']} times" for row in rows
             if row["state"] != "succeeded" or row["done"] != 1]  # fmt: skip
    leaves = [row for row in rows if row["kind"] == "f.leaf"]
    barriers = [row for row in rows if row["kind"] == "f.sum"]
    if len(leaves) != width or len(barriers) != 1:
        found.append(f"{len(leaves)} leaves and {len(barriers)} barriers")
    for barrier in barriers:
        if barrier["result"] != width:
            found.append("the barrier has not the results of all leaves")
        early = sum(row["finished_at"] > barrier["started_at"] for row in leaves)
        if early:
            found.append(f"{early} leaves ended after the barrier opened")
        effects = await cell.look(f"select * from leasehold_test.effect where job_id = '{barrier['job_id']}'")
        if [effect["part"] for effect in effects] != [width]:
            found.append(f"the barrier completed {len(effects)} times")
    left = await cell.look(
        "select 'dep' as place from leasehold.dep union all select 'waiting' from leasehold.waiting"
        " union all select 'unsettled' from leasehold.unsettled union all select 'unwanted' from leasehold.unwanted"
    )
    return found + [f"left behind in {row['place']}" for row in left]


async def main(arguments: argparse.Namespace) -> int:
    seeds = list(range(arguments.first, arguments.first + arguments.seeds))
    async with apart() as cell:
        await cell.change("update leasehold.tenant set max_running = 1000")
        found, killed = await drive(cell, width=arguments.width, seeds=seeds, kills=arguments.kills)
    told = f"width {arguments.width}, {len(seeds)} seeds, {killed} workers killed, {len(found)} violations"
    print(told, *found[:20], sep="\n")
    return len(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--kills", type=int, default=4, help="for each seed, at most")
    sys.exit(asyncio.run(main(parser.parse_args())) > 0)
