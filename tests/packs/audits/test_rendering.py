"""Pages that scripts make, by a real Chromium that has no network of its own."""

import asyncio
import os
import shutil
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Error, async_playwright

from leasehold.database.database import Database
from leasehold.features.blobs.store import Bodies
from leasehold_packs.audits import rendering
from tests.fetch.world import Site, moved, page, serving
from tests.packs.audits.test_runs import HTML, Opened, auditing, document

__all__ = ["auditing"]
SCRIPT = "Content-Type: text/javascript"
JSON = "Content-Type: application/json"
needs_chromium = pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium")


def scripted(script: str, body: str = "") -> bytes:
    head = "<head><title>Made by a script</title></head>"
    return page(f"<!doctype html><html>{head}<body>{body}<script>{script}</script></body></html>".encode(), HTML)


class Inner:
    """A server that nobody may reach: who connected."""

    def __init__(self) -> None:
        self.connections: list[Any] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer.get_extra_info("peername"))
        writer.write(page(b"secret", "Access-Control-Allow-Origin: *"))
        await writer.drain()


@pytest.mark.long
@needs_chromium
async def test_what_a_script_shows_is_seen_and_its_links_are_followed(auditing: Opened) -> None:
    site = Site(
        {
            "/": scripted("", '<div id="app"></div><script src="/app.js"></script>'),
            "/app.js": page(
                b"fetch('/api.json').then(a => a.json()).then(it => { document.getElementById('app').innerHTML ="
                b" `<h1>${it.name}</h1><a href='/second'>the second page</a>`; document.title = it.name })",
                SCRIPT,
            ),
            "/api.json": page(b'{"name": "A title that came with data"}', JSON),
            "/second": document("The second page, which has no script"),
        }
    )
    async with auditing(site) as auditor:
        plain = await auditor.run()
        assert (plain.pages, ("h1_missing", "/") in await auditor.found(plain)) == (1, True)
        run = await auditor.run(render=True)
        assert (run.state, run.pages) == ("succeeded", 2)
        assert ("h1_missing", "/") not in await auditor.found(run)


@needs_chromium
async def test_a_page_in_a_browser_reaches_no_address_that_a_fetch_would_not(
    auditing: Opened, api_db: Database
) -> None:
    inner = Inner()
    async with serving(inner) as secret:
        tries = f"""
          const say = (name, what) => {{ document.body.innerHTML += `<p>${{name}}: ${{what}}</p>` }};
          const ask = (name, url, options) =>
            fetch(url, options).then(a => a.text()).then(t => say(name, 'got ' + t), () => say(name, 'refused'));
          const socket = url => new Promise(done => {{
            const it = new WebSocket(url);
            it.onopen = () => {{ say('socket', 'got a connection'); done() }};
            it.onerror = it.onclose = () => {{ say('socket', 'refused'); done() }};
          }});
          new Image().src = 'http://127.0.0.1:{secret}/image';
          navigator.sendBeacon('http://127.0.0.1:{secret}/beacon', 'x');
          new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{secret}'}}]}}).createDataChannel('x');
          for (const rel of ['prefetch', 'preconnect', 'dns-prefetch', 'modulepreload']) {{
            const link = document.createElement('link');
            link.rel = rel; link.href = 'http://127.0.0.1:{secret}/' + rel; document.head.append(link);
          }}
          const frame = document.createElement('iframe');
          frame.src = 'http://127.0.0.1:{secret}/frame'; document.body.append(frame);
          Promise.all([
            ask('metadata', 'http://169.254.169.254/latest/meta-data/'),
            ask('inner', 'http://127.0.0.1:{secret}/'),
            ask('name', 'http://localhost:{secret}/'),
            ask('redirect', '/away'),
            ask('post', '/post', {{method: 'POST', body: 'x'}}),
            ask('allowed', '/fine'),
            socket('ws://127.0.0.1:{secret}/'),
          ]).then(() => {{ say('all', 'asked'); location = 'http://127.0.0.1:{secret}/navigation' }});
        """
        site = Site(
            {
                "/": scripted(tries),
                "/away": moved(f"http://127.0.0.1:{secret}/redirected"),
                "/fine": page(b"an answer", "Content-Type: text/plain"),
            }
        )
        async with auditing(site) as auditor:
            run = await auditor.run(render=True, max_pages=1)
            async with auditor.access.transaction() as tx:
                [row] = await tx.fetch("select body from leasehold_audits.url where run_id = $1", run.run_id)
                shown = await _kept(api_db, auditor.access.tenant_id, row["body"])
        assert inner.connections == []
        told = ["metadata", "inner", "name", "redirect", "post", "socket"]
        assert [name for name in told if f"<p>{name}: refused</p>" not in shown] == [], shown
        assert "<p>allowed: got an answer</p>" in shown
        assert not any(b"POST" in head for head in site.asked)


@needs_chromium
async def test_what_nobody_routes_finds_no_way_out_of_the_browser() -> None:
    inner = Inner()
    async with serving(inner) as port, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=rendering.chromium(), args=[*rendering.NO_NETWORK], chromium_sandbox=os.geteuid() != 0
        )
        page = await browser.new_page()
        for host in ("127.0.0.1", "localhost", "[::1]"):
            with pytest.raises(Error, match="ERR_"):
                await page.goto(f"http://{host}:{port}/")
        await browser.close()
    assert inner.connections == []


async def test_a_worker_without_a_browser_says_what_to_install(
    auditing: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "_NAMES", ("no-such-browser",))
    rendering.chromium.cache_clear()
    async with auditing(Site({"/": document("Start")})) as auditor:
        run = await auditor.run(render=True)
    rendering.chromium.cache_clear()
    assert (run.state, run.reason) == (
        "failed",
        "rendering needs Chromium, which is not installed: apt-get install chromium",
    )


async def _kept(db: Database, tenant: UUID, digest: str) -> str:
    return (await Bodies(db, tenant, days=1).get(digest)).decode()
