"""A maker of batteries: the pack on a database of its own, its API, and a worker when one is asked for."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg
import httpx

from leasehold import Job
from leasehold import tokens as keys
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.features.api_keys.store import create_key
from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import InstalledFeature, app_of
from leasehold.testing import Kit
from leasehold.tokens import Peppers
from leasehold_packs.passports import feature
from leasehold_packs.passports.canonical import canonical
from tests.http.conftest import PEPPER, SECRET_KEY, bearer
from tests.packs.passports.battery import RULES, SAYS

FOUND = InstalledFeature(feature=feature, distribution="leasehold", version="0")
SCOPES = ("jobs:read", "jobs:write", "admin")
HOST = "maker.localhost"
GTIN = "04012345123456"
JSON = {"Content-Type": "application/json"}


class Office:
    """One tenant that makes passports. ``api`` has its key."""

    def __init__(self, kit: Kit, api: httpx.AsyncClient) -> None:
        self.kit = kit
        self.api = api

    async def work(self) -> list[Job]:
        """Run all jobs there are, and those that come of them."""
        return await self.kit.run_until_idle(app_of(feature))

    async def opened(self, *, slug: str = "maker", host: str | None = None) -> None:
        issuer = {"slug": slug, "name": f"The {slug}", "host": host or f"{slug}.localhost"}
        good(await self.api.put("/v1/passports/issuer", json=issuer))
        good(await self.api.post("/v1/passports/keys"))

    async def package(self, source: Any = RULES) -> str:
        made = good(await self.api.post("/v1/passports/packages", json=source))
        good(await self.api.post(f"/v1/passports/packages/{made['package_id']}/publish"))
        return str(made["package_id"])

    async def passport(self, *, says: Any = SAYS, **fields: Any) -> str:
        """A passport with the facts of this document."""
        body = {"name": "Battery M1", "category": "lmt", **fields}
        made = good(await self.api.post("/v1/passports", json=body))["passport_id"]
        if says is not None:
            await self.send(made, canonical(says))
            await self.work()
        return str(made)

    async def send(self, passport: str, raw: bytes, *, media: str = "application/json", **query: str) -> dict[str, Any]:
        query.setdefault("name", "facts.json")
        at = f"/v1/passports/{passport}/documents"
        sent: dict[str, Any] = good(await self.api.post(at, content=raw, params=query, headers={"Content-Type": media}))
        return sent

    async def compiled(self, passport: str, package: str, **fields: Any) -> dict[str, Any]:
        """A version, when all its jobs have run."""
        body = {"package_id": package, **fields}
        made = good(await self.api.post(f"/v1/passports/{passport}/compile", json=body))
        await self.work()
        return await self.version(made["version_id"])

    async def version(self, version: str) -> dict[str, Any]:
        found: dict[str, Any] = good(await self.api.get(f"/v1/passports/versions/{version}"))
        return found

    async def events(self, passport: str) -> list[str]:
        found = good(await self.api.get(f"/v1/passports/{passport}/events"))["data"]
        return [event["type"] for event in found]


def good(response: httpx.Response) -> Any:
    assert response.is_success, f"{response.request.method} {response.request.url}: {response.text}"
    return (
        response.json() if response.content and "json" in response.headers.get("content-type", "") else response.content
    )


async def prepare(kit: Kit) -> None:
    """The pack's tables in the kit's database, and keys to seal secrets with."""
    await kit.migrate(feature)
    kit.settings = replace(kit.settings, key_pepper=PEPPER, secret_keys=SECRET_KEY, ip_requests=1_000_000)
    kit.use(app_of(feature))


async def administrator(kit: Kit) -> asyncpg.Connection:
    """A connection of the one who migrates, to change what no role may."""
    named = {"application_name": "leasehold-migrate"}
    return await asyncpg.connect(kit.admin_url, server_settings=named)


async def key_of(kit: Kit, tenant: str, scopes: tuple[str, ...] = SCOPES) -> dict[str, str]:
    """The headers of a new key."""
    key, owner = keys.make("live"), await kit.tenant(tenant)
    async with Database(target(kit.settings, Role.OPERATOR)) as db:
        await create_key(db, owner, key, Peppers([PEPPER]), name="test", scopes=list(scopes), expires_at=None)
    return bearer(key)


@asynccontextmanager
async def client(kit: Kit, headers: Mapping[str, str] = {}) -> AsyncIterator[httpx.AsyncClient]:
    async with open_services(kit.settings, loopback=True) as services:
        transport = httpx.ASGITransport(create_app(services, [FOUND]))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=dict(headers)) as api:
            yield api


@asynccontextmanager
async def office(kit: Kit, tenant: str = "default") -> AsyncIterator[Office]:
    async with client(kit, await key_of(kit, tenant)) as api:
        yield Office(kit, api)
