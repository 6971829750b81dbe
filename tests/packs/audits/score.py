"""Precision and recall on a site with planted faults.

``python -m tests.packs.audits.score --seed 7 --size 1`` prints them for each kind.

The site is served by TLS under names of its own, which lead to loopback.
Addresses with `http://` lead to another server.
"""

import argparse
import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import trustme

from leasehold import Leasehold
from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.plugins.discovery import app_of, files_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import feature, service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.start_run import QUEUE
from tests.cell import Cell, apart
from tests.fetch.world import PUBLIC, Names, world
from tests.packs.audits.truth import CHECK_OF, kinds_found
from tests.sites.builder import SIZES, BuiltSite, build
from tests.sites.score import Score, score
from tests.sites.server import serving
from tests.waiting import eventually
from tests.worker.running import FAST, running

BAR = 0.97


async def main(seed: int, size: int, *, shows_places: bool) -> None:
    site = build(seed, size)
    async with apart() as cell:
        await migrate.migrate(cell.cluster.url(cell.name), packs=[files_of(feature)])
        async with cell.database(Role.OPERATOR, connections=1) as operator:
            await create_queue(operator, QUEUE)
        began = time.monotonic()
        issues = await audit(cell, site)
    seconds = time.monotonic() - began
    print(f"seed {seed}, size {size}: {len(site.truth)} addresses in {seconds:.0f} s")
    found = kinds_found(site.truth, issues)
    show(score(site.truth, found))
    if shows_places:
        show_places(site, found)


async def audit(cell: Cell, site: BuiltSite) -> set[tuple[str, str]]:
    """What the pack finds: check and address."""
    async with serving_all(site) as ports:
        settings = replace(FAST, lease_seconds=1e8, fetch_gap_seconds=0.0001)
        names = Names({host: [PUBLIC] for host in hosts_of(site)})
        async with (
            world(settings, names=names, ssl_context=ports.client) as made,
            cell.database(Role.API) as api,
        ):
            made.dialer.servers |= {(PUBLIC, 443): ports.https, (PUBLIC, 80): ports.http}
            app = Leasehold(settings)
            app._fetcher = made.fetcher
            app.include(app_of(feature))
            async with running(cell, app, settings), cell.without_back_offs():
                return await _issues(Access(Backend(Settings(), api), cell.tenant_a, "score"), site)


async def _issues(access: Access, site: BuiltSite) -> set[tuple[str, str]]:
    options = Options(max_pages=20_000, max_external=10_000, max_images=10_000)
    async with access.transaction() as tx:
        asked = await start_run.request_run(tx, site.home, options, force=True)

    async def has_ended() -> bool:
        await asyncio.sleep(0.2)
        async with access.transaction() as tx:
            return not (await service.get_run(tx, asked.run_id)).is_running

    await eventually(has_ended, what="the end of the audit", seconds=3600)
    async with access.transaction() as tx:
        run = await service.get_run(tx, asked.run_id)
        assert run.report, run.reason
        found: set[tuple[str, str]] = set()
        for check in run.report["checks"]:
            part = await service.list_issues(tx, run.run_id, check=check, limit=20_000)
            assert not part.has_more
            found |= {(one.check_id, one.url) for one in part.data}
    return found


@dataclass(frozen=True)
class Ports:
    https: int
    http: int
    client: ssl.SSLContext


@asynccontextmanager
async def serving_all(site: BuiltSite) -> AsyncIterator[Ports]:
    """All hosts of the site, with TLS and without."""
    authority, server = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    client = ssl.create_default_context()
    authority.issue_cert(*hosts_of(site)).configure_cert(server)
    authority.configure_trust(client)
    async with serving(site.answers, tls=server) as https, serving(site.answers) as http:
        yield Ports(https, http, client)


def hosts_of(site: BuiltSite) -> list[str]:
    return sorted({urlsplit(url).hostname or "" for url in site.answers})


def show(scores: Mapping[str, Score]) -> None:
    print(f"{'kind':24} {'check':24} planted found wrong precision recall")
    for kind, one in scores.items():
        check = CHECK_OF.get(kind)
        below = check and not all(value is None or value >= BAR for value in (one.precision, one.recall))
        print(
            f"{kind:24} {check or 'no check yet':24} {one.planted:7} {one.found:5} {one.wrong:5}"
            f" {_part(one.precision):>9} {_part(one.recall):>6}{'  below' if below else ''}"
        )
    checked = {kind: one for kind, one in scores.items() if CHECK_OF.get(kind)}
    planted, found = (sum(getattr(one, name) for one in checked.values()) for name in ("planted", "found"))
    wrong = sum(one.wrong for one in scores.values())
    print(
        f"{len(checked)} kinds with a check, {len(scores) - len(checked)} without;"
        f" of the first: planted {planted}, found {found}, wrong {wrong}"
    )


def _part(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def show_places(site: BuiltSite, found: Collection[tuple[str, str]]) -> None:
    planted = {(kind, url) for url, kinds in site.truth.items() for kind in kinds if CHECK_OF[kind]}
    for what, places in (("not found", planted - set(found)), ("wrong", set(found) - planted)):
        for kind, url in sorted(places):
            beside = ", ".join(sorted(site.truth.get(url, ()))) or site.twins.get(url, "clean")
            print(f"{what}: {kind} {url} ({beside})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.packs.audits.score")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--size", type=int, choices=range(len(SIZES)), default=1)
    parser.add_argument("--places", action="store_true", help="where the pack and the truth differ")
    given = parser.parse_args()
    asyncio.run(main(given.seed, given.size, shows_places=given.places))
