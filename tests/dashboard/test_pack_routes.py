"""What programs change with packs over HTTP is in the audit log, as is what people do on pages."""

from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from leasehold.database.database import Role
from leasehold.engine.audit import list_audit
from leasehold.http.plugin_routes import routes_of
from leasehold.http.route import ANYBODY, Route
from leasehold_packs.passports.canonical import canonical
from tests.dashboard.pack_world import packs, working
from tests.dashboard.test_pack_actions import jobs_page
from tests.dashboard.world import World
from tests.fetch.world import Site, serving
from tests.http.conftest import bearer, make_key
from tests.packs.passports.battery import RULES, SAYS
from tests.packs.passports.office import GTIN
from tests.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: These say what would be; what they make are jobs, whose results go with them.
LOOKS = {
    "monitors.preview", "monitors.test_selector", "postings.detect", "passports.versions.replay",
    "passports.replays.create",
}  # fmt: skip


def changing() -> list[Route]:
    """The routes of packs that want a key and are not for reading."""
    routers: list[APIRouter] = [router for found in packs() for router in routes_of(found, [])]
    routes = [route for router in routers for route in router.routes if isinstance(route, Route)]
    return [one for one in routes if one.methods != {"GET"} and not (one.openapi_extra or {}).get(ANYBODY)]


class Program:
    """Asks with a key of acme's, and finds what it did in the log."""

    def __init__(self, here: World, client: httpx.AsyncClient, key_id: str) -> None:
        self._here, self._client, self._key_id = here, client, key_id
        self._routes = changing()
        self.done: set[str] = set()

    async def read(self, path: str) -> Any:
        answer = await self._client.get(f"/v1{path}")
        assert answer.is_success, answer.text
        return answer.json()

    async def do(self, action: str, method: str, path: str, body: Any = None, **given: Any) -> Any:
        """The answer to a request that the log calls so."""
        if not given:
            given = {"json": {} if body is None else body}
        answer = await self._client.request(method, f"/v1{path}", **given)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        self.done.add(self._operation(method, answer.request.url.path))
        pack = path.split("/")[1]
        async with self._here.cell.database(Role.API, connections=1) as db:
            newest = await list_audit(db, self._here.acme, before=None, limit=20)
        [found, *_] = [one for one in newest if one.action.startswith(f"{pack}.")]
        assert (found.action, found.actor) == (f"{pack}.{action}", f"key:{self._key_id}")
        return answer.json() if answer.content else None

    def _operation(self, method: str, address: str) -> str:
        fits = [one for one in self._routes if method in (one.methods or ()) and one.path_regex.match(address)]
        return str(fits[0].operation_id)

    async def until(self, path: str, **wanted: Any) -> Any:
        """What stands there, once it is like this."""

        async def look() -> Any:
            found = await self.read(path)
            return found if all(found[name] == value for name, value in wanted.items()) else None

        return await eventually(look, what=f"{wanted} at {path}")


async def test_every_route_of_a_pack_that_changes_something_writes_the_log(packed: World) -> None:
    key = await make_key(packed.cell, packed.acme)
    async with httpx.AsyncClient(base_url=packed.url, headers=bearer(key), timeout=60) as client:
        program = Program(packed, client, key.key_id)
        await watch_products(program)
        await follow_boards(program, packed)
        await audit_sites(program, packed)
        await make_passports(program, packed)
    assert sorted(program.done) == sorted({str(one.operation_id) for one in changing()} - LOOKS)


async def watch_products(program: Program) -> None:
    site = (await program.do("put_site", "POST", "/monitors/sites", {"url": "https://tools.example/"}))["site_id"]
    at = f"/monitors/sites/{site}"
    await program.do("settings", "PATCH", at, {"settings": {"cron": "5 5 * * *"}})
    for paused, act in ((True, "pause"), (False, "resume")):
        await program.do(act, "PATCH", at, {"paused": paused})
    for act in ("crawl", "reread", "discover"):
        await program.do(act, "POST", f"{at}/{act}")
    for act in ("approve", "reject"):
        await program.do(act, "POST", f"{at}/candidates/{act}", {"candidates": []})
    watched = await program.do("watch", "POST", "/monitors/products", {"url": "https://tools.example/saw"})
    product = f"/monitors/products/{watched['product_id']}"
    await program.do("tag", "PATCH", product, {"tags": ["steel"]})
    await program.do("pause", "PATCH", product, {"paused": True})
    await program.do("selector", "PUT", f"{product}/selector", {"selector": ".price"})
    await program.do("check", "POST", f"{product}/check")
    rule = await program.do("put_rule", "POST", "/monitors/rules", {"name": "Lowest", "condition": "new_low"})
    await program.do("remove_rule", "DELETE", f"/monitors/rules/{rule['rule_id']}")
    await program.do("forget", "DELETE", at)


