"""Runs on workers that die, with an abort in the middle, and runs that nobody disturbed: what they leave is the same.

python -m tests.packs.postings.killed --seeds 20
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from difflib import unified_diff
from hashlib import sha256
from uuid import UUID

from leasehold.access import Access
from leasehold.client import Backend
from leasehold.engine import migrate
from leasehold.engine.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.settings import Settings
from leasehold_packs.postings import pack, requests
from leasehold_packs.postings.handlers import QUEUE
from leasehold_packs.postings.options import GAP, Options
from leasehold_packs.postings.requests import NewSource
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.net.world import serving
from tests.packs.postings.replay import SHAPES, Board, Boards, Job
from tests.worker.running import ENVIRONMENT

NURSERY = (sys.executable, "-m", "tests.faults.nursery", "3", "leasehold_packs.postings.handlers:app")
#: Ids, times and how often a list was looked at are nobody's doing.
_LEFT = {
    "posting": "select external_id, state, title, locations, digest, version, reopened, reposts, currency,"
    " yearly_max::text,"
    " (select o.external_id || o.source_id::text = p.external_id || p.source_id::text from leasehold_postings.posting o"
    "  where o.posting_id = p.cluster_id) as is_head"
    " from leasehold_postings.posting p where tenant_id = $1 order by external_id, source_id in ("
    "  select source_id from leasehold_postings.source where board = 'lever'), digest",
    "version": "select external_id, n, v.digest, minor, valid_to is null as holds from leasehold_postings.version v"
    " join leasehold_postings.posting using (posting_id) where v.tenant_id = $1 order by 1, 2, 3",
    "event": "select external_id, kind, diff::text from leasehold_postings.event e"
    " join leasehold_postings.posting using (posting_id) where e.tenant_id = $1 order by external_id, event_id",
    "word": "select word, n from leasehold_postings.word where tenant_id = $1 and n <> 0 order by 1",
}


def boards(seed: int, *, postings: int) -> list[Board]:
    dice = random.Random(seed)
    made = [Board(shape) for shape in SHAPES]
    for id_ in range(postings):
        words = " ".join(f"word{dice.randrange(500)}" for _ in range(80))
        text = f"{words}\nSalary: ${dice.randrange(50, 90)},000 - ${dice.randrange(90, 150)},000 per year"
        job = Job(id=id_, title=f"Engineer {id_ % 9}", locations=(dice.choice(("Berlin", "Paris", "Rome")),), text=text)
        made[id_ % len(made)].jobs[id_] = job
    return made


def mutate(made: list[Board], seed: int) -> None:
    """Some salaries, some places, one title, and two that close on each board."""
    dice = random.Random(seed)
    for board in made:
        ids = sorted(board.jobs)
        dice.shuffle(ids)
        for id_ in ids[:2]:
            board.change(id_, text=board.jobs[id_].text.replace("Salary: $", "Salary: $1"))
        board.change(ids[2], locations=("Oslo",))
        board.change(ids[3], title="Chief of everything")
        for id_ in ids[4:6]:
            del board.jobs[id_]


class Disturbed:
    """Three runs of a tenant, on workers of which some are killed, the second one aborted and asked for again."""

    def __init__(
        self, cell: Cell, access: Access, nursery: int, dice: random.Random, kills: int, *, aborts: bool
    ) -> None:
        self.cell, self.access, self.nursery, self.dice = cell, access, nursery, dice
        self.kills, self.aborts, self.killed, self.aborted = kills, aborts, 0, 0

    async def runs(self, port: int, made: list[Board], seed: int) -> None:
        for board in made:
            new = NewSource(board=board.shape, slug=board.slug, base=f"http://127.0.0.1:{port}", company="Acme")
            async with self.access.transaction() as tx:
                await requests.add_source(tx, self.access.tenant_id, new, Options())
        await self._run()
        mutate(made, seed)
        if self.aborts:
            await self._run(abort=True)
        await self._run()
        await self._run()

    async def _run(self, *, abort: bool = False) -> None:
        async with self.access.transaction() as tx:
            asked = await requests.ask_run(tx, self.access.tenant_id, "test", details="all")
        looks = 0
        while await self._state(asked.run_id) == "running":
            await asyncio.sleep(self.dice.uniform(0.02, 0.2))
            looks += 1
            if self.killed < self.kills and self.dice.random() < 0.5:
                self._kill()
            if abort and looks > 3:
                await self._abort(asked.run_id)
                return

    async def _abort(self, run_id: UUID) -> None:
        async with self.access.transaction() as tx:
            if (await requests.get_run(tx, run_id))["state"] != "running":
                return
            flow_id = await requests.stop_run(tx, run_id, "enough")
        assert flow_id
        await self.access.client.flows.cancel(flow_id)
        self.aborted += 1

    async def _state(self, run_id: UUID) -> str:
        async with self.access.transaction() as tx:
            return str((await requests.get_run(tx, run_id))["state"])

    def _kill(self) -> None:
        found = subprocess.run(["pgrep", "-P", str(self.nursery)], capture_output=True, text=True, check=False)
        if children := found.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(self.dice.choice(children)), signal.SIGKILL)
                self.killed += 1


async def tenant_left(cell: Cell, tenant: UUID) -> list[str]:
    return [
        f"{name} {sorted(row.items())}"
        for name, query in _LEFT.items()
        for row in await cell.look(query.replace("$1", f"'{tenant}'"))
    ]


async def _ended_badly(cell: Cell, tenant: UUID) -> str:
    """Attempts whose worker was lost, and jobs that had no attempt left."""
    [row] = await cell.look(
        f"select (select count(*) from leasehold.attempt where outcome = 'lost' and tenant_id = '{tenant}') as lost,"
        f" (select count(*) from leasehold.outcome where state = 'dead' and tenant_id = '{tenant}') as dead"
    )
    return f"{row['lost']} attempts lost, {row['dead']} jobs dead"


def _digest(rows: list[str]) -> str:
    return sha256("\n".join(rows).encode()).hexdigest()[:16]


async def compare(cell: Cell, seed: int, *, kills: int, postings: int = 80) -> tuple[list[str], list[str], Disturbed]:
    """The rows that undisturbed runs leave, those of disturbed ones, and what was done to them."""
    await migrate.migrate(cell.cluster.url(cell.name), packs=[pack.files])
    async with cell.database(Role.OPERATOR) as operator:
        await create_queue(operator, QUEUE)
    left: list[list[str]] = []
    async with serving(served := Boards([])) as port, cell.database(Role.API) as db:
        environment = cell.environment() | ENVIRONMENT
        environment |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
        environment |= {GAP: "0.001"}
        # Longer than a busy machine leaves a worker without a turn: three attempts of an item are for the kills.
        environment |= {"LEASEHOLD_LEASE_SECONDS": "6", "LEASEHOLD_BEAT_SECONDS": "1"}
        with started(env=environment, command=NURSERY) as nursery:
            for tenant, hurt in ((cell.tenant_a, False), (cell.tenant_b, True)):
                served.boards = boards(seed, postings=postings)
                access = Access(Backend(Settings(), db), tenant, "test")
                dice = random.Random(seed)
                disturbed = Disturbed(cell, access, nursery.process.pid, dice, kills if hurt else 0, aborts=hurt)
                await disturbed.runs(port, served.boards, seed)
                left.append(await tenant_left(cell, tenant))
    return left[0], left[1], disturbed


async def main(seeds: range) -> int:
    os.environ[GAP] = "0.001"
    different = killed = aborted = 0
    for seed in seeds:
        async with apart() as cell:
            calm, rough, done = await compare(cell, seed, kills=8)
            badly = await _ended_badly(cell, cell.tenant_b)
        different += calm != rough
        killed += done.killed
        aborted += done.aborted
        told = f"{_digest(calm)} undisturbed, {_digest(rough)} with {done.killed} killed, {done.aborted} aborted"
        print(f"seed {seed}: {told}, {badly}", flush=True)
        for line in list(unified_diff(calm, rough, "undisturbed", "killed", lineterm="", n=0))[:20]:
            print(line[:500], flush=True)
    hurt = f"{killed} workers killed, {aborted} runs aborted"
    print(f"{len(seeds)} seeds from {seeds[0]}, {hurt}, {different} left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds))))
