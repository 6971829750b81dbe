"""Who reaches what: no page, stream or action of another tenant, and nothing that another site's page could send."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from starlette.routing import Route

from leasehold.dashboard.page import CSP
from leasehold.database.database import Role
from leasehold.engine import jobs
from leasehold.engine.audit import list_audit
from leasehold.features.people import store as people
from leasehold.http.browsers import own_path
from tests.dashboard.addresses import routes
from tests.dashboard.pack_world import packs
from tests.dashboard.world import World
from tests.features.people.signed_in import member
from tests.http.conftest import settings_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def browser(here: World, who: str | None, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    cookies = {here.cookie: here.sessions[who]} if who else {}
    same = {"Origin": here.url, "Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(base_url=here.url, cookies=cookies, headers=same | headers, timeout=60) as client:
        yield client


async def csrf_of(client: httpx.AsyncClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/jobs")).text)
    assert found
    return found[1]


_SCHEMAS = ", ".join(f"'leasehold_{one.feature.name}'" for one in packs())
#: Things of packs that stand in addresses by their ids.
_OF_PACKS = ("product", "site", "group", "rule", "source", "posting", "application", "search", "passport", "finding")


def filled_in(route: Route, here: World) -> str:
    """The address with what belongs to acme in it."""
    own = {
        "job_id": here.made["approval" if "approvals" in route.path else "dead"],
        "flow_id": here.made["flow_failed"],
        "endpoint_id": here.made["endpoint"],
        "delivery_id": here.made["delivery"],
        "name": "nightly-report" if "schedules" in route.path else "acme",
        "key_id": "0" * 22,
        "queue": "default",
        "document_version_id": here.made["passport_document"],
        "act": "remove" if "webhooks" in route.path else "close" if "closings" in route.path else "retry",
        "run_id": here.made["audit" if route.path.startswith(("/audits", "/live/audits")) else "run"],
        **{f"{name}_id": here.made[name] for name in _OF_PACKS},
    }
    if "/audits/" in route.path:
        own["site_id"] = here.made["audited"]
    if "detected" in route.path:
        own["job_id"] = here.made["detected"]
    return re.sub(r"\{(\w+)\}", lambda hole: str(own.get(hole[1], "x")), route.path)


async def belongings(here: World) -> list[dict[str, Any]]:
    """Everything that is acme's, wherever it is."""
    tables = ["job", "outcome", "deferred", "ready", "schedule", "endpoint", "delivery", "api_key", "audit", "flow"]
    tables += ["waiting", "gate_now", "gate_rule"]
    owned = [f"leasehold.{table}" for table in tables]
    owned += [
        row["name"]
        for row in await here.cell.look(
            "select c.relnamespace::regnamespace || '.' || c.relname as name from pg_class c"
            " join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'"
            f" where c.relkind = 'r' and c.relnamespace::regnamespace::text in ({_SCHEMAS}) order by 1"
        )
    ]
    assert len(owned) > len(tables) + 20
    return [
        row
        for table in owned
        for row in await here.cell.look(f"select * from {table} t where tenant_id = '{here.acme}' order by t::text")
    ]


