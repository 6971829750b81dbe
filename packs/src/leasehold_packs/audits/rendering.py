"""A page as its scripts make it, by a browser that has no network: whatever it wants, it gets from ``ctx.fetch``.

Every request of the page is judged as our own are: addresses, ports, redirects, robots.txt and the gap between
requests. The browser itself is led nowhere: it resolves no name and connects to nothing, so that a socket, a worker or
a prefetch that nobody routes finds no way out. Needs the extra ``browser`` and Chromium.
"""

import asyncio
import os
import shutil
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from leasehold import Context, Fetched, Snooze
from leasehold.errors import BadSetting, FetchError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Request, Route, WebSocketRoute

#: Seconds until a page is taken as it is.
PATIENCE_S = 30.0
#: What a page may ask for, and how much of it.
_WANTED = frozenset(("document", "script", "xhr", "fetch"))
_MOST_REQUESTS = 100
_MOST_BYTES = 5_000_000
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
#: What keeps a browser from connecting to anything, whoever asks it to.
NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
)
_NOT_PASSED_ON = frozenset(("content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"))
#: Browsers are large: so many at once.
_FEW = 2
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


@cache
def chromium() -> str:
    """Where it is; BadSetting says what to install."""
    try:
        import playwright.async_api  # noqa: F401
    except ImportError:
        raise BadSetting(
            "rendering needs playwright, which is not installed", hint="pip install 'leasehold[browser]'"
        ) from None
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise BadSetting("rendering needs Chromium, which is not installed", hint="apt-get install chromium")
    return found


async def render(ctx: Context, fetched: Fetched, *, since: datetime, agent: str, headers: dict[str, str]) -> bytes:
    """The page after its scripts have run, in UTF-8. ``headers`` go to its own site alone."""
    from playwright.async_api import Error, async_playwright

    executable = chromium()
    turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_FEW))
    async with turn, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable, args=[*NO_NETWORK], chromium_sandbox=os.geteuid() != 0
        )
        try:
            context = await browser.new_context(user_agent=agent, service_workers="block", accept_downloads=False)
            page = await _Guard(ctx, fetched, since=since, agent=agent, headers=headers).opened(context)
            with suppress(Error):  # too slow, or led away: what is there is taken
                await page.goto(fetched.url, wait_until="networkidle", timeout=PATIENCE_S * 1000)
            return (await page.content()).encode("utf-8", "replace")
        finally:
            await browser.close()


class _Guard:
    """Answers what one page asks for."""

    def __init__(self, ctx: Context, fetched: Fetched, *, since: datetime, agent: str, headers: dict[str, str]) -> None:
        self._ctx, self._fetched, self._since = ctx, fetched, since
        self._agent, self._headers = agent, headers
        self._origin = _origin(fetched.url)
        self._asked = 0

    async def opened(self, context: "BrowserContext") -> "Page":
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", _close)
        return await context.new_page()

    async def _answer(self, route: "Route", request: "Request") -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page has gone meanwhile
            found = await self._found(request)
            if found is None:  # a page that is led away stays as it is
                await route.abort("aborted" if request.is_navigation_request() else "blockedbyclient")
            else:
                await route.fulfill(status=found.status, headers=_passed_on(found), body=found.body)

    async def _found(self, request: "Request") -> Fetched | None:
        """The answer; None for what is refused, and for what does not come."""
        if request.is_navigation_request():
            is_first = request.frame.parent_frame is None and request.url == self._fetched.url and not self._asked
            self._asked += 1
            return self._fetched if is_first else None
        self._asked += 1
        if request.resource_type not in _WANTED or request.method != "GET" or self._asked > _MOST_REQUESTS:
            return None
        headers = self._headers if _origin(request.url) == self._origin else {}
        with suppress(FetchError, Snooze):
            return await self._ctx.fetch(
                request.url,
                polite=True,
                rules_since=self._since,
                agent=self._agent,
                headers=headers,
                max_bytes=_MOST_BYTES,
                truncate=True,
            )
        return None


async def _close(socket: "WebSocketRoute") -> None:
    await socket.close()


def _passed_on(found: Fetched) -> dict[str, str]:
    return {name: value for name, value in found.headers if name not in _NOT_PASSED_ON}


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])
