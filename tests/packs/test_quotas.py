"""What a tenant makes in the packs is bounded by its quotas, however many keys and people make it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import app_of, discover
from leasehold.testing import Kit
from tests.http.conftest import PEPPER
from tests.packs.passports.battery import RULES
from tests.packs.passports.office import key_of

PACKS = discover("audits,monitors,passports,postings")
INVITATION = {"reader": "authority", "party": "An authority", "ends_at": "2999-01-01T00:00:00Z"}
RULE = {"condition": "back_in_stock"}
#: What makes one of a thing: the address, and the body for the number of it.
MADE: dict[str, tuple[str, Any]] = {
    "postings.searches": ("/v1/postings/searches", lambda n: {"name": f"s{n}", "query": {"q": "rust"}}),
    "postings.sources": ("/v1/postings/sources", lambda n: {"board": "lever", "slug": f"acme{n}"}),
    "audits.sites": ("/v1/audits", lambda n: {"url": f"https://s{n}.example.com/"}),
    "monitors.sites": ("/v1/monitors/sites", lambda n: {"url": f"https://s{n}.example.com/"}),
    "monitors.products": ("/v1/monitors/products", lambda n: {"url": f"https://shop.example.com/p/{n}"}),
    "monitors.rules": ("/v1/monitors/rules", lambda n: {"name": f"r{n}", **RULE}),
    "passports.packages": ("/v1/passports/packages", lambda n: {**RULES, "version": f"{n}.0.0"}),
    "passports.invitations": ("/v1/passports/{passport}/invitations", lambda n: INVITATION),
}


@pytest.fixture
async def http(leasehold: Kit) -> AsyncIterator[httpx.AsyncClient]:
    for found in PACKS:
        await leasehold.migrate(found.feature)
        leasehold.use(app_of(found.feature))
    leasehold.settings = replace(leasehold.settings, key_pepper=PEPPER)
    async with open_services(leasehold.settings, loopback=True) as services:
        transport = httpx.ASGITransport(create_app(services, PACKS))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


@pytest.mark.parametrize("what", MADE)
async def test_a_tenant_makes_as_many_as_its_quota_with_all_its_keys(
    leasehold: Kit, http: httpx.AsyncClient, what: str
) -> None:
    at, body = MADE[what]
    tenant = await leasehold.tenant("default")
    both, other = [await key_of(leasehold, "default") for _ in range(2)], await key_of(leasehold, "other")
    async with Database(target(leasehold.settings, Role.OPERATOR)) as operator:
        assert what in {one.what for one in await tenants.list_quotas(operator, tenant)}
        await tenants.set_quota(operator, tenant, what, 2)

    async def make(key: dict[str, str], n: int) -> httpx.Response:
        path = at
        if "{passport}" in at:
            new = {"name": "M", "category": "lmt"}
            path = at.format(passport=(await http.post("/v1/passports", json=new, headers=key)).json()["passport_id"])
        return await http.post(path, json=body(n), headers=key)

    for n in range(2):
        made = await make(both[n % 2], n)
        assert made.is_success, made.text
    for key in both:
        refused = await make(key, 2)
        assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded"), refused.text
        assert refused.json()["detail"] == f"the tenant has 2 {what}, and may have no more"
        assert "operator" in refused.json()["hint"]
    for n in range(3):
        assert (await make(other, n)).is_success


async def test_every_quota_of_a_pack_is_kept_by_a_table(leasehold: Kit, http: httpx.AsyncClient) -> None:
    async with Database(target(leasehold.settings, Role.OPERATOR)) as operator:
        known = {one.what for one in await tenants.list_quotas(operator, await leasehold.tenant("default"))}
    assert {one for one in known if "." in one} == set(MADE)
