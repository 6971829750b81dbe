"""One server with data and one browser for all tests of a process."""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Request,
    async_playwright,
    expect,
)

from tests.cell import Cluster
from tests.connections import Kept
from tests.dashboard.addresses import action_of
from tests.dashboard.pack_world import fill_packs
from tests.dashboard.world import World, world
from tests.waiting import PATIENCE_SECONDS

expect.set_options(timeout=PATIENCE_SECONDS * 1000)

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: axe-core 4.14.0 (MPL-2.0), as its package has it.
_AXE = (Path(__file__).parent / "assets" / "axe.min.js").read_text()


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The server as people see it."""

    world: World
    browser: Browser
    sent: set[str] = field(default_factory=set)  # what forms have done: their routes
    pages: dict[str, Page] = field(default_factory=dict)  # of people, while no test uses them

    @asynccontextmanager
    async def visit(self, who: str = "operator", **options: Any) -> AsyncIterator[Page]:
        """A page in a window of its own, with nothing open yet."""
        page = await self._new_page(who, **options)
        try:
            yield page
        finally:
            await page.context.close()

    @asynccontextmanager
    async def open(self, path: str, who: str = "operator", **options: Any) -> AsyncIterator[Page]:
        """A page, of which the browser must have nothing to complain."""
        async with self.visit(who, **options) if options else self._left_page(who) as page:
            with listening(page) as complaints:
                await page.goto(path)
                yield page
                assert complaints == []

    @asynccontextmanager
    async def _left_page(self, who: str) -> AsyncIterator[Page]:
        """One that another test has left without a trace: a new one takes a third of a second."""
        page = self.pages.pop(who, None) or await self._new_page(who)
        try:
            yield page
            await page.evaluate("localStorage.clear(); sessionStorage.clear()")
            await page.goto("about:blank")
            await page.context.clear_cookies()
            await self._sign_in(page, who)
        except BaseException:
            await page.context.close()
            raise
        self.pages[who] = page

    async def _new_page(self, who: str, *, width: int = 1280, **options: Any) -> Page:
        viewport: Any = {"width": width, "height": 860}
        context = await self.browser.new_context(base_url=self.world.url, viewport=viewport, **options)
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        context.on("request", lambda request: note(request, self.sent))
        page = await context.new_page()
        await self._sign_in(page, who)
        return page

    async def _sign_in(self, page: Page, who: str) -> None:
        world = self.world
        session = {"name": world.cookie, "value": world.sessions[who], "url": world.url}
        await page.context.add_cookies([session])  # type: ignore[list-item]


def note(request: Request, sent: set[str]) -> None:
    if request.method == "POST":
        sent.add(action_of(urlsplit(request.url).path))


@contextmanager
def listening(page: Page) -> Iterator[list[str]]:
    """What the browser complains of in this block: errors of scripts, and breaches of the policy."""
    complaints, heard, failed = _listen(page)
    yield complaints
    page.remove_listener("console", heard)
    page.remove_listener("pageerror", failed)


def listen(page: Page) -> list[str]:
    """The same from now on."""
    return _listen(page)[0]


def _listen(page: Page) -> tuple[list[str], Callable[[ConsoleMessage], None], Callable[[Error], None]]:
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def failed(error: Error) -> None:
        complaints.append(str(error))

    page.on("console", heard)
    page.on("pageerror", failed)
    return complaints, heard, failed


async def axe(page: Page) -> list[str]:
    """What makes the page hard to use for some people."""
    found: list[str] = await page.evaluate(
        _AXE + "; axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(' | ')}`))"
    )
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def here(cluster: Cluster, kept_connections: Kept) -> AsyncIterator[World]:
    cell = await cluster.clone()
    try:
        async with world(cell) as made:
            yield made
    finally:
        await cell.give_back()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def packed(here: World) -> World:
    """The same with things of packs: for those tests that look at them, as they take a while to make."""
    here.made.update(await fill_packs(here))
    return here


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_site(here: World) -> AsyncIterator[Site]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium, or set CHROMIUM to where it is")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield Site(world=here, browser=browser)
        finally:
            await browser.close()


@pytest.fixture
def site(shared_site: Site, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A test sends the forms that it says it does, ``@does("/queues/{queue}/pause")``, and no others."""
    shared_site.sent.clear()
    yield shared_site
    said = request.node.get_closest_marker("does")
    assert shared_site.sent == set(said.args if said else ())
