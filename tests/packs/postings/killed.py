"""Runs while workers, the server and PostgreSQL are killed, one of them aborted, leave what undisturbed runs leave.

python -m tests.packs.postings.killed --seeds 20
"""

import argparse
import asyncio
import random
import sys
from collections import Counter
from difflib import unified_diff
from typing import Any
from uuid import UUID

from leasehold.database.database import Role
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.postings import feature, service
from leasehold_packs.postings.handlers import QUEUE
from leasehold_packs.postings.model import GAP, NewSource, Options
from tests.cell import Cell
from tests.faults.conftest import Own
from tests.fetch.world import serving
from tests.packs.killer import Killer, digest, ended_badly, kills, prepared
from tests.packs.postings.replay import SHAPES, Board, Boards, Job

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


class Tenant:
    """Runs over the boards of one tenant, of which one may be aborted and asked for again."""

    def __init__(self, killer: Killer, served: Boards, victims: list[str], *, aborts: bool) -> None:
        self.killer, self.served, self.victims, self.aborts, self.aborted = killer, served, victims, aborts, 0

    async def runs(self, seed: int) -> None:
        half = len(self.victims) // 2
        await self._run("one", self.victims[:half])
        mutate(self.served.boards, seed)
        if self.aborts:
            await self._abort("aborted")
        await self._run("two", self.victims[half:])
        await self._run("three", [])

    async def _run(self, key: str, victims: list[str]) -> None:
        await self.killer.until(_is_over, await self._start(key), victims)

    async def _start(self, key: str) -> str:
        asked = await self.killer.asked("POST", "/v1/postings/runs", {"details": "all"}, key=key)
        return f"/v1/postings/runs/{asked['run_id']}"

    async def _abort(self, key: str) -> None:
        """In the middle: a list has been read, and the site holds the next answer back."""
        self.served.hold_after_a_list()
        run = await self._start(key)
        await self.killer.until(_has_begun, run, [])
        await self.killer.asked("POST", f"{run}/cancel")
        self.served.goes_on.set()
        self.aborted += (await self.killer.asked("GET", run))["state"] == "canceled"


def _is_over(run: dict[str, Any]) -> bool:
    return bool(run["state"] != "running")


def _has_begun(run: dict[str, Any]) -> bool:
    return any(source["pages"] for source in run["sources"])


async def tenant_left(cell: Cell, tenant: UUID) -> list[str]:
    return [
        f"{name} {sorted(row.items())}"
        for name, query in _LEFT.items()
        for row in await cell.look(query.replace("$1", f"'{tenant}'"))
    ]


async def compare(
    own: Own, seed: int, *, workers: int, postings: int = 80
) -> tuple[list[str], list[str], Counter[str], int]:
    """The rows that undisturbed runs leave, those of disturbed ones, who was killed, and how many were aborted."""
    dice, left = random.Random(seed), []
    async with serving(served := Boards([])) as port:
        for tenant, victims in ((own.cell.tenant_a, []), (own.cell.tenant_b, kills(dice, workers))):
            served.boards = boards(seed, postings=postings)
            await _add_sources(own.cell, tenant, port, served.boards)
            allow = {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", GAP: "0.001"}
            killer = Killer(own, "postings", tenant, dice, **allow)
            asking = Tenant(killer, served, victims, aborts=bool(victims))
            async with killer.running():
                await asking.runs(seed)
            left.append(await tenant_left(own.cell, tenant))
    return left[0], left[1], killer.killed, asking.aborted


async def _add_sources(cell: Cell, tenant: UUID, port: int, made: list[Board]) -> None:
    async with cell.database(Role.API) as db, Access(Backend(Settings(), db), tenant, "test").transaction() as tx:
        for board in made:
            new = NewSource(board=board.shape, slug=board.slug, base=f"http://127.0.0.1:{port}", company="Acme")
            await service.add_source(tx, new, Options())


async def main(seeds: range, workers: int) -> int:
    different, killed, aborted = 0, Counter[str](), 0
    for seed in seeds:
        async with prepared(feature, QUEUE) as own:
            calm, rough, done, stopped = await compare(own, seed, workers=workers)
            badly = await ended_badly(own.cell)
        different += calm != rough
        killed += done
        aborted += stopped
        told = f"{digest(calm)} undisturbed, {digest(rough)} with {dict(done)} killed, {stopped} aborted"
        print(f"seed {seed}: {told}; {badly}", flush=True)
        for line in list(unified_diff(calm, rough, "undisturbed", "killed", lineterm="", n=0))[:20]:
            print(line[:500], flush=True)
    hurt = f"killed {dict(killed)}, {aborted} runs aborted"
    print(f"{len(seeds)} seeds from {seeds[0]}, {hurt}, {different} left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument(
        "--workers", type=int, default=4, help="how many of them are killed, beside server and PostgreSQL"
    )
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds), given.workers)))
