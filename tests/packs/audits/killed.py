"""Audits while workers, the server and PostgreSQL are killed leave what undisturbed ones leave.

python -m tests.packs.audits.killed --seeds 20
"""

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from difflib import unified_diff
from hashlib import sha256
from typing import Any
from uuid import UUID

import httpx

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.plugins.discovery import files_of
from leasehold_packs.audits import feature
from leasehold_packs.audits.start_run import QUEUE
from tests.cell import Cell
from tests.cli.program import Program, started
from tests.faults.conftest import Own, own_server
from tests.fetch.world import Site, serving
from tests.http.conftest import PEPPER, bearer, make_key
from tests.packs.audits.held import Held
from tests.packs.audits.test_runs import document
from tests.worker.running import ENVIRONMENT

NURSERY = (sys.executable, "-m", "tests.faults.nursery", "3", "leasehold_packs.audits.handlers:app")
#: Without ids and moments, and without how long an answer took: they are nobody's doing.
_TABLES = (
    "select url, state, status, depth, source, in_sitemap, hops, media_type, body, bytes, title, indexable, words,"
    " simhash, problem from leasehold_audits.url where run_id = '{run}' order by 1",
    "select from_key, n, to_key, fragment, words, nofollow from leasehold_audits.link"
    " where run_id = '{run}' order by 1, 2",
    "select check_id, key, severity, evidence from leasehold_audits.issue"
    " where run_id = '{run}' and check_id <> 'slow_first_byte' order by 1, 2",
    "select check_id, key, url, severity, state from leasehold_audits.finding"
    " where tenant_id = '{tenant}' and check_id <> 'slow_first_byte' order by 1, 2",
    "select type, step, message from leasehold_audits.event where run_id = '{run}' and type <> 'metric'"
    " and message not like 'score %' order by 1, 2, 3",
    "select url, status, problem from leasehold_audits.outside where tenant_id = '{tenant}' order by 1",
    "select from_key, n, to_key from leasehold_audits.outside_link where run_id = '{run}' order by 1, 2",
    "select state, pages, part, progress, settles from leasehold_audits.run where tenant_id = '{tenant}'",
    "select type, count(*) as n from leasehold.webhook_event where tenant_id = '{tenant}' group by 1 order by 1",
)


def site(seed: int, pages: int, outside: str) -> Site:
    """Pages that link to each other at random, some of them to nothing, some to another site."""
    dice = random.Random(seed)
    names = [f"/{n}" for n in range(pages)]
    made = {"/": document("Start", *names[:10])}
    for n, name in enumerate(names):
        links = [names[(n + 1) % pages], *dice.sample(names, 5), f"/gone/{n}" if dice.random() < 0.1 else name]
        links += [f"{outside}/{dice.randrange(6)}"] if dice.random() < 0.2 else []
        made[name] = document(f"Page {n % (pages - 5)}", *links, words="word " * dice.choice((50, 250)))
    return Site(made)


