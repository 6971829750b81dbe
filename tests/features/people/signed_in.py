"""People for tests: signed in as an issuer would have them."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import httpx

from leasehold import tokens as keys
from leasehold.database.database import Role
from leasehold.features.people import store as people
from leasehold.features.people.jwt import Named, make_token
from leasehold.features.people.model import Person, Vouched
from leasehold.features.people.store import BROWSER, REFRESH
from leasehold.http.app import Services, create_app
from leasehold.tokens import Key, Peppers
from tests.cell import Cell
from tests.http.conftest import PEPPER

ORIGIN = "http://127.0.0.1:8080"
COOKIE = "leasehold_session_8080"


def vouched(email: str) -> Vouched:
    return Vouched(issuer="https://issuer.test", subject=f"sub of {email}", email=email, name=email.partition("@")[0])


async def invite(cell: Cell, tenant: UUID | None, email: str, role: str = "member") -> None:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        if tenant is None:
            await db.call("create_operator_invitation", email, 3600.0)
        else:
            await db.call("create_invitation", email, role, 3600.0, tenant=tenant)


async def signed_in(
    cell: Cell, email: str, *, signup: bool = False, first: bool = False, env: str = BROWSER
) -> tuple[Key, Person | None]:
    """A session of this person with the operator's login, as a server has it."""
    token = keys.make(env)
    async with cell.database(Role.OPERATOR, connections=1) as db:
        person = await people.sign_in_staff(
            db, vouched(email), token, Peppers([PEPPER]), signup=signup, seconds=3600, first=first
        )
    return token, person


async def member(cell: Cell, tenant: UUID, role: str, email: str | None = None) -> tuple[Key, Person]:
    """Somebody who was invited into a tenant and came."""
    email = email or f"{role}-{secrets.token_hex(4)}@example.com"
    await invite(cell, tenant, email, role)
    token, person = await signed_in(cell, email)
    assert person
    return token, person


async def owner_token(cell: Cell, tenant: UUID) -> str:
    """A JWT of an owner of this tenant."""
    await invite(cell, tenant, "owner@example.com", "owner")
    session, person = await signed_in(cell, "owner@example.com", env=REFRESH)
    assert person
    return make_token(Peppers([PEPPER]), "live", Named(session_id=session.key_id, person_id=person.person_id))


def browser(
    services: Services, token: Key | None = None, *, origin: str = ORIGIN, address: str = "127.0.0.1"
) -> httpx.AsyncClient:
    """A browser at the server's own page; it keeps cookies, and says where it comes from."""
    transport = httpx.ASGITransport(create_app(services), client=(address, 1234))
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    cookies = {COOKIE: token.text} if token else {}
    return httpx.AsyncClient(transport=transport, base_url=origin, headers=headers, cookies=cookies)


@asynccontextmanager
async def page(services: Services, token: Key) -> AsyncIterator[httpx.AsyncClient]:
    """A browser with a page of ours open: it may change things."""
    async with browser(services, token) as client:
        yield await armed(client)


async def armed(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The same browser after its page read the CSRF token."""
    me = await client.get("/v1/me")
    assert me.status_code == 200, me.text
    client.headers["X-CSRF-Token"] = me.json()["csrf_token"]
    return client
