"""Sessions of people: how they begin, what they let in, and how they end."""

import asyncio
from itertools import pairwise

import pytest

from leasehold import tokens as keys
from leasehold.database.database import Role
from leasehold.features.people import store as people
from leasehold.features.people.caller import ROLES
from leasehold.features.people.model import Vouched
from leasehold.http.app import Services, open_services
from leasehold.tokens import Peppers
from tests.cell import Cell
from tests.features.people.signed_in import (
    COOKIE,
    ORIGIN,
    armed,
    browser,
    invite,
    member,
    page,
    signed_in,
)
from tests.http.conftest import PEPPER, Keys, bearer, client_of, problem, settings_of


async def link_of(cell: Cell, *, tenant: str = "a") -> str:
    """The address of a fresh login link."""
    async with cell.database(Role.OPERATOR, connections=1) as db:
        url = await people.make_login_link(db, settings_of(cell, tenant=tenant), ORIGIN)
    return url.removeprefix(ORIGIN)


async def audited(cell: Cell) -> list[tuple[str, str]]:
    return [(row["actor"], row["action"]) for row in await cell.look("select * from leasehold.audit order by audit_id")]


# -- the login link -------------------------------------------------------------------------------------------------


async def test_a_login_link_signs_the_operator_in_once(services: Services, cell: Cell) -> None:
    link = await link_of(cell)
    async with browser(services) as one, browser(services) as two:
        came = await one.get(link)
        assert (came.status_code, came.headers["location"]) == (303, "/")
        cookie = came.headers["set-cookie"]
        assert all(part in cookie for part in (f"{COOKIE}=lh_session_", "HttpOnly", "SameSite=lax", "Path=/"))
        assert "Secure" not in cookie
        me = (await one.get("/v1/me")).json()
        assert (me["person"], me["tenant_id"], me["is_operator"]) == (None, str(cell.tenant_a), True)
        assert (await one.get("/v1/jobs")).status_code == 200
        assert (await one.get("/v1/tenants")).status_code == 200
        again = await two.get(link)
        assert (again.status_code, again.headers["content-type"]) == (403, "text/html; charset=utf-8")
        assert "set-cookie" not in again.headers
    assert [action for _, action in await audited(cell)] == ["login_link.create", "session.create"]