class Killer:
    """Workers and a server for one tenant, which are killed one after another while an audit runs."""

    def __init__(self, own: Own, tenant: UUID, allow: str, dice: random.Random, kills: list[str]) -> None:
        self.own, self.cell, self.tenant, self.dice, self.kills = own, own.cell, tenant, dice, kills
        self.killed: Counter[str] = Counter()
        self._env = self.cell.environment() | ENVIRONMENT | {"LEASEHOLD_FETCH_ALLOW": allow}
        self._env |= {"LEASEHOLD_FETCH_GAP_SECONDS": "0.0001", "LEASEHOLD_PACKS": "audits"}
        self._env |= {"LEASEHOLD_KEY_PEPPER": PEPPER}
        self._servers = ExitStack()

    async def audit(self, url: str) -> UUID:
        """From the request to the end of the run, over HTTP; its id."""
        self._headers = bearer(await make_key(self.cell, self.tenant)) | {"Idempotency-Key": "one"}
        order = {"url": url, "force": True, "options": {"max_external": 20}}
        with self._servers, started(env=self._env, command=NURSERY) as nursery:
            server = self._serve()
            run_id = UUID((await self._asked("POST", "/v1/audits", order))["run_id"])
            while (await self._asked("GET", f"/v1/audits/{run_id}"))["state"] == "running":
                await asyncio.sleep(self.dice.uniform(0.05, 0.3))
                if self.kills:
                    server = await self._kill(self.kills.pop(), nursery, server)
        return run_id

    def _serve(self) -> Program:
        server = self._servers.enter_context(started("serve", "--port", "0", env=self._env))
        server.said("serving")
        found = re.search(r"serving (http://\S+)/v1", server.err)
        assert found
        self._base = found[1]
        return server

    async def _asked(self, method: str, path: str, body: Any = None) -> Any:
        """An answer; what a killed server did not answer is asked again, under the same key."""
        async with httpx.AsyncClient(headers=self._headers, timeout=30) as client:
            while True:
                with suppress(httpx.TransportError):
                    answer = await client.request(method, self._base + path, json=body)
                    if answer.status_code < 500:
                        assert answer.is_success, answer.text
                        return answer.json()
                await asyncio.sleep(0.1)

    async def _kill(self, what: str, nursery: Program, server: Program) -> Program:
        self.killed[what] += 1
        if what == "worker":
            if victim := _child(nursery.process.pid, self.dice):
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        elif what == "server":
            server.kill()
            server.ended()
            return self._serve()
        else:
            endpoint = await asyncio.to_thread(self.own.server.start)  # it runs: this is who it is
            os.kill(endpoint.pid, signal.SIGQUIT)
            await asyncio.to_thread(self.own.server.stop)
            await asyncio.to_thread(self.own.server.start)
        return server


def _child(parent: int, dice: random.Random) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False).stdout.split()
    return int(dice.choice(found)) if found else None


async def left(cell: Cell, tenant: UUID, run_id: UUID) -> list[str]:
    """All rows of the pack that are somebody's doing."""
    return [
        f"{n} {sorted(row.items())}"
        for n, query in enumerate(_TABLES)
        for row in await cell.look(query.format(run=run_id, tenant=tenant))
    ]


async def compare(seed: int, *, workers: int, pages: int = 150) -> tuple[list[str], list[str], Counter[str]]:
    """What an undisturbed audit leaves, what a disturbed one leaves, and who was killed."""
    dice = random.Random(seed)
    kills = ["worker"] * workers + ["server", "postgres"]
    dice.shuffle(kills)
    async with own_server() as own, serving(Held({f"/{n}": document(f"Other {n}") for n in range(4)})) as other:
        await migrate.migrate(own.cell.cluster.url(own.cell.name), packs=[files_of(feature)])
        async with own.cell.database(Role.OPERATOR) as operator:
            await create_queue(operator, QUEUE)
        async with serving(site(seed, pages, f"http://127.0.0.1:{other}")) as port:
            allow = f"127.0.0.1:{port},127.0.0.1:{other}"
            rows = []
            for tenant, hurt in ((own.cell.tenant_a, []), (own.cell.tenant_b, kills)):
                killer = Killer(own, tenant, allow, dice, hurt)
                run_id = await killer.audit(f"http://127.0.0.1:{port}/")
                rows.append(await left(own.cell, tenant, run_id))
    return rows[0], rows[1], killer.killed


def _digest(rows: list[str]) -> str:
    return sha256("\n".join(rows).encode()).hexdigest()[:16]


async def main(seeds: range, workers: int) -> int:
    different, killed = 0, Counter[str]()
    for seed in seeds:
        calm, rough, done = await compare(seed, workers=workers)
        different += calm != rough
        killed += done
        print(f"seed {seed}: {_digest(calm)} undisturbed, {_digest(rough)} with {dict(done)} killed", flush=True)
        for line in list(unified_diff(calm, rough, "undisturbed", "killed", lineterm="", n=0))[:20]:
            print(line, flush=True)
    print(f"{len(seeds)} seeds from {seeds[0]}, killed {dict(killed)}, {different} runs left something else")
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument(
        "--workers", type=int, default=8, help="how many of them are killed, beside server and PostgreSQL"
    )
    given = parser.parse_args()
    sys.exit(asyncio.run(main(range(given.first, given.first + given.seeds), given.workers)))
