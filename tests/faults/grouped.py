"""Grouped jobs on workers that die, and what their history must not show.

python -m tests.faults.grouped --jobs 2000 --kills 100 --seed 1
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.faults.sink import drained
from tests.worker.running import ENVIRONMENT

LIMITS = {f"g{n}": limit for n, limit in enumerate((1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 5, 5))}
NURSERY = (sys.executable, "-m", "tests.faults.nursery")
SHORT = {"LEASEHOLD_LEASE_SECONDS": "1", "LEASEHOLD_BEAT_SECONDS": "0.3", "LEASEHOLD_SLOTS": "10"}


async def drive(cell: Cell, *, count: int, kills: int, seed: int, marks: Path) -> tuple[dict[str, list[UUID]], int]:
    """The jobs of each group in the order they were asked for, all ended; and how many processes were killed."""
    dice = random.Random(seed)
    fates = ["dies"] * kills + ["raises"] * (count // 20)
    fates += ["fine"] * (count - len(fates))
    dice.shuffle(fates)
    asked: dict[str, list[UUID]] = defaultdict(list)
    environment = cell.environment() | ENVIRONMENT | SHORT
    with started("3", env=environment, command=NURSERY) as nursery:
        async with cell.database(Role.API) as db:
            while fates:
                group, size = dice.choice(list(LIMITS)), dice.choice((1, 1, 2, 5))
                orders, fates = fates[:size], fates[size:]
                asked[group] += await _ask(db, cell, group, orders, dice, marks)
        await drained(cell, seconds=60 + 3 * kills)
        killed = nursery.out.count("killed")
        assert nursery.stopped().code == 0
    return asked, killed


async def _ask(
    db: Database, cell: Cell, group: str, fates: Sequence[str], dice: random.Random, marks: Path
) -> list[UUID]:
    orders = [f'{{"fate": "{fate}", "seconds": {dice.uniform(0, 0.02)}, "marks": "{marks}"}}' for fate in fates]
    options = {"group": group, "group_limit": LIMITS[group], "max_attempts": 50}
    return [job.job_id for job in await jobs.enqueue(db, cell.tenant_a, "f.grouped", orders, options)]


def violations(attempts: Sequence[dict[str, Any]], asked: dict[str, list[UUID]]) -> list[str]:
    """I9: no more of a group at any instant than it may; I10: first starts in the order of the enqueues."""
    found = []
    of = {str(job_id): group for group, job_ids in asked.items() for job_id in job_ids}
    moments: dict[str, list[tuple[str, int]]] = defaultdict(list)
    started_at: dict[str, str] = {}
    for row in attempts:
        # Ends before starts: what starts in the moment of an end follows it.
        moments[of[row["job_id"]]] += [(row["started_at"], 1), (row["finished_at"], -1)]
        first = started_at.get(row["job_id"], row["started_at"])
        started_at[row["job_id"]] = min(first, row["started_at"])
    for group, changes in moments.items():
        running = 0
        for at, change in sorted(changes):
            running += change
            if running > LIMITS[group]:
                found.append(f"I9 {group}: {running} at {at}")
    for group, job_ids in asked.items():
        for earlier, later in pairwise(map(str, job_ids)):
            if started_at[later] < started_at[earlier]:
                found.append(f"I10 {group}: {later} started before {earlier}")
    return found


async def attempts_of(cell: Cell) -> list[dict[str, Any]]:
    """With times of one width, so that their texts are in their order."""
    return await cell.look(
        "select job_id, outcome, to_char(started_at, 'YYYYMMDDHH24MISSUS') as started_at,"
        " to_char(finished_at, 'YYYYMMDDHH24MISSUS') as finished_at from leasehold.attempt"
    )


async def main(arguments: argparse.Namespace) -> int:
    async with apart() as cell:
        with tempfile.TemporaryDirectory() as marks:
            asked, killed = await drive(
                cell, count=arguments.jobs, kills=arguments.kills, seed=arguments.seed, marks=Path(marks)
            )
        attempts = await attempts_of(cell)
    found = violations(attempts, asked)
    lost = sum(row["outcome"] == "lost" for row in attempts)
    told = f"{arguments.jobs} jobs, {killed} kills, {lost} lost attempts, {len(found)} violations"
    print(told, *found[:20], sep="\n")
    return len(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(asyncio.run(main(parser.parse_args())) > 0)
