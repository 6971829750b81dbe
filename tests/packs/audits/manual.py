"""The manual of PostgreSQL 15, audited by worker processes of which one is killed; broken on purpose, and restored.

python -m tests.packs.audits.manual
"""

import argparse
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from uuid import UUID

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.plugins.discovery import files_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import feature, service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import SiteAudit
from leasehold_packs.audits.start_run import QUEUE
from tests.cell import Cell, apart
from tests.cli.program import started
from tests.corpora.data import CORPORA
from tests.fetch.world import Site, moved, page, serving
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

ARCHIVE = CORPORA / "site-postgresql-doc-15" / "html.tar.gz"
HTML = "Content-Type: text/html; charset=utf-8"
PAGES, LINKS, PAIRS, DEPTH = 1168, 23_389, 11_087, 2
KNOWN = {
    "description_missing": 1168, "lang_missing": 1168, "viewport_missing": 1168, "canonical_missing": 1168,
    "h1_missing": 1153, "thin": 332, "title_duplicate": 4, "link_broken": 0, "fragment_broken": 0,
}  # fmt: skip
Finding = tuple[str, str]


def manual() -> dict[str, bytes]:
    """Bodies by path."""
    found = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.isfile():
                body = archive.extractfile(member)
                assert body
                found["/" + member.name.rpartition("/")[2]] = body.read()
    return found


def answers(bodies: dict[str, bytes]) -> dict[str, bytes]:
    return {
        path: page(body, HTML if path.endswith(".html") else "Content-Type: image/svg+xml")
        for path, body in bodies.items()
    }


def mutate(bodies: dict[str, bytes], seed: int) -> tuple[dict[str, bytes], set[Finding]]:
    """A manual that lacks five pages, has a loop, a hidden page and three equal titles; and what is new then.

    What must be found is worked out here from the text of the pages, without the code that is tested.
    """
    dice = random.Random(seed)
    links = {path: _links(body) for path, body in bodies.items() if path.endswith(".html")}
    plain = [path for path in sorted(links) if path != "/index.html" and _title(bodies[path]) in _once(bodies)]
    chosen = dice.sample(plain, 10)
    gone, loop, hidden, equal = chosen[:5], chosen[5], chosen[6], chosen[7:]
    changed = answers(bodies)
    new: set[Finding] = set()
    for path in gone:
        del changed[path]
        new.add(("status_client_error", path))
    changed[loop] = moved("/around-and-around.html")
    changed["/around-and-around.html"] = moved(loop)
    new.add(("redirect_loop", loop))
    changed[hidden] = page(bodies[hidden].replace(b"<head>", b'<head><meta name="robots" content="noindex">'), HTML)
    new.add(("noindex", hidden))
    for path in equal:
        title = b"<title>A title that three pages have in common</title>"
        changed[path] = page(re.sub(rb"<title>.*?</title>", title, bodies[path], flags=re.DOTALL), HTML)
        new.add(("title_duplicate", path))
    away = {*gone, loop}
    return changed, new | {("link_broken", path) for path, to in links.items() if to & away and path not in away}


def _links(body: bytes) -> set[str]:
    hrefs = re.findall(rb'<a\b[^>]*?\bhref="([^"]*)"', body)
    return {"/" + unescape(href.decode()).partition("#")[0] for href in hrefs if b":" not in href}


def _title(body: bytes) -> bytes:
    found = re.search(rb"<title>(.*?)</title>", body, re.DOTALL)
    return found[1] if found else b""


def _once(bodies: dict[str, bytes]) -> set[bytes]:
    titles = [_title(body) for path, body in bodies.items() if path.endswith(".html")]
    return {title for title in titles if titles.count(title) == 1}