async def test_a_stranger_reaches_nothing_of_another_tenant(packed: World) -> None:
    """Every address, those of packs too, with acme's ids in path, query and form, by the owner of globex."""
    here = packed
    before = await belongings(here)
    of_acme = [str(here.acme), "pay_681c", "BankTimeout", "reports.nightly", "shop.example.com", "reports.monthly"]
    of_acme += ["OutOfStock", "restock", "bank.example.com", "order-4720"]
    of_packs = ["Made-up Ltd", "Large lamp 1", "17.00 EUR", "Ten percent", "Battery M1"]
    async with browser(here, "admin") as client:
        own = [(await client.get(path)).text for path in ("/postings", "/monitors", "/monitors/rules", "/passports")]
    assert [thing for thing in of_packs if not any(thing in text for text in own)] == []
    of_acme += [*of_packs, "by mail"]
    leaks = []
    async with browser(here, "stranger") as client:
        token = await csrf_of(client)
        for route in routes():
            path = filled_in(route, here)
            if path.startswith("/assets") or path == "/sign-out":
                continue
            form = {"csrf": token, "job": str(here.made["dead"]), "name": "x", "tenant": "acme", "reason": "mine"}
            form |= {
                "note": "mine",
                "gate": "host:" + "bank",
                "kind": "mail.send",
                "max_running": "1",
                "stage": "offer",
            }
            form |= {"candidate": str(here.made["candidate"]), "site_id": str(here.made["site"]), "enabled": "no"}
            form |= {"condition": "new_low", "paused": "yes", "query": f"source={here.made['source']}"}
            query = {"tenant": "acme", "job": str(here.made["dead"]), "act": "retry", "gate": "host:" + "bank"}
            for method in route.methods or ():
                if method == "POST":
                    text = (await client.post(path, params=query, data=form)).text
                elif path.startswith("/live"):
                    text = await beginning(client, path, query)
                else:
                    text = (await client.get(path, params=query)).text
                leaks += [(method, path, thing) for thing in of_acme if thing in text]
    assert leaks == []
    assert await belongings(here) == before


async def beginning(client: httpx.AsyncClient, path: str, query: dict[str, str]) -> str:
    """The first message of a stream, or the whole answer that is none."""
    async with client.stream("GET", path, params=query) as response:
        if not response.headers["content-type"].startswith("text/event-stream"):
            return (await response.aread()).decode()
        async for chunk in response.aiter_text():
            return chunk
    return ""


async def test_every_address_wants_somebody_who_is_signed_in(packed: World) -> None:
    here = packed
    async with browser(here, None) as client:
        for route in routes():
            path = filled_in(route, here)
            if path.startswith(("/assets", "/favicon")):
                continue
            for method in (route.methods or set()) - {"HEAD"}:
                response = await client.request(method, path)
                assert response.status_code in (303, 401), path
                assert response.status_code == 401 or response.headers["location"] == "/login", path


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({}, None),  # no token
        ({}, "another"),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, "own"),
        ({"Origin": "https://evil.example"}, "own"),
        ({"Sec-Fetch-Site": "same-site"}, "own"),  # another program on this machine's name
    ],
)
async def test_a_form_that_no_page_of_ours_sent_does_nothing(
    here: World, headers: dict[str, str], token: str | None
) -> None:
    async with browser(here, "member") as own:
        csrf = await csrf_of(own) if token == "own" else token
    job_id = here.made["dead"]
    async with browser(here, "member", **headers) as client:
        refused = await client.post(f"/jobs/{job_id}/retry", data={"csrf": csrf} if csrf else {})
    assert refused.status_code == 403
    async with here.cell.database(Role.API, connections=1) as db:
        assert (await jobs.get_job(db, here.acme, job_id)).state == "dead"


async def test_every_page_has_the_strict_policy_and_is_in_nobodys_frame(here: World) -> None:
    async with browser(here, "operator") as client:
        for path in ("/", "/jobs", "/jobs/nonsense", "/queues", "/jobs?q=a%3Ab"):
            response = await client.get(path)
            assert response.headers["content-security-policy"] == CSP
            assert response.headers["x-frame-options"] == "DENY"
            assert response.headers["cache-control"] == "no-store"
            assert " style=" not in response.text
            assert not re.search(r"<script(?![^>]* src=)|\son\w+=", response.text)
    assert "unsafe" not in CSP


