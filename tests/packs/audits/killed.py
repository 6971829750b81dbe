"""Audits on workers that die, and a run that nobody disturbed: what they leave must be the same.

python -m tests.packs.audits.killed --seeds 20
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from uuid import UUID

from leasehold.access import Access
from leasehold.client import Backend
from leasehold.engine import migrate
from leasehold.engine.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.settings import Settings
from leasehold_packs.audits import pack, requests
from leasehold_packs.audits.handlers import QUEUE
from leasehold_packs.audits.options import Options
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.net.world import Site, serving
from tests.packs.audits.test_runs import document
from tests.worker.running import ENVIRONMENT

NURSERY = (sys.executable, "-m", "tests.faults.nursery", "3", "leasehold_packs.audits.handlers:app")
PAGES = 150
#: How long an answer took is nobody's doing.
_TABLES = {
    "url": "url, state, status, depth, in_sitemap, hops, media_type, body, bytes, title, indexable, words, simhash",
    "link": "from_key, n, to_key, fragment, words, nofollow",
    "issue": "check_id, key, severity, evidence",
}


def site(seed: int) -> Site:
    """Pages that link to each other at random, some of them to nothing."""
    dice = random.Random(seed)
    names = [f"/{n}" for n in range(PAGES)]
    pages = {"/": document("Start", *names[:10])}
    for n, name in enumerate(names):
        links = [names[(n + 1) % PAGES], *dice.sample(names, 5), f"/gone/{n}" if dice.random() < 0.1 else name]
        pages[name] = document(f"Page {n % 140}", *links, words="word " * dice.choice((50, 250)))
    return Site(pages)


async def run(cell: Cell, port: int, *, kills: int, dice: random.Random) -> tuple[str, int]:
    """The digest of what a run leaves, and how many workers it cost."""
    killed = 0
    environment = cell.environment() | ENVIRONMENT
    environment |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
    async with cell.database(Role.API) as db:
        access = Access(Backend(Settings(), db), cell.tenant_a, "test")
        with started(env=environment, command=NURSERY) as nursery:
            async with access.transaction() as tx:
                asked = await requests.ask(tx, cell.tenant_a, f"http://127.0.0.1:{port}/", Options(), force=True)
            while await _state(access, asked.run_id) == "running":
                await asyncio.sleep(dice.uniform(0.05, 0.3))
                if killed < kills and (victim := _child(nursery.process.pid, dice)):
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
                        killed += 1
    return await _digest(cell, asked.run_id), killed


async def _state(access: Access, run_id: UUID) -> str:
    async with access.transaction() as tx:
        return str((await requests.get_run(tx, run_id))["state"])


def _child(parent: int, dice: random.Random) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False).stdout.split()
    return int(dice.choice(found)) if found else None


async def _digest(cell: Cell, run_id: UUID) -> str:
    hashed = sha256()
    for table, columns in _TABLES.items():
        rows = await cell.look(
            f"select {columns} from leasehold_audits.{table} where run_id = '{run_id}'"
            + (" and check_id <> 'slow_first_byte'" if table == "issue" else "")
            + " order by 1, 2"
        )
        for row in rows:
            hashed.update(str(sorted(row.items())).encode())
    return hashed.hexdigest()[:16]


async def main(seeds: range) -> int:
    different = total = 0
    async with apart() as cell:
        await migrate.migrate(cell.cluster.url(cell.name), packs=[pack.files])
        async with cell.database(Role.OPERATOR) as operator:
            await create_queue(operator, QUEUE)
        for seed in seeds:
            dice = random.Random(seed)
            async with serving(site(seed)) as port:
                calm, _ = await run(cell, port, kills=0, dice=dice)
                rough, killed = await run(cell, port, kills=10, dice=dice)
            different += calm != rough
            total += killed
            print(f"seed {seed}: {calm} undisturbed, {rough} with {killed} workers killed", flush=True)
    print(f"{len(seeds)} seeds from {seeds[0]}, {total} workers killed, {different} runs left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds))))
