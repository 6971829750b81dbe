"""What packs have to show: shops that are watched, boards that are followed, an audit and a passport, all of acme's.

A worker of this process does the work, against servers on loopback; what is asked is asked through the pages.
"""

import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

import httpx

from leasehold.plugins.discovery import InstalledFeature, assembled, discover
from leasehold_packs.postings import demo
from leasehold_packs.postings.model import GAP
from tests.cell import Cell
from tests.dashboard.world import PACKS, World
from tests.fetch.world import Site, page, serving
from tests.http.conftest import SECRET_KEY
from tests.packs.monitors.watching import HTML, item
from tests.waiting import eventually
from tests.worker.running import FAST, running


def packs() -> list[InstalledFeature]:
    return discover(PACKS)


class Clerk:
    """Asks in a browser's name: the operator, who looks at one tenant."""

    def __init__(self, client: httpx.AsyncClient, csrf: str, tenant: str) -> None:
        self._client, self._csrf = client, csrf
        self._chosen = {"tenant": tenant}

    async def post(self, path: str, **form: Any) -> str:
        """The address that the answer leads to."""
        answer = await self._client.post(path, params=self._chosen, data={"csrf": self._csrf, **form})
        assert answer.status_code == 303, f"{path}: {answer.status_code} {answer.text[-2000:]}"
        return answer.headers["location"].partition("?")[0]

    async def read(self, path: str, **query: Any) -> str:
        answer = await self._client.get(path, params={**query, **self._chosen})
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        return answer.text

    async def until(self, path: str, wanted: str) -> str:
        """The page, once it says so."""

        async def look() -> str:
            text = await self.read(path)
            return text if re.search(wanted, text) else ""

        return await eventually(look, what=f"{wanted!r} on {path}", seconds=120)


@asynccontextmanager
async def clerk_of(here: World, tenant: str) -> AsyncIterator[Clerk]:
    headers = {"Origin": here.url, "Sec-Fetch-Site": "same-origin"}
    cookies = {here.cookie: here.sessions["operator"]}
    # A new connection for each request: an idle one may be closed by the server as it is about to
    # be used.
    each = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(
        base_url=here.url, cookies=cookies, headers=headers, timeout=60, limits=each
    ) as client:
        found = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/jobs")).text)
        assert found
        yield Clerk(client, found[1], tenant)


async def fill_packs(
    here: World,
    tenant: str = "acme",
    *,
    postings: int = 12,
    prices: Sequence[str] = ("17.00",),
    unfinished: bool = True,
) -> dict[str, UUID]:
    """Things of each pack, by what they are an example of."""
    near, far, board = Site(), Site(), demo.MadeBoard(postings=postings)
    async with AsyncExitStack() as stack:
        ports = [await stack.enter_async_context(serving(one)) for one in (near, far)]
        ports.append(await stack.enter_async_context(demo.serving(board, 0)))
        clerk = await stack.enter_async_context(clerk_of(here, tenant))
        async with working(here, *ports):
            made = await watch_shops(clerk, near, far, ports, prices)
            made |= await follow_board(clerk, board, ports[2])
            made |= await audit_a_site(clerk, ports[0])
        if unfinished:
            made["run"] = last(await clerk.post(f"/postings/sources/{made['source']}/sync"))  # nobody works on it
    made |= await put_passport(here.cell, here.acme)
    return made


@asynccontextmanager
async def working(here: World, *ports: int) -> AsyncIterator[None]:
    """A worker for what packs ask for; it reaches these servers on loopback."""
    os.environ[GAP] = "0.001"
    allowed = ",".join(f"127.0.0.1:{port}" for port in ports)
    settings = replace(FAST, fetch_allow=allowed, fetch_gap_seconds=0.0001, secret_keys=SECRET_KEY)
    app = assembled(packs(), settings=settings)
    own = ",".join(sorted(set(app.queues) - {"default"}))  # the others' jobs stay as they are
    async with running(here.cell, app, replace(settings, queues=own)):
        yield