async def test_a_viewer_looks_and_does_nothing(here: World) -> None:
    job_id = here.made["dead"]
    async with browser(here, "viewer") as client:
        page = await client.get(f"/jobs/{job_id}")
        assert page.status_code == 200
        assert "Your role does not show payloads" in page.text
        assert "pay_681c" not in page.text
        assert "Retry" not in page.text
        form = {"csrf": await csrf_of(client)}
        assert (await client.post(f"/jobs/{job_id}/retry", data=form)).status_code == 403
        assert (await client.post("/jobs/retry", data=form | {"job": str(job_id)})).status_code == 403
        for path in (
            f"/flows/{here.made['flow_failed']}/retry",
            f"/flows/{here.made['flow']}/cancel",
            f"/approvals/{here.made['approval']}/approve",
            "/gates/reset",
        ):
            assert (await client.post(path, data=form | {"gate": "x", "note": "x"})).status_code == 403, path
        inbox = await client.get("/approvals")
        assert "Your role does not show payloads" in inbox.text
        assert "1,290.00" not in inbox.text
        for path in ("/queues", "/workers", "/tenants", "/keys", "/audit", "/webhooks"):
            assert (await client.get(path)).status_code == 403, path
            assert f'href="{path}"' not in page.text


async def test_who_had_to_sign_in_comes_to_the_page_that_they_asked_for(here: World) -> None:
    async with browser(here, None) as client:
        assert (await client.get("/flows?state=failed")).headers["location"] == "/login"
        async with here.cell.database(Role.OPERATOR, connections=1) as db:
            link = await people.make_login_link(db, settings_of(here.cell), here.url)
        signed_in = await client.get(link)
        assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/flows?state=failed")
        assert (await client.get("/flows")).status_code == 200


@pytest.mark.parametrize("text", ["", "//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nb", "/é"])
async def test_nobody_is_led_to_another_site(text: str) -> None:
    assert own_path(text) == "/"
    assert own_path("/jobs?q=kind:a.b") == "/jobs?q=kind:a.b"


async def test_an_address_that_is_none_is_a_page_for_a_browser_and_a_problem_for_a_program(
    here: World,
) -> None:
    async with browser(here, None) as client:
        page = await client.get("/nowhere", headers={"Accept": "text/html,*/*"})
        assert (page.status_code, "There is no such page" in page.text) == (404, True)
        assert page.headers["content-security-policy"] == CSP
        for path, accept in (("/nowhere", "*/*"), ("/v1/nowhere", "text/html")):
            problem = await client.get(path, headers={"Accept": accept})
            assert (problem.status_code, problem.headers["content-type"]) == (404, "application/problem+json")


async def test_who_sees_no_payloads_searches_in_none(here: World) -> None:
    for who, found in (("viewer", False), ("member", True)):
        async with browser(here, who) as client:
            page = await client.get("/jobs", params={"q": "payload.amount.cents:2996"})
        assert (f"/jobs/{here.made['dead']}" in page.text) is found
        assert ("does not search in them" in page.text) is not found


async def test_a_person_signs_out(here: World) -> None:
    token, _ = await member(here.cell, here.acme, "viewer")
    here.sessions["leaving"] = token.text
    async with browser(here, "leaving") as client:
        left = await client.post("/sign-out", data={"csrf": await csrf_of(client)})
        assert (left.status_code, left.headers["location"]) == (303, "/login")
        client.cookies.set(here.cookie, token.text)
        assert (await client.get("/jobs")).headers["location"] == "/login"


async def test_what_was_done_is_in_the_log_with_who_did_it(here: World) -> None:
    async with browser(here, "operator") as client:
        done = await client.post("/queues/default/pause", data={"csrf": await csrf_of(client)})
        assert done.status_code == 303
        await client.post("/queues/default/resume", data={"csrf": await csrf_of(client)})
    async with here.cell.database(Role.OPERATOR, connections=1) as db:
        newest = await list_audit(db, None, before=None, limit=2)
    assert [(one.action, one.target) for one in newest] == [("queue.resume", "default"), ("queue.pause", "default")]
    assert all(UUID(one.actor.removeprefix("person:")) for one in newest)
