"""Routes of packs: on the same API, for the tenant of the key, and refused where they would let too much through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter

from leasehold import tokens as keys
from leasehold import web
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.plugin_schema import read_files
from leasehold.errors import LeaseholdError
from leasehold.feature import Feature
from leasehold.features.api_keys.store import create_key
from leasehold.features.secrets.store import list_secrets
from leasehold.http.app import bare_app, create_app, open_services
from leasehold.http.openapi import document
from leasehold.plugins.discovery import InstalledFeature
from leasehold.testing import Kit
from leasehold.tokens import Peppers
from tests.http.conftest import PEPPER, SECRET_KEY, bearer

ORDERS = """
create table pack.orders (tenant_id uuid not null, number bigint not null, primary key (tenant_id, number));
create function pack.is_there(p_number bigint) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select from pack.orders where number = p_number) $$;
grant execute on function pack.is_there(bigint) to leasehold_api;
"""
SELF = "test_routes"

routes = web.routes("shop")


@routes.get("/v1/shop", summary="All orders", openapi_extra=web.needs("jobs:read"))
async def list_orders(tenant: web.Tenant) -> dict[str, list[int]]:
    async with tenant.transaction() as tx:
        return {"data": [row["number"] for row in await tx.fetch("select number from leasehold_shop.orders")]}


@routes.post("/v1/shop/{number}", summary="Order", status_code=202, openapi_extra=web.needs("jobs:write"))
async def order(tenant: web.Tenant, number: int, idempotency_key: web.IdempotencyKey = None) -> web.Response:
    async def operate(tx: web.Transaction) -> web.Answer:
        await tx.execute("insert into leasehold_shop.orders values ($1, $2)", tenant.tenant_id, number)
        job = await tx.enqueue("shop.pack", {"number": number})
        if number == 13:
            raise web.Problem("conflict", "we do not sell that")
        return web.Answer(status=202, value={"job_id": job.job_id, "by": tenant.caller.actor})

    return await tenant.once(idempotency_key, operate)


@routes.get("/s/{number}", summary="Whether an order is there", openapi_extra=web.anybody())
async def look(stranger: web.Stranger, number: int) -> dict[str, Any]:
    async with stranger.transaction() as tx:
        seen = await tx.fetchval("select count(*) from leasehold_shop.orders")
        return {"there": await tx.fetchval("select leasehold_shop.is_there($1)", number), "seen": seen}


@routes.get("/s/{number}/take", summary="Tries to write", openapi_extra=web.anybody())
async def take(stranger: web.Stranger, number: int) -> None:
    async with stranger.transaction() as tx:
        await tx.fetch("insert into leasehold_shop.orders values (gen_random_uuid(), $1)", number)


@routes.post("/v1/shop/{number}/tell", summary="Tell, and keep a secret", openapi_extra=web.needs("jobs:write"))
async def tell(tenant: web.Tenant, number: int) -> dict[str, str]:
    async with tenant.transaction() as tx:
        await tx.put_secret(f"shop.{number}", "a secret of the shop")
        event = await tx.emit("order.told", "order", str(number), {"n": number})
        return {"event_id": str(event)}


def shop(**fields: Any) -> InstalledFeature:
    return InstalledFeature(
        feature=Feature(name="shop", package="tests.packs", **fields), distribution="acme", version="1.2"
    )


@asynccontextmanager
async def api_of(kit: Kit, found: InstalledFeature, tenant: str) -> AsyncIterator[httpx.AsyncClient]:
    """The API with this pack, and a key of this tenant."""
    key, owner = keys.make("live"), await kit.tenant(tenant)
    async with Database(target(kit.settings, Role.OPERATOR)) as db:
        await create_key(
            db, owner, key, Peppers([PEPPER]), name="test", scopes=["jobs:read", "jobs:write"], expires_at=None
        )
    settings = replace(kit.settings, key_pepper=PEPPER, secret_keys=SECRET_KEY)
    async with open_services(settings, loopback=True) as services:
        transport = httpx.ASGITransport(create_app(services, [found]))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key)) as client:
            yield client


@pytest.fixture
async def found(leasehold: Kit, tmp_path: Path) -> InstalledFeature:
    """The pack above, with its table."""
    (tmp_path / "0001_orders.sql").write_text(ORDERS)
    made = shop(routes=(f"{SELF}:routes",), addresses=("/s",))
    await leasehold.migrate(read_files("shop", tmp_path))
    return made


async def test_a_route_reads_and_writes_the_rows_of_its_keys_tenant(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a, api_of(leasehold, found, "b") as b:
        made = await a.post("/v1/shop/17")
        assert (made.status_code, made.json()["by"][:4]) == (202, "key:")
        assert (await a.get("/v1/shop")).json() == {"data": [17]}
        assert (await b.get("/v1/shop")).json() == {"data": []}
        assert (await a.get(f"/v1/jobs/{made.json()['job_id']}")).json()["payload"] == {"number": 17}
        assert (await b.get(f"/v1/jobs/{made.json()['job_id']}")).status_code == 404


async def test_a_route_is_limited_signed_in_and_checked_like_ours(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a:
        assert (await a.get("/v1/shop", headers={"Authorization": "Bearer nobody"})).status_code == 401
        assert (await a.get("/v1/shop?nubmer=1")).json()["code"] == "bad_parameter"
        refused = await a.post("/v1/shop/many")
        assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
        wrong = await a.delete("/v1/shop")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")


async def test_rows_and_jobs_of_a_request_that_fails_never_were(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a:
        refused = await a.post("/v1/shop/13", headers={"Idempotency-Key": "k"})
        assert (refused.status_code, refused.json()["detail"]) == (409, "we do not sell that")
        assert (await a.get("/v1/shop")).json() == {"data": []}
        assert (await a.get("/v1/jobs")).json()["data"] == []


async def test_the_same_request_with_the_same_key_is_done_once(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a:
        first, again = [await a.post("/v1/shop/17", headers={"Idempotency-Key": "k"}) for _ in range(2)]
        assert (first.json(), again.headers["idempotent-replayed"]) == (again.json(), "true")
        assert len((await a.get("/v1/jobs")).json()["data"]) == 1


async def test_anybody_sees_what_the_pack_grants_and_nothing_else(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a:
        await a.post("/v1/shop/17")
        del a.headers["Authorization"]
        assert (await a.get("/s/17")).json() == {"there": True, "seen": 0}
        assert (await a.get("/s/18")).json() == {"there": False, "seen": 0}
        assert (await a.get("/s/18/take")).status_code == 500, "a transaction of a stranger is read-only"
        assert (await a.get("/s/18")).json()["there"] is False
        assert (await a.get("/v1/shop")).status_code == 401


async def test_a_route_tells_endpoints_and_keeps_secrets(leasehold: Kit, found: InstalledFeature) -> None:
    async with api_of(leasehold, found, "a") as a:
        told = await a.post("/v1/shop/17/tell")
        assert UUID(told.json()["event_id"])
    async with Database(target(leasehold.settings, Role.API)) as db:
        kept = await list_secrets(db, await leasehold.tenant("a"))
    assert [secret.name for secret in kept] == ["shop.17"]


def test_the_document_of_the_api_has_the_routes_of_packs() -> None:
    described = document(bare_app([shop(routes=(f"{SELF}:routes",), addresses=("/s",))]))["paths"]
    assert described["/v1/shop"]["get"]["security"] == [{"bearer": []}, {"header": []}, {"cookie": []}]
    assert "409" in described["/v1/shop/{number}"]["post"]["responses"]


# -- what is refused --------------------------------------------------------------------------------------------------


outside = web.routes("shop")
outside.get("/v1/jobs/all", openapi_extra=web.needs("jobs:read"))(list_orders)
beside = web.routes("shop")
beside.get("/v1/shopping", openapi_extra=web.needs("jobs:read"))(list_orders)
open_ = web.routes("shop")
open_.get("/v1/shop")(list_orders)
operators = web.routes("shop")
operators.get("/v1/shop", openapi_extra=web.needs("operator"))(list_orders)
plain = APIRouter()
plain.get("/v1/shop")(list_orders)
nothing = 17


async def greet() -> str:
    return "hello"


async def greet_caller(tenant: web.Tenant) -> str:
    return tenant.actor


unclaimed = web.routes("shop")
unclaimed.get("/q", openapi_extra=web.anybody())(greet)
keyed_page = web.routes("shop")
keyed_page.get("/s", openapi_extra=web.needs("jobs:read"))(list_orders)
written_page = web.routes("shop")
written_page.post("/s", openapi_extra=web.anybody())(greet)
nosy = web.routes("shop")
nosy.get("/v1/shop", openapi_extra=web.anybody())(greet_caller)
undecided = web.routes("shop")
undecided.get("/v1/shop", openapi_extra=web.anybody() | web.needs("jobs:read"))(greet)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("outside", r"pack shop \(acme 1\.2\): the route /v1/jobs/all lies outside /v1/shop"),
        ("beside", "the route /v1/shopping lies outside /v1/shop"),
        ("open_", "the route /v1/shop lets in keys that have no tenant"),
        ("operators", "the route /v1/shop lets in keys that have no tenant"),
        ("plain", r"the route /v1/shop is not made by leasehold\.web\.routes\(\)"),
        ("nothing", "is a int, not made by"),
        ("absent", "cannot be loaded: AttributeError"),
        ("unclaimed", "the route /q lies outside /v1/shop"),
        ("keyed_page", "the route /s is a page: it takes GET alone, and needs web.anybody"),
        ("written_page", "the route /s is a page: it takes GET alone"),
        ("nosy", "the route /v1/shop is for anybody, and cannot ask whose key it is"),
        ("undecided", "the route /v1/shop is for anybody, and cannot ask whose key it is"),
    ],
)
def test_routes_that_let_too_much_through_stop_the_server(name: str, why: str) -> None:
    with pytest.raises(LeaseholdError, match=why):
        bare_app([shop(routes=(f"{SELF}:{name}",), addresses=("/s",))])


@pytest.mark.parametrize("page", ["/v1", "p", "/", "/a/b", "/{x}", "/.well-known", "/.well-known/a/b"])
def test_addresses_that_no_pack_can_have_for_pages(page: str) -> None:
    with pytest.raises(LeaseholdError, match="cannot have the address"):
        shop(addresses=(page,))


def test_a_page_cannot_take_an_address_of_ours() -> None:
    with pytest.raises(LeaseholdError, match="the route /healthz is taken already"):
        bare_app([shop(routes=(f"{SELF}:routes",), addresses=("/healthz",))])


def test_a_pack_cannot_take_an_address_of_ours() -> None:
    jobs = InstalledFeature(
        feature=Feature(name="jobs", package="tests.packs", routes=(f"{SELF}:routes",)),
        distribution="acme",
        version="1.2",
    )
    with pytest.raises(LeaseholdError, match="the route /v1/jobs is taken already"):
        bare_app([jobs])
