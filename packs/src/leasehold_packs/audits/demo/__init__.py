"""The demo: a made-up magazine on this machine, audited week after week while its pages break and are mended."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from leasehold import Access
from leasehold_packs.audits import service, start_run
from leasehold_packs.audits.demo.site import MadeSite
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import SiteAudit
from leasehold_packs.runs.snapshot import wait

_POLL_SECONDS = 0.2
_HEADERS = (
    "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
    "Content-Security-Policy: default-src 'self'\r\nConnection: close\r\n"
)
_SHOWN = ("new", "fixed", "regressed")


class Weeks:
    """The site as it is now. Whoever serves it looks at ``week``."""

    def __init__(self, site: MadeSite) -> None:
        self.site, self.week = site, 0

    def answer(self, path: str, base: str) -> bytes:
        text = self.site.page(path, week=self.week, base=base)
        if path == "/robots.txt":
            return _answer("User-agent: *\nAllow: /\n", "text/plain")
        if text is None:
            return _answer("<title>404</title><p>There is nothing here.</p>", "text/html", "404 Not Found")
        return _answer(text, "text/html")


@asynccontextmanager
async def serving(weeks: Weeks, port: int) -> AsyncIterator[str]:
    """The site on loopback; its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            path = head.split(b" ")[1].decode("latin-1").partition("?")[0]
            writer.write(weeks.answer(path, base))
            await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass  # whoever asked is gone, or did not ask
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield base


async def run(access: Access, *, weeks: int, port: int, tell: Callable[[str], None]) -> None:
    """Audit the site for so many weeks, and say what each audit says."""
    made = Weeks(MadeSite())
    async with serving(made, port) as base:
        tell(f"a magazine of {len(made.site.paths)} pages at {base}/")
        before: UUID | None = None
        for week in range(weeks):
            made.week = week
            ended = await _audit(access, f"{base}/")
            if ended.report is None:
                tell(f"week {week}: {ended.state} {ended.reason or ''}")
                return
            found = await _findings(access, ended, before, base)
            before, arithmetic = ended.run_id, ended.report["arithmetic"]
            tell(f"week {week}: {ended.pages} pages, score {ended.score:.2f}, {_said(found)}")
            for state in _SHOWN if week else ():
                for check, path in sorted(found.get(state, ())):
                    tell(f"  {state}: {check} {path}")
        tell(arithmetic)
        tell(f"leasehold audits report {before} > report.html")


async def _audit(access: Access, url: str) -> SiteAudit:
    async with access.transaction() as tx:
        requested = await start_run.request_run(tx, url, Options(), force=True)
    await wait(partial(service.snapshot, access, requested.run_id), every_s=_POLL_SECONDS)
    async with access.transaction() as tx:
        return await service.get_run(tx, requested.run_id)


async def _findings(access: Access, run: SiteAudit, before: UUID | None, base: str) -> dict[str, set[tuple[str, str]]]:
    """By state; fixed are those that the audit before still found."""
    async with access.transaction() as tx:
        findings = (await service.list_findings(tx, run.site_id)).data
        fixed = (await service.compare(tx, before, run.run_id)).fixed if before else []
    found: dict[str, set[tuple[str, str]]] = {}
    states = [(one.state, one.check_id, one.url) for one in findings if one.state != "fixed"]
    for state, check, url in states + [("fixed", one.check_id, one.url) for one in fixed]:
        found.setdefault(state, set()).add((check, url.removeprefix(base)))
    return found


def _said(found: dict[str, set[tuple[str, str]]]) -> str:
    return ", ".join(
        f"{len(found[state])} {state}" for state in ("new", "open", "regressed", "fixed") if state in found
    )


def _answer(text: str, media_type: str, status: str = "200 OK") -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{_HEADERS}\r\n".encode() + body