async def watch_shops(clerk: Clerk, near: Site, far: Site, ports: list[int], prices: Sequence[str]) -> dict[str, UUID]:
    """A product at two shops, whose price changes at one of them; two more that were found and wait for approval."""
    links = "".join(f'<a href="/p/{n}">{n}</a>' for n in (1, 2, 3))
    words = "<h1>A shop</h1>" + "<p>What people need in house and garden, made with care and sold here.</p>" * 60
    near.pages["/"] = far.pages["/"] = page(f"{words}{links}".encode(), HTML)
    near.pages |= {f"/p/{n}": item("20.00", n=n) for n in (1, 2, 3)}
    far.pages["/p/1"] = item("18.50", n=1)
    product, other = [await clerk.post("/monitors", url=f"http://127.0.0.1:{port}/p/1") for port in ports[:2]]
    for one in (product, other):
        await hurry(clerk, one)
        await clerk.until(one, r"<polyline")
    for before, price in pairwise(("20.00", *dict.fromkeys(prices))):
        near.pages["/p/1"] = item(price, n=1)
        await clerk.post(f"{product}/check")
        await clerk.until(product, f"{before} EUR → {price} EUR")
    site = await site_of(clerk, product)
    await clerk.post(f"{site}/discover")
    await clerk.until(site, "Waiting for approval")
    await clerk.post("/monitors/rules", name="Ten percent", condition="percent", value="10", direction="down")
    group = id_in(await clerk.until("/monitors/groups", "/monitors/groups/"), "/monitors/groups/")
    rule = id_in(await clerk.read("/monitors/rules"), "/monitors/rules/")
    candidate = re.search(r'name="candidate" value="([^"]+)"', await clerk.read(site))
    assert candidate
    return {
        "product": last(product), "site": last(site), "group": group, "rule": rule, "candidate": UUID(candidate[1])
    }  # fmt: skip


async def site_of(clerk: Clerk, product: str) -> str:
    return f"/monitors/sites/{id_in(await clerk.read(product), '/monitors/sites/')}"


async def hurry(clerk: Clerk, product: str) -> None:
    """Let its site be asked as often as may be."""
    given = {"cron": "0 3 * * *", "zone": "Europe/Berlin", "spread_minutes": "0", "requests_per_minute": "600"}
    given |= {"threshold_percent": "1", "retention_days": "90"}
    await clerk.post(f"{await site_of(clerk, product)}/settings", **given)


