"""The people of a tenant: what each role may do, who comes, who goes."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.database.database import Role
from leasehold.features.people.caller import ROLES
from leasehold.http.app import Services
from leasehold.http.route import SCOPES
from leasehold.postgres import Home
from leasehold.redact import MASK
from tests.cell import Cell
from tests.cli.program import leasehold
from tests.features.people.signed_in import browser, invite, member, page, signed_in
from tests.http.conftest import PEPPER, Hand, Keys, client_of, problem
from tests.http.documents import CORE

OPERATIONS = [
    (method, path, frozenset(operation[SCOPES]))
    for path, item in CORE["paths"].items()
    for method, operation in item.items()
    if SCOPES in operation and path != "/v1/auth/logout"
]
EXAMPLES = {"session_id": "0" * 22, "key_id": "0" * 22, "name": "n", "tenant": "nobody", "queue": "none"}


def address(path: str) -> str:
    """With ids of nothing: whether one is let in is decided before anything is looked for."""
    return re.sub(r"\{(\w+)\}", lambda found: EXAMPLES.get(found[1], "0190e000-0000-7000-8000-000000000000"), path)


async def let_in(client: httpx.AsyncClient) -> set[tuple[str, str]]:
    """The operations that this browser is not refused."""
    allowed = set()
    for method, path, _ in OPERATIONS:
        body = None if method in ("get", "delete") else {"not": "known"}
        response = await client.request(method, address(path), json=body)
        assert response.status_code < 500, (method, path, response.text)
        assert response.status_code != 401, (method, path)
        if response.status_code == 403:
            problem(response, 403, "forbidden")
        else:
            allowed.add((method, path))
    return allowed


def meant_for(scopes: frozenset[str]) -> set[tuple[str, str]]:
    return {(method, path) for method, path, wanted in OPERATIONS if wanted & scopes}


@pytest.mark.parametrize("role", [*ROLES, "operator", "nobody"])
async def test_a_role_is_let_in_to_its_operations_and_to_no_other(services: Services, cell: Cell, role: str) -> None:
    scopes = frozenset({"session"}) | ROLES.get(role, frozenset())
    if role == "operator":
        scopes |= {"operator"}
        await invite(cell, None, "staff@example.com")
        token, _ = await signed_in(cell, "staff@example.com")
    else:
        token, _ = await member(cell, cell.tenant_a, role if role in ROLES else "owner")
    if role == "nobody":  # who was taken out, and is still signed in
        await cell.change("delete from leasehold.membership")
    async with page(services, token) as client:
        found = await let_in(client)
    assert found == meant_for(scopes)
    assert len(OPERATIONS) > 50
    assert ("get", "/v1/me") in found


def test_each_role_has_more_than_the_one_below_and_none_has_the_installation() -> None:
    counts = [len(meant_for(ROLES[role] | {"session"})) for role in ("viewer", "member", "admin", "owner")]
    assert counts == sorted(set(counts))
    assert ("get", "/v1/tenants") not in meant_for(ROLES["owner"] | {"session"})


async def test_no_key_reaches_people(services: Services, key: Keys) -> None:
    async with client_of(services, key.a) as client:
        for path in ("/v1/me", "/v1/me/settings", "/v1/me/sessions", "/v1/invitations"):
            problem(await client.get(path), 403, "forbidden")
        asked = {"email": "eve@example.com", "role": "owner"}
        problem(await client.post("/v1/invitations", json=asked), 403, "forbidden")


async def test_a_viewer_sees_how_work_goes_and_not_what_it_is_about(
    services: Services, cell: Cell, key: Keys, hand: Hand
) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    more, _ = await member(cell, cell.tenant_a, "member")
    async with client_of(services, key.a) as program:
        job = (await program.post("/v1/jobs", json={"kind": "t.work", "payload": {"card": "4111"}})).headers["location"]
        await program.put("/v1/schedules/s", json={"kind": "t.work", "payload": {"card": "4111"}, "every_s": 60})
        ask = {"kind": "flow.approval", "name": "ask", "payload": {"message": "4111"}}
        assert (await program.post("/v1/flows", json={"name": "f", "steps": [ask]})).status_code == 202
    await hand.end(await hand.claim(), result='{"iban": "DE02"}')
    async with browser(services, token) as viewer, browser(services, more) as colleague:
        lists = ("/v1/schedules", "/v1/jobs", "/v1/approvals", "/v1/events", "/v1/flows")
        for place in (job, f"{job}/result", f"{job}/events", "/v1/schedules/s", *lists):
            seen = await viewer.get(place)
            assert seen.status_code == 200, place
            assert not {"4111", "DE02"} & set(re.findall(r"\w+", seen.text)), place
        assert (await viewer.get(job)).json()["payload"] == MASK
        assert (await colleague.get(job)).json()["payload"] == {"card": "4111"}
        assert (await colleague.get(f"{job}/result")).json() == {"iban": "DE02"}
        [waits] = (await colleague.get("/v1/approvals")).json()["data"]
        assert waits["payload"] == {"message": "4111"}
        assert [one["payload"] for one in (await viewer.get("/v1/approvals")).json()["data"]] == [MASK]
        told = (await viewer.get("/v1/me")).json()["person"]
        assert told.keys() == {"person_id", "email", "name", "is_operator", "created_at", "signed_in_at"}


async def test_an_owner_invites_and_the_invited_join_change_and_leave(services: Services, cell: Cell) -> None:
    token, boss = await member(cell, cell.tenant_a, "owner")
    async with page(services, token) as owner:
        made = await owner.post("/v1/invitations", json={"email": "Bob@example.com", "role": "viewer", "days": 1})
        assert (made.status_code, made.json()["email"]) == (201, "bob@example.com")
        assert made.json()["invited_by"] == f"person:{boss.person_id}"
        again = await owner.post("/v1/invitations", json={"email": "bob@example.com", "role": "member"})
        assert again.json()["invitation_id"] == made.json()["invitation_id"]
        [row] = (await owner.get("/v1/invitations")).json()["data"]
        assert row["role"] == "member"
        theirs, bob = await signed_in(cell, "BOB@example.com")
        assert bob
        assert (await owner.get("/v1/invitations")).json()["data"] == []
        assert {row["email"]: row["role"] for row in (await owner.get("/v1/members")).json()["data"]} == {
            boss.email: "owner",
            "BOB@example.com": "member",
        }
        async with page(services, theirs) as other:
            assert (await other.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202
            assert (await owner.put(f"/v1/members/{bob.person_id}", json={"role": "viewer"})).status_code == 204
            problem(await other.post("/v1/jobs", json={"kind": "t.work"}), 403, "forbidden")
            assert (await owner.delete(f"/v1/members/{bob.person_id}")).status_code == 204
            problem(await other.get("/v1/jobs"), 403, "forbidden")
            assert (await other.get("/v1/me")).json()["tenants"] == []
        problem(await owner.delete(f"/v1/members/{bob.person_id}"), 404, "not_found")
        actions = [row["action"] for row in (await owner.get("/v1/audit")).json()["data"]]
        assert {"invitation.create", "member.join", "member.role", "member.remove"} <= set(actions)


async def test_an_invitation_is_taken_back(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "owner")
    await invite(cell, cell.tenant_b, "of-b@example.com")
    [of_b] = await cell.look("select invitation_id from leasehold.invitation")
    async with page(services, token) as owner:
        made = await owner.post("/v1/invitations", json={"email": "bob@example.com", "role": "viewer"})
        assert (await owner.delete(made.headers["location"])).status_code == 204
        problem(await owner.delete(made.headers["location"]), 404, "not_found")
        problem(await owner.delete(f"/v1/invitations/{of_b['invitation_id']}"), 404, "not_found")
        bad: list[dict[str, Any]] = [
            {"email": "bob", "role": "viewer"},
            {"email": "bob@example.com", "role": "king"},
            {"email": "bob@example.com", "role": "operator"},
            {"email": "bob@example.com", "role": "viewer", "days": 91},
        ]
        for body in bad:
            problem(await owner.post("/v1/invitations", json=body), 422, "invalid")
        other = {"email": "bob@example.com", "role": "viewer", "tenant": "b"}
        problem(await owner.post("/v1/invitations", json=other), 403, "forbidden")
    token, person = await signed_in(cell, "bob@example.com")
    assert person is None


async def test_the_last_owner_stays_even_when_two_remove_each_other_at_once(services: Services, cell: Cell) -> None:
    one, first = await member(cell, cell.tenant_a, "owner")
    two, second = await member(cell, cell.tenant_a, "owner")
    async with page(services, one) as here, page(services, two) as there:
        both = await asyncio.gather(
            here.delete(f"/v1/members/{second.person_id}"), there.delete(f"/v1/members/{first.person_id}")
        )
        assert {204} < {answer.status_code for answer in both} <= {204, 403, 409}
        [left] = await cell.look("select person_id from leasehold.membership")
        client = here if left["person_id"] == str(first.person_id) else there
        problem(await client.put(f"/v1/members/{left['person_id']}", json={"role": "admin"}), 409, "conflict")
        problem(await client.delete(f"/v1/members/{left['person_id']}"), 409, "conflict")


async def test_the_operator_manages_the_people_of_the_tenant_it_names(
    operator: httpx.AsyncClient, cell: Cell, services: Services
) -> None:
    problem(await operator.get("/v1/members"), 422, "invalid")
    asked = {"email": "ada@example.com", "role": "owner", "tenant": "b"}
    assert (await operator.post("/v1/invitations", json=asked)).json()["tenant_id"] == str(cell.tenant_b)
    staff = {"email": "ada@example.com", "role": "operator"}
    made = await operator.post("/v1/invitations", json=staff)
    assert made.json()["tenant_id"] is None
    assert [row["role"] for row in (await operator.get("/v1/invitations")).json()["data"]] == ["operator"]
    token, ada = await signed_in(cell, "ada@example.com")
    assert ada
    assert ada.is_operator
    [row] = (await operator.get("/v1/members?tenant=b")).json()["data"]
    assert row["person_id"] == str(ada.person_id)
    async with browser(services, token) as client:
        me = (await client.get("/v1/me")).json()
        assert (me["is_operator"], me["tenant_id"], me["role"]) == (True, str(cell.tenant_b), "owner")


def test_people_by_the_command_line(cell: Cell) -> None:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_KEY_PEPPER": PEPPER}
    said = leasehold("people", "invite", "Ada@example.com", "--role", "admin", env=env)
    assert (said.code, said.out) == (0, "")
    assert "ada@example.com becomes admin" in said.err
    [row] = leasehold("people", "list", "--json", env=env).json
    assert (row["email"], row["role"], row["signed_in_at"]) == ("ada@example.com", "admin", None)
    person = asyncio.run(signed_in(cell, "ada@example.com"))[1]
    assert person
    assert leasehold("people", "role", str(person.person_id), "king", env=env).code == 2
    assert leasehold("people", "role", "ADA@example.com", "owner", env=env).code == 0
    assert leasehold("people", "role", "bob@example.com", "owner", env=env).code == 3
    assert leasehold("people", "remove", "ada@example.com", env=env).code == 4
    assert "1 sessions ended" in leasehold("people", "sign-out", "ada@example.com", env=env).err
    assert leasehold("people", "invite", "x@example.com", "--operator", env=env).code == 0
    found = leasehold("people", "list", "--operator", "--json", env=env).json
    assert [(row["email"], row["role"]) for row in found] == [("ada@example.com", "-"), ("x@example.com", "operator")]
    assert leasehold("people", "remove", "x@example.com", "--operator", env=env).code == 0
    link = leasehold("people", "link", env=env | {"LEASEHOLD_PUBLIC_URL": "http://127.0.0.1:1"})
    assert link.out.startswith("http://127.0.0.1:1/login?token=lh_login_")
    actors = {row["actor"] for row in asyncio.run(cell.look("select actor from leasehold.audit"))}
    assert any(actor.startswith("cli:") for actor in actors)


def test_a_login_link_leads_to_where_the_settings_say_and_else_to_the_instance(cell: Cell, tmp_path: Path) -> None:
    """An instance that was stopped leaves its address; whoever names another one means it."""
    home = Home(tmp_path / "home")
    home.write_endpoint({"url": cell.url(Role.API), "api": "http://127.0.0.1:2"})
    env = cell.environment() | {"LEASEHOLD_HOME": str(home.path), "LEASEHOLD_KEY_PEPPER": PEPPER}
    assert leasehold("people", "link", env=env).out.startswith("http://127.0.0.1:2/login?token=lh_login_")
    named = env | {"LEASEHOLD_PUBLIC_URL": "http://127.0.0.1:1"}
    assert leasehold("people", "link", env=named).out.startswith("http://127.0.0.1:1/login?token=lh_login_")
