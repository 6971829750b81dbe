"""Jobs at gates on workers that die, and what their history must not show.

python -m tests.faults.gated --jobs 2000 --kills 60 --seed 1
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

from leasehold import json_codec
from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.features.limits import store as gates
from leasehold.features.limits.store import Gates
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.faults.grouped import NURSERY, SHORT
from tests.faults.sink import drained
from tests.worker.running import ENVIRONMENT

#: Starts in a second, and at once after a rest. Both tenants have each of them, but for the last,
#: which they share.
RULES = {"host:one": (30, 1), "host:two": (60, 3), "host:three": (100, 10), "both:one": (40, 2)}
SHARED = "both:one"
#: Groups, so many at once, with this many milliseconds between two starts.
GAPS = {"g1": (1, 40), "g2": (2, 25)}


async def drive(cell: Cell, *, count: int, kills: int, seed: int, marks: Path) -> int:
    """Let jobs of both tenants pass the gates until all have ended; how many processes were killed."""
    dice = random.Random(seed)
    fates = ["dies"] * kills + ["raises"] * (count // 20)
    fates += ["fine"] * (count - len(fates))
    dice.shuffle(fates)
    await _set_rules(cell)
    with started("3", env=cell.environment() | ENVIRONMENT | SHORT, command=NURSERY) as nursery:
        async with cell.database(Role.API) as db:
            while fates:
                size = dice.choice((1, 1, 2, 5, 20))
                orders, fates = fates[:size], fates[size:]
                await _ask(db, cell, orders, dice, marks)
        await drained(cell, seconds=60 + 3 * kills + count / 10)
        killed = nursery.out.count("killed")
        assert nursery.stopped().code == 0
    return killed


async def _set_rules(cell: Cell) -> None:
    async with cell.database(Role.OPERATOR) as db:
        for gate, (rate, burst) in RULES.items():
            if gate == SHARED:
                await gates.set_shared(db, gate, {"rate": rate, "burst": burst})
            else:
                for tenant in (cell.tenant_a, cell.tenant_b):
                    await Gates(db, tenant).set(gate, rate=rate, burst=burst)


async def _ask(db: Database, cell: Cell, fates: Sequence[str], dice: random.Random, marks: Path) -> None:
    orders = [
        json_codec.encode({"fate": fate, "seconds": dice.uniform(0, 0.02), "marks": str(marks)}) for fate in fates
    ]
    options: dict[str, Any] = {"max_attempts": 50}
    if (gate := dice.choice([None, *RULES])) is not None:
        options["gate"] = gate
    if (group := dice.choice([None, None, None, *GAPS])) is not None:
        limit, gap_ms = GAPS[group]
        options |= {"group": group, "group_limit": limit, "group_gap_s": gap_ms / 1000}
    tenant = dice.choice((cell.tenant_a, cell.tenant_b))
    await jobs.enqueue(db, tenant, "f.grouped", orders, options)


async def starts_of(cell: Cell) -> dict[str, list[int]]:
    """When attempts started, by what limits them, in microseconds of the database's clock."""
    found: dict[str, list[int]] = defaultdict(list)
    for row in await cell.look(
        "select a.tenant_id, j.gate, j.group_key, leasehold.micros(a.started_at) as at"
        " from leasehold.attempt a join leasehold.job j on j.job_id = a.job_id order by a.started_at"
    ):
        if row["gate"]:
            found[row["gate"] if row["gate"] == SHARED else f"{row['tenant_id']} {row['gate']}"].append(row["at"])
        if row["group_key"]:
            found[f"{row['tenant_id']} {row['group_key']}"].append(row["at"])
    return found


def violations(starts: dict[str, list[int]]) -> list[str]:
    """I9 for rates: every start conforms to GCRA with its gate's rate and burst, or keeps its group's gap."""
    found = []
    for limited, moments in starts.items():
        name = limited.split()[-1]
        rate, burst = RULES.get(name, (0, 1))
        slot = ceil(1_000_000 / rate) if rate else GAPS[name][1] * 1000
        free_at = -(10**18)
        for at in moments:
            if at < free_at:
                found.append(f"I9 {limited}: {free_at - at} µs too early at {at}")
            free_at = max(free_at, at - (burst - 1) * slot) + slot
    return found


async def main(arguments: argparse.Namespace) -> int:
    async with apart() as cell:
        with tempfile.TemporaryDirectory() as marks:
            killed = await drive(
                cell, count=arguments.jobs, kills=arguments.kills, seed=arguments.seed, marks=Path(marks)
            )
        starts = await starts_of(cell)
        [row] = await cell.look(
            "select count(*) filter (where outcome = 'lost') as lost, max(finished_at) - min(started_at) as took"
            " from leasehold.attempt"
        )
    found = violations(starts)
    told = (
        f"{arguments.jobs} jobs, {killed} kills, {row['lost']} lost attempts in {row['took']}, {len(found)} violations"
    )
    print(told, *found[:20], sep="\n")
    for limited, moments in sorted(starts.items()):
        seconds = (moments[-1] - moments[0]) / 1e6
        print(f"{limited:50} {len(moments):6} starts in {seconds:6.1f} s, {len(moments) / max(seconds, 1):6.1f}/s")
    return len(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(asyncio.run(main(parser.parse_args())) > 0)
