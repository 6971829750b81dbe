"""Texts of strangers on our pages, in a browser without the policy that would stop a script: none becomes markup."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser

from leasehold.dashboard import app as dashboard
from leasehold.http.app import create_app, open_services
from leasehold_packs.postings.posting import Posting
from tests.cell import Cell
from tests.http.conftest import Keys, bearer, key, settings_of
from tests.packs.conftest import cell, cluster_with_packs
from tests.packs.passports.battery import SAYS
from tests.packs.passports.conftest import maker, stranger
from tests.packs.passports.office import GTIN, Office, good
from tests.packs.passports.test_routes_check import browser
from tests.packs.postings.conftest import Opened, tracking
from tests.packs.postings.replay import Board, Boards, Job
from tests.packs.postings.test_routes import FOUND

__all__ = ["browser", "cell", "cluster_with_packs", "key", "maker", "stranger", "tracking"]

RUNS = "window.hit=1"
SCRIPT = f"javascript:{RUNS}//"
EVIL = (
    f'"><img src=x onerror="{RUNS}">\'><svg onload={RUNS}></title></textarea></option></select></pre>'
    f"<script>{RUNS}</script><a href='{SCRIPT}' autofocus onfocus={RUNS}>&lt;b&gt; {{{{ 7*7 }}}} ${{7*7}} \u2028"
)
#: What a page of ours never has, and a text that became markup would.
FOREIGN = """() => [...document.querySelectorAll("*")].filter(one =>
  [...one.attributes].some(each => each.name.startsWith("on") || /^\\s*(javascript|data|vbscript):/i.test(each.value))
  || (one.localName === "script" && !one.src && one.type !== "application/json")
  || ["iframe", "object", "embed", "base"].includes(one.localName)
  || (one.localName === "img" && one.getAttribute("src") === "x")
).map(one => one.outerHTML.slice(0, 200))"""


async def looked_at(browser: Browser, pages: Iterable[tuple[str, str]]) -> None:
    """Each page as a browser reads it; nothing is loaded, and no policy stands between a script and its running."""
    context = await browser.new_context()
    await context.route("**/*", lambda route: route.abort())
    page = await context.new_page()
    for name, text in pages:
        assert "onerror" in text, f"{name} shows the text"
        await page.set_content(text, wait_until="domcontentloaded")
        assert await page.evaluate(FOREIGN) == [], name
        assert await page.evaluate("window.hit") is None, name
        assert "49" not in await page.title(), name
    await context.close()


@dataclass
class Hostile(Board):
    """A board whose owner says what they like, also of addresses."""

    def answer(self, path: str, body: bytes) -> Any:
        return [{**one, "hostedUrl": SCRIPT, "applyUrl": SCRIPT} for one in super().answer(path, body)]


@pytest.fixture
async def reader(cell: Cell, tracking: Opened, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody of tenant A at the dashboard."""
    async with open_services(settings_of(cell), loopback=True) as services:
        app = create_app(services, [FOUND])
        dashboard.mount(app, [FOUND])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key.a)) as http:
            yield http


async def test_what_a_board_says_of_a_posting_stays_a_text(
    tracking: Opened, reader: httpx.AsyncClient, browser: Browser
) -> None:
    jobs = {n: Job(id=n, title=f"{n} {EVIL}"[:290], locations=(EVIL,), text=EVIL, department=EVIL) for n in (1, 2)}
    board = Hostile("lever", jobs)
    async with tracking(Boards([board])) as tracker:
        source = await tracker.add(board, company=EVIL[:150])
        first = await tracker.run(source)
        board.change(1, title=f"other {EVIL}"[:290], text=f"other {EVIL}\n{EVIL} " * 3)
        run = await tracker.run(source)
        assert (first.state, run.state) == ("succeeded", "succeeded")
        found, _ = await tracker.find()
    paths = ["/postings", "/postings/sources", f"/postings/sources/{source}", f"/postings/runs/{run.run_id}"]
    paths += [f"/postings/{one.posting_id}" for one in found]
    paths += [f"/postings?q={httpx.QueryParams({'q': EVIL})['q']}"]
    pages = []
    for path in paths:
        answer = await reader.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        pages.append((path, answer.text))
    await looked_at(browser, pages)
    told = (await reader.get("/v1/postings")).json()["data"]
    assert {one["url"] for one in told} == {""}, "an address that runs is none"


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", " JavaScript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "//evil", "x", ""],
)
def test_an_address_of_a_posting_is_one_of_the_web_or_none(url: str) -> None:
    posting = Posting(external_id="1", url=url, title="t")
    assert posting.url == ""
    web = replace(posting, url="https://acme.example.com/jobs/1")
    assert web.with_detail(posting).url == web.url == "https://acme.example.com/jobs/1"


async def test_what_a_maker_says_of_a_product_stays_a_text_on_the_public_page(
    maker: Office, stranger: httpx.AsyncClient, browser: Browser
) -> None:
    issuer = {"slug": "maker", "name": f"The {EVIL}"[:190], "host": "maker.localhost"}
    good(await maker.api.put("/v1/passports/issuer", json=issuer))
    materials = [{"name": EVIL, "share": 12, "critical": True}]
    says = SAYS | {"model": EVIL, "note": EVIL, "materials": materials, "report": SCRIPT}
    passport = await maker.passport(says=says, name=f"Battery {EVIL}"[:190], gtin=GTIN, serial="SN-1")
    version = await maker.compiled(passport, await maker.package())
    assert version["state"] == "active", version
    pages = []
    for path in (f"/p/{passport}", f"/01/{GTIN}/21/SN-1"):
        for language in ("en", "de", "fr"):
            headers = {"Accept": "text/html", "Accept-Language": language}
            answer = await stranger.get(path, headers=headers, follow_redirects=True)
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            pages.append((f"{path} {language}", answer.text))
    good(await maker.api.post(f"/v1/passports/versions/{version['version_id']}/revoke", json={"reason": EVIL[:200]}))
    pages.append(("revoked", (await stranger.get(f"/p/{passport}", headers={"Accept": "text/html"})).text))
    await looked_at(browser, pages)
