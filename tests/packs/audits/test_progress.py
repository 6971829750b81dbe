"""Audits as they go: followed, stopped, gone on, judged again, begun by the clock, and told to others."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from leasehold.dashboard import app as dashboard
from leasehold.database.database import Database
from leasehold.errors import Conflict
from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import InstalledFeature
from leasehold_packs.audits import feature, routes, service, start_run
from leasehold_packs.audits.checks import content
from leasehold_packs.audits.model_results import CheckChange, SiteAudit
from tests.cell import Cell
from tests.features.webhooks.hooks import Hooks, Receiver, settings_for
from tests.fetch.world import Site, page, serving
from tests.http.conftest import bearer, make_key, settings_of
from tests.packs.audits.held import Held
from tests.packs.audits.test_runs import Auditor, Opened, auditing, document, only, report_of
from tests.waiting import eventually

__all__ = ["auditing"]
FOUND = InstalledFeature(feature=feature, distribution="leasehold", version="0")
TYPES = {"status_changed", "step_started", "step_done", "warning", "error", "metric"}


@pytest.fixture
async def api(cell: Cell) -> AsyncIterator[httpx.AsyncClient]:
    headers = bearer(await make_key(cell, cell.tenant_a))
    async with open_services(settings_of(cell), loopback=True) as services:
        app = create_app(services, [FOUND])
        dashboard.mount(app, [FOUND])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            yield client


def good(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


async def told(api: httpx.AsyncClient, run_id: Any, after: str | None = None) -> list[dict[str, Any]]:
    """All messages of a stream, to its end."""
    headers = {"Last-Event-ID": after} if after else {}
    text = (await api.get(f"/v1/audits/{run_id}/events", headers=headers)).text
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append(fields | {"data": json.loads(fields["data"])})
    return found


async def test_an_audit_is_told_as_it_goes_and_goes_on_where_a_reader_was(
    auditing: Opened, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 0.02)
    site = Held({"/": document("Start", "/a", "/gone", "/secret"), "/a": document("A")}, "/a")
    site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /secret\n", "Content-Type: text/plain")
    async with auditing(site) as auditor:
        asked = await auditor.ask()
        reading = asyncio.create_task(told(api, asked.run_id))
        await eventually(lambda: _is(site.times("/a") == 1), what="the held page was asked for")
        site.go.set()
        messages = await reading
        whole = await told(api, asked.run_id, after="0")
        numbers = [int(one["id"]) for one in messages[:-1]]
        assert messages[-1]["id"] == f"{numbers[-1]}-end"
        assert (messages[0]["event"], messages[-1]["event"], numbers) == ("state", "end", sorted(numbers))
        assert messages[-1]["data"]["progress"] == 100
        events = [one["data"] for one in whole if one["event"] == "patch"]
        assert {event["type"] for event in events} == TYPES
        assert [event["progress"] for event in events] == sorted(event["progress"] for event in events)
        steps = [(event["type"], event["step"]) for event in events if event["type"].startswith(("step", "status"))]
        assert steps == [
            ("status_changed", "running"), ("step_started", "crawl"), ("step_done", "crawl"),
            ("step_started", "relate"), ("step_done", "relate"), ("status_changed", "succeeded"),
        ]  # fmt: skip
        assert any("/gone: answered 404" in event["message"] for event in events if event["type"] == "error")
        assert any("/secret is not read" in event["message"] for event in events if event["type"] == "warning")
        half = whole[len(whole) // 2]["id"]
        rest = await told(api, asked.run_id, after=half)
        assert [one["id"] for one in whole[: len(whole) // 2 + 1] + rest] == [one["id"] for one in whole]
        assert [one["event"] for one in await told(api, asked.run_id, after="99999")] == ["reset", "state", "end"]
        assert await told(api, asked.run_id, after=str(numbers[-1])) == messages[-1:]
        crawled = await api.get(f"/v1/audits/{asked.run_id}/events", headers={"Last-Event-ID": messages[-1]["id"]})
        assert crawled.status_code == 204


async def test_a_stopped_audit_goes_on_and_reads_no_page_twice(auditing: Opened, api: httpx.AsyncClient) -> None:
    names = [f"/{n}" for n in range(12)]
    pages = {"/": document("Start", *names)} | {name: document(f"Page {name}") for name in names}
    site = Held(pages, *names[6:])
    async with auditing(site) as auditor:
        run_id = (await auditor.ask()).run_id
        at = f"/v1/audits/{run_id}"

        async def half_done() -> bool:
            return bool(good(await api.get(at))["urls"].get("fetched", 0) >= 7)

        await eventually(half_done, what="half of the pages")
        read = {name: site.times(name) for name in names[:6]}
        good(await api.post(f"{at}/cancel"))
        assert (await api.post(f"{at}/cancel")).status_code == 409
        site.go.set()
        assert good(await api.post(f"{at}/resume"))["state"] == "running"
        ended = await auditor.ended(run_id)
        assert (ended.state, ended.pages, ended.urls) == ("succeeded", 13, {"fetched": 13})
        assert {name: site.times(name) for name in names[:6]} == read, "what was read is not read again"
        refused = await api.post(f"{at}/resume")
        assert (refused.status_code, "only one that was stopped" in refused.text) == (409, True)
        states = [one["data"]["step"] for one in await told(api, run_id, after="0") if "status" in str(one["data"])]
        assert [one for one in states if one in ("running", "canceled")][:3] == ["running", "canceled", "running"]


async def test_kept_pages_are_judged_by_another_recipe_without_a_request(
    auditing: Opened, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site({"/": document("A start with a fine title", "/a", "/gone"), "/a": document("A page of fifteen")})
    async with auditing(site) as auditor:
        first = await auditor.run()
        at = f"/v1/audits/{first.run_id}"
        same = await auditor.ended(_id(good(await api.post(f"{at}/reevaluate", json={}))))
        assert changes_of(same) == {}
        assert (same.score, same.pages, report_of(same)["links"]) == (
            first.score,
            first.pages,
            report_of(first)["links"],
        )
        requests_before = len(site.asked)
        monkeypatch.setattr(content, "TITLE", (5, 20))
        other = await auditor.ended(_id(good(await api.post(f"{at}/reevaluate", json={}))))
        assert len(site.asked) == requests_before
        assert changes_of(other) == {
            "title_long": {"new": 1, "gone": 0}, "title_short": {"new": 0, "gone": 1},
        }  # fmt: skip
        assert await auditor.findings(first, "new") >= {("title_short", "/a")}, "only looked at"
        settled = await auditor.ended(_id(good(await api.post(f"{at}/reevaluate", json={"settle": True}))))
        assert await auditor.findings(settled, "fixed") == {("title_short", "/a")}
        diff = good(await api.get(f"{at}/diff/{other.run_id}"))
        assert [one["check_id"] for one in diff["new"]] == ["title_long"]


async def test_audits_begin_by_the_clock_and_what_got_worse_is_delivered(
    cell: Cell, api_db: Database, auditing: Opened, api: httpx.AsyncClient
) -> None:
    receiver = Receiver()
    site = Site({"/": document("A start with a fine title", "/a"), "/a": document("Another page of the site")})
    async with serving(receiver) as receiver.port:
        allow = f"127.0.0.1:{receiver.port}"
        async with auditing(
            site, allow=allow, lease_seconds=1e8
        ) as auditor:  # a lease that outlasts leaps of the clock
            hooks = Hooks(cell, api_db, settings_for(receiver))
            await hooks.add(receiver, "audits.*")
            first = await auditor.run()
            put = {"cron": "0 6 * * 1", "options": {"max_pages": 50}}
            made = good(await api.put(f"/v1/audits/sites/{first.site_id}/schedule", json=put))
            assert made["schedule"] == f"audits.site.{first.site_id}"
            assert made["next_at"]
            del site.pages["/a"]
            await cell.pass_time(8 * 86400)
            second = await _second(auditor)
            assert second.options["max_pages"] == 50
            await hooks.settled(hurry=True)
            removed = await api.delete(f"/v1/audits/sites/{first.site_id}/schedule")
            assert removed.status_code == 204
            assert await auditor.access.client.schedules.list() == []
    sent = {event["type"]: event["data"] for event in receiver.events if event["data"].get("score") != first.score}
    assert sent["audits.score_fell"] == {"score": second.score, "score_before": first.score}
    assert sent["audits.new_critical"]["findings"] == [{"check_id": "status_client_error", "url": f"{auditor.base}/a"}]


async def test_links_to_other_sites_are_asked_for_once_and_never_followed(auditing: Opened) -> None:
    other = Held({"/there": document("There", "/hidden"), "/hidden": document("Hidden")})
    async with serving(other) as port:
        base = f"http://127.0.0.1:{port}"
        links = (f"{base}/there", f"{base}/gone", f"{base}/there#part")
        site = Site({"/": document("Start", *links, "/a"), "/a": document("A", *links)})
        async with auditing(site, allow=f"127.0.0.1:{port}") as auditor:
            assert "link_broken_outside" not in {check for check, _ in await auditor.found(await auditor.run())}
            assert other.asked == [], "nobody asked for it"
            run = await auditor.run(max_external=10)
            found = only(await auditor.found(run), "link_broken_outside")
            assert found == {("link_broken_outside", "/"), ("link_broken_outside", "/a")}
            lines = sorted(head.split(b" HTTP")[0] for head in other.asked if b"robots.txt" not in head)
            assert lines == [b"GET /gone", b"HEAD /gone", b"HEAD /there"]
            again = await auditor.run(max_external=10)
            assert only(await auditor.found(again), "link_broken_outside") == found, "what was found holds for a day"
            assert len(other.asked) == 4
            async with auditor.access.transaction() as tx:
                about = await service.get_url(tx, run.run_id, f"{auditor.base}/a")
            assert [(one.url, one.status) for one in about.links_outside] == [
                (f"{base}/there", 200), (f"{base}/gone", 404), (f"{base}/there", 200),
            ]  # fmt: skip


async def test_a_staging_site_gets_its_credentials_and_a_sitemap_can_be_all_there_is(auditing: Opened) -> None:
    site = Site({path: document(f"Page {path}", "/b") for path in ("/", "/a", "/b")})
    async with auditing(site) as auditor:
        async with auditor.access.transaction() as tx:
            await tx.put_secret("staging", "user:geheim")
        listed = f"<url><loc>{auditor.base}/a</loc></url>"
        site.pages["/only.xml"] = page(
            f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{listed}</urlset>".encode()
        )
        run = await auditor.run(sitemap=f"{auditor.base}/only.xml", secret="staging")
        assert run.urls == {"fetched": 1}
        wanted = b"authorization: basic " + b64encode(b"user:geheim").lower()
        asked = {head.split(b" ")[1]: wanted in head.lower() for head in site.asked}
        assert (asked[b"/only.xml"], asked[b"/a"]) == (True, True)
        assert "geheim" not in json.dumps(run, default=str)


async def test_time_and_bytes_end_a_crawl_which_is_judged_as_far_as_it_came(auditing: Opened, cell: Cell) -> None:
    big = page(b"<!doctype html><title>Big</title>" + b"<p>word</p>" * 120_000, "Content-Type: text/html")
    # robots.txt makes pages come one after the other: by then the limit is known to be reached.
    chain = {f"/{n}": big.replace(b"<p>", f'<a href="/{n + 1}">next</a><p>'.encode(), 1) for n in range(4)}
    site = Held({"/": document("Start", "/0"), **{p: _sized(b) for p, b in chain.items()}}, "/slow")
    async with auditing(site, lease_seconds=1e8) as auditor:
        heavy = await auditor.run(max_megabytes=2)
        assert heavy.state == "succeeded"
        assert (heavy.pages, heavy.urls["left"]) == (3, 1)
        site.pages = {"/": document("Start", "/slow"), "/slow": document("Slow", "/late"), "/late": document("Late")}
        asked = await auditor.ask(max_minutes=1)
        await eventually(lambda: _is(site.times("/slow") == 1), what="the slow page")
        await cell.pass_time(120)
        site.go.set()
        late = await auditor.ended(asked.run_id)
        assert (late.state, late.pages, late.urls) == ("succeeded", 2, {"fetched": 2, "left": 1})
        async with auditor.access.transaction() as tx:
            with pytest.raises(Conflict, match="is succeeded"):
                await start_run.resume(tx, asked.run_id)
            events = await service.list_events(tx, asked.run_id, after=0)
        assert [event.message for event in events if event.type == "warning"] == ["the 1 minutes of the audit are over"]


def changes_of(run: SiteAudit) -> dict[str, CheckChange]:
    changed = report_of(run)["changed"]
    assert changed
    return changed["checks"]


async def _second(auditor: Auditor) -> SiteAudit:
    async def look() -> SiteAudit | None:
        async with auditor.access.transaction() as tx:
            runs = await service.list_runs(tx)
            if len(runs) < 2 or runs[0].state == "running":
                return None
            return await service.get_run(tx, runs[0].run_id)

    second = await eventually(look, what="an audit by the clock")
    assert second
    return second


def _sized(whole: bytes) -> bytes:
    """The same answer with the length that it has."""
    body = whole.partition(b"\r\n\r\n")[2]
    return page(body, "Content-Type: text/html")


def _id(answer: dict[str, Any]) -> Any:
    return answer["run_id"]


async def _is(value: bool) -> bool:
    return value