async def follow_board(clerk: Clerk, board: demo.MadeBoard, port: int) -> dict[str, UUID]:
    """A board that hires, edits and closes; in the end most of its postings are gone at once."""
    found = {"board": "greenhouse", "slug": demo.SLUG, "base": f"http://127.0.0.1:{port}", "company": "Made-up Ltd"}
    await clerk.post("/postings/searches", name="Engineers", query="q=engineer")
    first = await clerk.post("/postings/sources", **found)
    await clerk.until(first, r"pill.*succeeded")
    source = f"/postings/sources/{id_in(await clerk.read(first), '/postings/sources/')}"
    board.change()
    second = await clerk.post(f"{source}/sync")
    await clerk.until(second, r"pill.*succeeded")
    posting = await changed_posting(clerk)
    for id_ in sorted(board.jobs)[: len(board.jobs) * 2 // 3]:
        del board.jobs[id_]
    third = await clerk.post(f"{source}/sync")
    await clerk.until(third, "held")
    detected = await clerk.post("/postings/sources/detect", url=f"{found['base']}/jobs")
    await clerk.until(detected, "cannot be read|is not read|Follow it")
    await clerk.post(f"/postings/{posting}/application", stage="applied", note="by mail", due="2030-01-31")
    application = id_in(await clerk.read("/postings/board"), "/postings/board/")
    search = id_in(await clerk.read("/postings/searches"), "/postings/searches/")
    return {
        "source": last(source), "posting": posting, "ended_run": last(second), "application": application,
        "search": search, "detected": last(detected),
    }  # fmt: skip


async def changed_posting(clerk: Clerk) -> UUID:
    """One whose salary is another than it was."""
    ids = dict.fromkeys(re.findall(r"/postings/([0-9a-f-]{36})", await clerk.read("/postings")))
    for one in ids:
        if "What changed" in await clerk.read(f"/postings/{one}"):
            return UUID(one)
    raise AssertionError("no posting has changed")


async def audit_a_site(clerk: Clerk, port: int) -> dict[str, UUID]:
    run = await clerk.post("/audits", url=f"http://127.0.0.1:{port}/")
    await clerk.until(run, "succeeded|failed")
    site = id_in(await clerk.read(run), "/audits/sites/")
    finding = id_in(await clerk.until(f"/audits/sites/{site}", "/audits/findings/"), "/audits/findings/")
    return {"audit": last(run), "audited": site, "finding": finding}


#: A model with a sheet, of which a cell could not be read, and two snapshots.
_PASSPORT = """
with passport as (
  insert into leasehold_passports.passport (tenant_id, name, category)
  values ('{tenant}', 'Battery M1', 'lmt') returning *
), document as (
  insert into leasehold_passports.document (tenant_id, passport_id, name, role)
  select tenant_id, passport_id, 'battery.csv', 'facts' from passport returning *
), version as (
  insert into leasehold_passports.document_version
    (tenant_id, document_id, number, sha256, media_type, bytes, state, encoding, facts, errors, author, valid_until)
  select tenant_id, document_id, 1, repeat('0', 64), 'text/csv',
    convert_to($$pointer,value,unit\n/mass,24.5,kg\nname,M1,\n$$, 'UTF8'),
    'read', 'utf-8', 1, 1, 'ada', '2999-01-01' from document returning *
), fact as (
  insert into leasehold_passports.fact
    (tenant_id, passport_id, pointer, type, text, unit, document_version_id, document, ref, state, message, author)
  select v.tenant_id, p.passport_id, f.pointer, f.type, f.text, f.unit, v.document_version_id, v.sha256, f.ref, f.state,
    f.message, 'ada'
  from version v, passport p, (values
    ('/mass', 'number', '24.5', 'kg', 'B2', 'ok', null), (null, 'absent', '', null, 'A3', 'error', 'is no JSON pointer')
  ) f(pointer, type, text, unit, ref, state, message) returning *
), snapshot as (
  insert into leasehold_passports.snapshot (tenant_id, passport_id, author)
  select tenant_id, passport_id, 'ada' from passport, generate_series(1, 2)
), issuer as (
  insert into leasehold_passports.issuer (tenant_id, slug, name, host, did, host_proven_at)
  select tenant_id, 'acme', 'Acme', 'acme.localhost', 'did:web:acme.localhost:v1:passports:issuers:acme', now()
  from passport
)
insert into leasehold_passports.completeness (tenant_id, passport_id, share, missing, errors)
select tenant_id, passport_id, 12, 69, 1 from passport
"""


async def put_passport(cell: Cell, tenant: UUID) -> dict[str, UUID]:
    await cell.change(_PASSPORT.format(tenant=tenant))
    [row] = await cell.look("select passport_id from leasehold_passports.passport")
    [document] = await cell.look("select document_version_id from leasehold_passports.document_version")
    before, after = await cell.look("select snapshot_id from leasehold_passports.snapshot")
    return {
        "passport": UUID(row["passport_id"]),
        "passport_document": UUID(document["document_version_id"]),
        "passport_before": UUID(before["snapshot_id"]),
        "passport_after": UUID(after["snapshot_id"]),
    }


def id_in(text: str, before: str) -> UUID:
    found = re.search(re.escape(before) + r"([0-9a-f-]{36})", text)
    assert found, before
    return UUID(found[1])


def last(path: str) -> UUID:
    return UUID(path.rpartition("/")[2])