class Crew:
    """Worker processes, and audits of a server on loopback by them."""

    def __init__(self, access: Access, nursery: int, base: str) -> None:
        self.access, self.nursery, self.base = access, nursery, base

    async def audit(self, *, kill: bool = False, max_pages: int = 5000) -> SiteAudit:
        """One run to its end, in which one worker is killed half-way."""
        async with self.access.transaction() as tx:
            url, options = f"{self.base}/index.html", Options(max_pages=max_pages)
            asked = await start_run.request_run(tx, url, options, force=True)
        if kill:
            await eventually(lambda: self._has(asked.run_id, PAGES // 2), what="half of the pages", seconds=600)
            os.kill(_child(self.nursery), signal.SIGKILL)
        await eventually(lambda: self._is_over(asked.run_id), what="the end", seconds=600)
        return await self._run(asked.run_id)

    async def compared(self, before: SiteAudit, after: SiteAudit) -> tuple[set[Finding], set[Finding]]:
        """New and fixed. How long an answer took is nobody's doing."""
        async with self.access.transaction() as tx:
            found = await service.compare(tx, before.run_id, after.run_id)
        new, fixed = (
            {(one.check_id, one.url.removeprefix(self.base)) for one in issues} for issues in (found.new, found.fixed)
        )
        return _steady(new), _steady(fixed)

    async def _run(self, run_id: UUID) -> SiteAudit:
        async with self.access.transaction() as tx:
            return await service.get_run(tx, run_id)

    async def _has(self, run_id: UUID, pages: int) -> bool:
        return bool((await self._run(run_id)).urls.get("fetched", 0) >= pages)

    async def _is_over(self, run_id: UUID) -> bool:
        await asyncio.sleep(0.1)
        return bool(not (await self._run(run_id)).is_running)


def _child(parent: int) -> int:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=True)
    return int(found.stdout.split()[0])


def _steady(found: set[Finding]) -> set[Finding]:
    return {one for one in found if one[0] != "slow_first_byte"}


@asynccontextmanager
async def crew(cell: Cell, site: Site, *, workers: int = 4) -> AsyncIterator[Crew]:
    await migrate.migrate(cell.cluster.url(cell.name), packs=[files_of(feature)])
    async with cell.database(Role.OPERATOR, connections=1) as operator:
        await create_queue(operator, QUEUE)
    command = (sys.executable, "-m", "tests.faults.nursery", str(workers), "leasehold_packs.audits.handlers:app")
    async with serving(site) as port, cell.database(Role.API) as db:
        environment = cell.environment() | ENVIRONMENT | {"LEASEHOLD_LEASE_SECONDS": "5", "LEASEHOLD_SLOTS": "8"}
        environment |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.0001"}
        access = Access(Backend(Settings(), db), cell.tenant_a, "test")
        with started(env=environment, command=command) as nursery:
            yield Crew(access, nursery.process.pid, f"http://127.0.0.1:{port}")


async def known(cell: Cell, run: SiteAudit) -> None:
    """The answers that are known of the manual."""
    told = run.report
    assert told
    assert (told["pages"], told["links"], told["depth"], told["failed"]) == (PAGES, LINKS, DEPTH, 0), told
    assert {name: told["checks"].get(name, 0) for name in KNOWN} == KNOWN
    [pairs] = await cell.look(
        f"select count(distinct (from_key, to_key)) as n from leasehold_audits.link where run_id = '{run.run_id}'"
    )
    assert pairs["n"] == PAIRS, pairs


async def main(seed: int) -> None:
    bodies = manual()
    site = Site(answers(bodies))
    async with apart() as cell, crew(cell, site) as workers:
        began = time.monotonic()
        first = await workers.audit(kill=True)
        await known(cell, first)
        print(f"{PAGES} pages, {LINKS} links, one of 4 workers killed: {time.monotonic() - began:.1f} s, all as known")
        second = await workers.audit()
        assert await workers.compared(first, second) == (set(), set())
        print("again: nothing new, nothing fixed")
        site.pages, expected = mutate(bodies, seed)
        third = await workers.audit()
        new, _ = await workers.compared(second, third)
        assert new == expected, f"not found: {expected - new}; found as well: {new - expected}"
        print(f"broken: exactly {len(expected)} new findings")
        site.pages = answers(bodies)
        fourth = await workers.audit()
        _, fixed = await workers.compared(third, fourth)
        assert fixed == expected, f"not fixed: {expected - fixed}; fixed as well: {fixed - expected}"
        assert await workers.compared(second, fourth) == (set(), set())
        print(f"restored: exactly these {len(expected)} fixed, and everything as before")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(main(parser.parse_args().seed))