async def follow_boards(program: Program, here: World) -> None:
    board = Site({"/jobs": jobs_page(14)})
    async with serving(board) as port, working(here, port):
        new = {"url": f"http://127.0.0.1:{port}/jobs", "company": "Blue Ltd"}
        source = f"/postings/sources/{(await program.do('follow', 'POST', '/postings/sources', new))['source_id']}"
        for n in (14, 2):
            board.pages["/jobs"] = jobs_page(n)
            run = (await program.do("run", "POST", f"{source}/sync"))["run_id"]
            await program.until(f"/postings/runs/{run}", state="succeeded")
    await program.do("keep_held", "POST", f"{source}/closings", {"close": False})
    await program.do("disable", "PATCH", source, {"enabled": False})
    await program.do("filter", "PATCH", source, {"options": {"title_include": ["gardener"]}})
    run = (await program.do("run", "POST", "/postings/runs", {"sources": [source.rpartition("/")[2]]}))["run_id"]
    await program.do("abort", "POST", f"/postings/runs/{run}/cancel")
    await program.do("settings", "PUT", "/postings/settings", {"companies": None})
    search = await program.do("save_search", "POST", "/postings/searches", {"name": "Trees", "query": {"q": "tree"}})
    await program.do("forget_search", "DELETE", f"/postings/searches/{search['search_id']}")
    await program.do("apply", "PUT", f"/postings/{here.made['posting']}/application", {"stage": "saved"})
    [saved] = (await program.read("/postings/applications"))["data"]
    await program.do("unsave", "DELETE", f"/postings/applications/{saved['application_id']}")
    await program.do("forget", "DELETE", source)


async def audit_sites(program: Program, here: World) -> None:
    run = f"/audits/{(await program.do('start', 'POST', '/audits', {'url': 'https://tools.example/'}))['run_id']}"
    await program.do("stop", "POST", f"{run}/cancel")
    await program.do("resume", "POST", f"{run}/resume")
    done = f"/audits/{here.made['audit']}"
    await program.do("reevaluate", "POST", f"{done}/reevaluate")
    site = f"/audits/sites/{(await program.read(done))['site_id']}"
    await program.do("schedule", "PUT", f"{site}/schedule", {"cron": "0 6 * * 1"})
    await program.do("unschedule", "DELETE", f"{site}/schedule")
    [finding, *_] = (await program.read(f"{site}/findings"))["data"]
    for note, act in (("a demonstration", "accept"), (None, "reopen")):
        await program.do(act, "PATCH", f"/audits/findings/{finding['finding_id']}", {"note": note})


async def make_passports(program: Program, here: World) -> None:
    issuer = await program.read("/passports/issuer")
    named = {"slug": issuer["slug"], "host": issuer["host"], "name": "The maker"}
    await program.do("set_issuer", "PUT", "/passports/issuer", named)
    await program.do("prove_host", "POST", "/passports/issuer/prove")
    key = (await program.do("rotate_key", "POST", "/passports/keys"))["key_id"]
    rules = (await program.do("add_package", "POST", "/passports/packages", RULES))["package_id"]
    await program.do("publish_package", "POST", f"/passports/packages/{rules}/publish")
    new = {"name": "Battery M2", "category": "lmt", "gtin": GTIN}
    at = f"/passports/{(await program.do('create', 'POST', '/passports', new))['passport_id']}"
    async with working(here):
        document = await send(program, at, canonical(SAYS), "application/json", "facts")
        await program.until(f"/passports/documents/{document}", state="read")
        validity = {"valid_until": "2040-01-01T00:00:00Z"}
        await program.do("set_validity", "PUT", f"/passports/documents/{document}/validity", validity)
        asked = {"package_id": rules, "activate": False}
        version = (await program.do("compile", "POST", f"{at}/compile", asked))["version_id"]
        await program.until(f"/passports/versions/{version}", state="signed")
    await program.do("activate", "POST", f"/passports/versions/{version}/activate")
    await program.do("revoke", "POST", f"/passports/versions/{version}/revoke", {"reason": "a wrong cell"})
    stated = {"pointer": "/color", "value": "blue"}
    fact = (await program.do("state_fact", "PUT", f"{at}/facts", stated))["fact_id"]
    await program.do("dismiss_fact", "POST", f"{at}/facts/{fact}/dismiss")
    snapshot = (await program.do("open_snapshot", "POST", f"{at}/snapshots"))["snapshot_id"]
    await program.do("seal", "POST", f"/passports/snapshots/{snapshot}/seal")
    asked = {"package_id": rules, "snapshot_id": snapshot}
    version = (await program.do("compile", "POST", f"{at}/compile", asked))["version_id"]
    await program.do("abandon", "POST", f"/passports/versions/{version}/abandon", {"reason": "not needed"})
    sheet = await send(program, at, b"serial\nA1\n", "text/csv", "sheet")
    await program.do("bulk", "POST", f"{at}/bulk", {"package_id": rules, "document_version_id": sheet})
    await program.do("recompile", "POST", "/passports/recompile", {"package_id": rules})
    await program.do("export", "POST", "/passports/exports")
    guest = {"reader": "authority", "party": "The ministry", "ends_at": "2040-01-01T00:00:00Z"}
    invited = await program.do("invite", "POST", f"{at}/invitations", guest)
    await program.do("uninvite", "DELETE", f"{at}/invitations/{invited['invitation_id']}")
    await program.do("revoke_key", "POST", f"/passports/keys/{key}/revoke", {"since": "2039-01-01T00:00:00Z"})
    await program.do("retire_package", "POST", f"/passports/packages/{rules}/retire")


async def send(program: Program, passport: str, raw: bytes, media: str, role: str) -> str:
    """The id of a document that was sent."""
    given = {"content": raw, "params": {"name": role, "role": role}, "headers": {"Content-Type": media}}
    sent = await program.do("add_document", "POST", f"{passport}/documents", **given)
    return str(sent["document_version_id"])
