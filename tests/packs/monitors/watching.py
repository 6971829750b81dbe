"""A tenant that watches a shop on loopback: a real worker, a server, and a clock to move."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from leasehold import Leasehold, Transaction
from leasehold.database.database import Database
from leasehold.features.webhooks import handlers as webhook
from leasehold.job import Job
from leasehold.plugins.discovery import app_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.monitors import feature, service
from leasehold_packs.monitors.changes import ChangedValue
from leasehold_packs.monitors.demo.shop import Item, product_page
from leasehold_packs.monitors.model_results import CrawlRun, ProductDetail
from tests.cell import Cell
from tests.features.webhooks.hooks import KEY
from tests.fetch.world import Site, page, serving
from tests.waiting import eventually
from tests.worker.running import FAST, running

HTML = "Content-Type: text/html; charset=utf-8"
MINUTE, DAY = 60.0, 86400.0
P = ParamSpec("P")
T = TypeVar("T")


def item(price: str = "20.00", *, n: int = 1, layout: str = "json-ld", noise: int = 0, **given: Any) -> bytes:
    """The answer of a shop for one product."""
    thing = Item(n=n, price=Decimal(price), **given)
    return page(product_page(thing, layout=layout, noise=noise).encode(), HTML)


class Watcher:
    """Asks for what tenant A asks for, waits for jobs, and looks at what is known then."""

    def __init__(self, cell: Cell, access: Access, port: int) -> None:
        self.cell, self.access = cell, access
        self.base = f"http://127.0.0.1:{port}"

    async def ask(
        self, request: Callable[Concatenate[Transaction, P], Awaitable[T]], *args: P.args, **given: P.kwargs
    ) -> T:
        async with self.access.transaction() as tx:
            return await request(tx, *args, **given)

    async def site(self, **settings: Any) -> UUID:
        from leasehold_packs.monitors.model import Settings as Watched

        site = await self.ask(service.put_site, self.access.tenant_id, self.base + "/", Watched(**settings))
        return site.site_id

    async def watch(self, path: str = "/p/1", **given: Any) -> UUID:
        """A product that was read once."""
        product = await self.ask(service.watch, self.access.tenant_id, self.base + path, **given)
        await self.quiet()
        return product.product_id

    async def check(self, product_id: UUID) -> str:
        """What a check says."""
        return str((await self.ended(await self.ask(service.check, product_id))).result)

    async def crawl(self, site_id: UUID, what: str = "crawl") -> CrawlRun:
        """A run over all products of a site, when it has ended."""
        begun = await self.ended(await self.ask(service.crawl, site_id, what=what))

        async def look() -> CrawlRun | None:
            runs = await self.ask(service.list_runs, site_id)
            return next((run for run in runs if str(run.run_id) == begun.result and run.finished_at), None)

        ended = await eventually(look, what="the end of the run", seconds=120)
        assert ended
        return ended

    async def ended(self, job_id: UUID) -> Job:
        async def look() -> Job | None:
            job = await self.access.client.get(job_id)
            return job if job.state.is_outcome else None

        job = await eventually(look, what=f"the end of {job_id}")
        assert job is not None
        assert job.state == "succeeded", f"{job.state}: {(job.error or {}).get('message')}"
        return job

    async def quiet(self) -> None:
        """Until nothing is left that could run now, or that a worker has lost."""

        async def look() -> bool:
            [row] = await self.cell.look(
                "select (select count(*) from leasehold.ready) + (select count(*) from leasehold.lease)"
                " + (select count(*) from leasehold.gated)"
                " + (select count(*) from leasehold.deferred"
                "  where run_at <= leasehold.now() or why in ('lost', 'released')) as n"
            )
            return bool(row["n"] == 0)

        await eventually(look, what="no job that is ready or runs", seconds=120)

    async def pass_time(self, seconds: float) -> None:
        """Time passes, and what was waiting for it is done."""
        await self.cell.pass_time(seconds)
        await self.quiet()

    async def product(self, product_id: UUID) -> ProductDetail:
        return await self.ask(service.get_product, product_id)

    async def changes(self, **filters: Any) -> list[tuple[str, Any, Any]]:
        """Kind, before and after, the oldest first."""
        found = await self.ask(service.list_changes, limit=1000, **filters)
        return [(one.kind, _value(one.before), _value(one.after)) for one in reversed(found)]

    async def events(self, type_: str = "%") -> list[dict[str, Any]]:
        return await self.cell.look(
            "select type, subject_id, data from leasehold.webhook_event"
            f" where type like 'monitors.{type_}' order by event_id"
        )


def known(value: T | None) -> T:
    """What must be there."""
    assert value is not None
    return value


def _value(value: ChangedValue) -> str | None:
    return value.get("price") or value.get("availability") or value.get("state")


@asynccontextmanager
async def watching(cell: Cell, api_db: Database, site: Site, *, allow: str = "") -> AsyncIterator[Watcher]:
    async with serving(site) as port:
        allowed = ",".join(filter(None, (f"127.0.0.1:{port}", allow)))
        # A lease that outlasts every leap of the clock, or the worker would be declared lost in the
        # middle of its work.
        settings = replace(FAST, lease_seconds=1e8, fetch_allow=allowed, fetch_gap_seconds=0.0001, secret_keys=KEY)
        app = Leasehold(settings)
        app.include(app_of(feature))
        app.include(webhook.app)
        async with running(cell, app, settings):
            yield Watcher(cell, Access(Backend(Settings(), api_db), cell.tenant_a, "test"), port)