async def test_a_login_link_is_worth_one_session_however_many_ask_at_once(services: Services, cell: Cell) -> None:
    link = await link_of(cell)
    async with browser(services) as client:
        answers = await asyncio.gather(*(client.get(link) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [303] + [403] * 19
    assert len(await cell.look("select 1 from leasehold.session")) == 1


async def test_used_links_do_not_shut_out_a_good_one(cell: Cell) -> None:
    link = await link_of(cell)
    async with open_services(settings_of(cell, ip_refusals=1), loopback=True) as services, browser(services) as client:
        junk = {"token": keys.make("login").text}
        assert [(await client.get("/login", params=junk)).status_code for _ in range(2)] == [403, 429]
        assert (await client.get(link)).status_code == 303


async def test_a_login_link_ends_after_ten_minutes(services: Services, cell: Cell) -> None:
    link = await link_of(cell)
    await cell.pass_time(601)
    async with browser(services) as client:
        assert (await client.get(link)).status_code == 403
        assert (await client.get("/v1/me")).status_code == 401


async def test_a_login_link_is_for_whoever_is_at_the_machine(services: Services, cell: Cell) -> None:
    link = await link_of(cell)
    async with browser(services, address="203.0.113.7") as far:
        assert (await far.get(link)).status_code == 403
    async with browser(services) as proxied:
        assert (await proxied.get(link, headers={"X-Forwarded-For": "203.0.113.7"})).status_code == 403
    async with browser(services) as here:
        assert (await here.get(link)).status_code == 303


async def test_junk_is_no_login_link_and_never_reaches_the_database(
    services: Services, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object, **more: object) -> None:
        raise AssertionError(args)

    link = (await link_of(cell)).partition("=")[2]
    monkeypatch.setattr("leasehold.database.database.Database.call", fail)
    async with browser(services) as client:
        for text in ("", "x", link[:-1], link.replace("login", "logon"), keys.make("session").text):
            assert (await client.get("/login", params={"token": text})).status_code == 403


async def test_the_secrets_of_links_and_sessions_are_nowhere_in_the_database(services: Services, cell: Cell) -> None:
    link = await link_of(cell)
    token, _ = await member(cell, cell.tenant_a, "owner")
    for text in (link, token.text):
        secret = text.rpartition("_")[2]
        for table in ("login_link", "session", "audit"):
            assert secret not in str(await cell.look(f"select t::text from leasehold.{table} t"))


# -- the cookie -----------------------------------------------------------------------------------------------------


async def test_beyond_loopback_the_cookie_is_secure_and_bound_to_its_host(cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    for settings in (settings_of(cell), settings_of(cell, public_url="https://jobs.example.com")):
        async with open_services(settings, loopback=False) as services, browser(services) as client:
            client.cookies.set("__Host-leasehold_session", token.text)
            assert (await client.get("/v1/me")).status_code == 200
            client.cookies.clear()
            client.cookies.set(COOKIE, token.text)
            problem(await client.get("/v1/me"), 401, "unauthenticated")


async def test_behind_a_proxy_on_this_machine_the_cookie_is_secure_too(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    async with browser(services, token) as client:
        problem(await client.get("/v1/me", headers={"X-Forwarded-For": "203.0.113.7"}), 401, "unauthenticated")
        assert (await client.get("/v1/me")).status_code == 200


async def test_a_cookie_that_ends_carries_the_same_attributes(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    async with page(services, token) as client:
        gone = await client.post("/v1/auth/logout")
        assert gone.status_code == 204
        assert all(part in gone.headers["set-cookie"] for part in (f'{COOKIE}=""', "Max-Age=0", "HttpOnly", "Path=/"))


async def test_a_strange_host_is_nobody_s_cookie(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    async with browser(services, token) as client:
        for host in ("127.0.0.1:99999", "[::1]"):
            problem(await client.get("/v1/me", headers={"Host": host}), 401, "unauthenticated")
        for host in ("x:abc", "", "[x", "a b", "jobs.example.com:8080"):
            problem(await client.get("/v1/me", headers={"Host": host}), 421, "misdirected")


async def test_a_session_is_no_key_and_a_key_no_session(services: Services, cell: Cell, key: Keys) -> None:
    token, _ = await member(cell, cell.tenant_a, "owner")
    async with client_of(services) as client:
        problem(await client.get("/v1/jobs", headers=bearer(token)), 401, "unauthenticated")
        for text in (key.a.text, key.a.text.replace("live", "session"), "", "x" * 80):
            problem(await client.get("/v1/jobs", headers={"Cookie": f"{COOKIE}={text}"}), 401, "unauthenticated")


async def test_a_refresh_token_is_no_cookie(services: Services, cell: Cell) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    token, _ = await signed_in(cell, "ada@example.com", env="refresh")
    as_session = keys.Key(env="session", key_id=token.key_id, text=token.text)
    async with browser(services, as_session) as client:
        problem(await client.get("/v1/me"), 401, "unauthenticated")


async def test_what_a_request_says_itself_wins_over_the_cookie(services: Services, cell: Cell, key: Keys) -> None:
    token, _ = await member(cell, cell.tenant_b, "owner")
    async with browser(services, token) as client:
        made = await client.post("/v1/jobs", json={"kind": "t.work"}, headers=bearer(key.a))
        assert made.status_code == 202
        problem(await client.get(made.headers["location"]), 404, "not_found")


# -- forged requests ------------------------------------------------------------------------------------------------


async def test_a_page_of_another_site_changes_nothing_even_with_the_token(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "owner")
    foreign: list[dict[str, str]] = [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:8081"},
        {"Origin": "http://localhost:8080"},
        {"Origin": "https://127.0.0.1:8080"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {},
    ]
    async with page(services, token) as client:
        for name in ("Origin", "Sec-Fetch-Site"):
            del client.headers[name]
        for headers in foreign:
            problem(await client.post("/v1/jobs", json={"kind": "t.work"}, headers=headers), 403, "forged")
            assert (await client.get("/v1/jobs", headers=headers)).json()["data"] == []


async def test_without_the_token_of_the_session_nothing_is_changed(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "owner")
    other, _ = await member(cell, cell.tenant_a, "owner")
    async with browser(services, token) as client, page(services, other) as elsewhere:
        for given in (None, "", "0" * 64, "\u00e9", elsewhere.headers["X-CSRF-Token"]):
            more = {} if given is None else {b"X-CSRF-Token": given.encode()}
            for method, address in (("post", "/v1/jobs"), ("put", "/v1/me/tenant"), ("delete", "/v1/keys/" + "0" * 22)):
                problem(await client.request(method, address, json={}, headers=more), 403, "forged")
        await armed(client)
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202


async def test_a_form_of_a_page_without_referrer_says_origin_null_and_is_the_same_site(
    services: Services, cell: Cell
) -> None:
    token, _ = await member(cell, cell.tenant_a, "member")
    async with page(services, token) as client:
        headers = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
        assert (await client.post("/v1/jobs", json={"kind": "t.work"}, headers=headers)).status_code == 202


async def test_behind_a_proxy_the_public_url_is_the_own_origin(cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "member")
    settings = settings_of(cell, public_url="https://jobs.example.com")
    async with open_services(settings, loopback=False) as services, browser(services) as client:
        client.cookies.set("__Host-leasehold_session", token.text)
        await armed(client)
        problem(await client.post("/v1/jobs", json={"kind": "t.work"}), 403, "forged")
        client.headers["Origin"] = "https://jobs.example.com"
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202


async def test_a_key_needs_no_token(services: Services, key: Keys) -> None:
    async with client_of(services, key.a) as client:
        headers = {"Origin": "https://anywhere.example", "Sec-Fetch-Site": "cross-site"}
        assert (await client.post("/v1/jobs", json={"kind": "t.work"}, headers=headers)).status_code == 202


# -- tenants --------------------------------------------------------------------------------------------------------


async def test_a_person_of_two_tenants_chooses_one_and_sees_only_its_rows(
    services: Services, cell: Cell, key: Keys
) -> None:
    for tenant, role in ((cell.tenant_a, "viewer"), (cell.tenant_b, "member")):
        await invite(cell, tenant, "ada@example.com", role)
    token, _ = await signed_in(cell, "ada@example.com")
    async with client_of(services, key.b) as of_b:
        job = (await of_b.post("/v1/jobs", json={"kind": "t.work"})).headers["location"]
    async with page(services, token) as client:
        me = (await client.get("/v1/me")).json()
        assert (me["tenant_id"], [t["name"] for t in me["tenants"]]) == (None, ["a", "b"])
        assert "choose one" in problem(await client.get("/v1/jobs"), 403, "forbidden")["detail"]
        assert (await client.put("/v1/me/tenant", json={"tenant": "a"})).status_code == 204
        problem(await client.get(job), 404, "not_found")
        problem(await client.post("/v1/jobs", json={"kind": "t.work"}), 403, "forbidden")
        assert (await client.put("/v1/me/tenant", json={"tenant": str(cell.tenant_b)})).status_code == 204
        assert (await client.get(job)).status_code == 200
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202


async def test_nobody_chooses_a_tenant_that_is_not_theirs(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "owner")
    async with page(services, token) as client:
        for tenant in ("b", str(cell.tenant_b), "nobody", None):
            problem(await client.put("/v1/me/tenant", json={"tenant": tenant}), 404, "not_found")
        assert (await client.get("/v1/me")).json()["tenant_id"] == str(cell.tenant_a)


async def test_the_operator_goes_everywhere_and_the_tenant_s_log_tells(services: Services, cell: Cell) -> None:
    await invite(cell, None, "staff@example.com")
    token, person = await signed_in(cell, "staff@example.com")
    assert person
    async with page(services, token) as client:
        assert (await client.get("/v1/tenants")).status_code == 200
        problem(await client.get("/v1/jobs"), 403, "forbidden")
        assert (await client.put("/v1/me/tenant", json={"tenant": "b"})).status_code == 204
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202
        entries = (await client.get("/v1/audit")).json()["data"]
        assert {(row["actor"], row["action"]) for row in entries} >= {(f"person:{person.person_id}", "session.tenant")}
        assert (await client.put("/v1/me/tenant", json={"tenant": None})).status_code == 204
        assert (await client.get("/v1/me")).json()["tenant_id"] is None


async def test_a_server_without_the_operator_s_login_lets_nobody_in_as_operator(cell: Cell) -> None:
    await invite(cell, None, "staff@example.com")
    token = keys.make(people.BROWSER)
    async with cell.database(Role.API, connections=1) as db:
        who = Vouched(issuer="i", subject="s", email="staff@example.com", name="")
        person = await people.sign_in_person(db, who, token, Peppers([PEPPER]), signup=False, seconds=60)
    assert person
    assert person.is_operator
    async with open_services(settings_of(cell), loopback=True) as services, browser(services, token) as client:
        assert (await client.get("/v1/me")).json()["is_operator"] is False
        problem(await client.get("/v1/tenants"), 403, "forbidden")


# -- the end --------------------------------------------------------------------------------------------------------


async def test_a_session_that_was_ended_is_refused_by_every_process_at_once(cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "member")
    async with (
        open_services(settings_of(cell), loopback=True) as one,
        open_services(settings_of(cell), loopback=True) as two,
        page(one, token) as here,
        browser(two, token) as there,
    ):
        assert (await there.get("/v1/jobs")).status_code == 200
        assert (await here.post("/v1/auth/logout")).status_code == 204
        problem(await there.get("/v1/jobs"), 401, "unauthenticated")


async def test_a_person_ends_sessions_of_their_own_and_of_nobody_else(services: Services, cell: Cell) -> None:
    mine, _ = await member(cell, cell.tenant_a, "viewer", "ada@example.com")
    other, _ = await signed_in(cell, "ada@example.com")
    foreign, _ = await member(cell, cell.tenant_a, "owner")
    async with page(services, mine) as client, browser(services, other) as elsewhere:
        listed = (await client.get("/v1/me/sessions")).json()["data"]
        assert {row["session_id"] for row in listed} == {mine.key_id, other.key_id}
        problem(await client.delete(f"/v1/me/sessions/{foreign.key_id}"), 404, "not_found")
        assert (await client.delete(f"/v1/me/sessions/{other.key_id}")).status_code == 204
        problem(await elsewhere.get("/v1/me"), 401, "unauthenticated")
        assert (await client.get("/v1/me")).status_code == 200


async def test_a_session_ends_by_itself(services: Services, cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    async with browser(services, token) as client:
        await cell.pass_time(3590)
        assert (await client.get("/v1/me")).status_code == 200
        await cell.pass_time(20)
        problem(await client.get("/v1/me"), 401, "unauthenticated")


async def test_stale_cookies_do_not_lock_an_address_out(cell: Cell) -> None:
    token, _ = await member(cell, cell.tenant_a, "viewer")
    async with open_services(settings_of(cell, ip_refusals=3), loopback=True) as services:
        async with browser(services, keys.make("session")) as stale:
            for _ in range(5):
                problem(await stale.get("/v1/me"), 401, "unauthenticated")
        async with browser(services, token) as client:
            assert (await client.get("/v1/me")).status_code == 200


def test_every_role_has_what_the_one_below_has() -> None:
    order = [ROLES[name] for name in ("viewer", "member", "admin", "owner")]
    assert all(less < more for less, more in pairwise(order))
    assert not any("operator" in scopes for scopes in order)


async def test_upkeep_removes_what_is_over(cell: Cell, services: Services) -> None:
    await link_of(cell)
    await member(cell, cell.tenant_a, "viewer")
    await invite(cell, cell.tenant_a, "late@example.com")
    await cell.pass_time(3700)
    async with cell.database(Role.OPERATOR, connections=1) as db:
        await db.call("purge_sessions")
    for table in ("login_link", "session", "invitation"):
        assert await cell.look(f"select * from leasehold.{table}") == []
