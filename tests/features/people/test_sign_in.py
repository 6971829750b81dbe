"""People whom an issuer vouches for, and those for whom it does not."""

import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from leasehold.http.app import Services, open_services
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.people import signed_in
from tests.features.people.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    EC,
    RSA,
    RSA_NEXT,
    STRANGER,
    FakeIssuer,
    issuing,
    secret_signer,
    signer,
)
from tests.features.people.signed_in import armed, invite
from tests.http.conftest import problem, settings_of

ORIGIN = "https://jobs.example.com"
COOKIE = "__Host-leasehold_login"


def browser(server: Services) -> httpx.AsyncClient:
    return signed_in.browser(server, origin=ORIGIN)


@pytest.fixture
async def issuer() -> AsyncIterator[FakeIssuer]:
    async with issuing() as opened:
        yield opened


def trusting(cell: Cell, issuer: FakeIssuer, **more: Any) -> Settings:
    common = {
        "oidc_issuer": issuer.url,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": CLIENT_SECRET,
        "public_url": ORIGIN,
    }
    return settings_of(cell, **common | more)


@pytest.fixture
async def server(cell: Cell, issuer: FakeIssuer) -> AsyncIterator[Services]:
    """A server that others can reach: nobody becomes its operator by being first."""
    async with open_services(trusting(cell, issuer), loopback=False) as opened:
        yield opened


async def to_issuer(client: httpx.AsyncClient) -> str:
    """The address that the browser is sent to."""
    left = await client.get("/login/oidc")
    assert left.status_code == 303, left.text
    assert all(part in left.headers["set-cookie"] for part in ("_login", "HttpOnly", "SameSite=lax"))
    return str(left.headers["location"])


async def back_from(address: str) -> str:
    """Where the issuer sends the browser after its own page."""
    async with httpx.AsyncClient() as elsewhere:
        signed = await elsewhere.get(address)
    assert signed.status_code == 303, signed.text
    return str(signed.headers["location"])


async def through(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get(await back_from(await to_issuer(client)))


def refused(response: httpx.Response, status: int = 401) -> str:
    """A page that says no, and no session."""
    assert (response.status_code, response.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "leasehold_session" not in response.headers.get("set-cookie", "")
    assert "script" not in response.text
    return response.text


async def sessions(cell: Cell) -> int:
    return len(await cell.look("select 1 from leasehold.session"))


# -- who gets in ----------------------------------------------------------------------------------------------------


async def test_an_invited_person_signs_in_and_is_a_member_of_the_tenant(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com", "admin")
    async with browser(server) as client:
        landed = await through(client)
        assert (landed.status_code, landed.headers["location"]) == (303, "/")
        [cookie] = [text for text in landed.headers.get_list("set-cookie") if "session=" in text]
        assert all(part in cookie for part in ("__Host-", "HttpOnly", "SameSite=lax", "Path=/", "Secure"))
        me = (await client.get("/v1/me")).json()
        assert (me["person"]["email"], me["person"]["name"]) == ("Ada@Example.com", "Ada Lovelace")
        assert (me["tenant_id"], me["role"], me["is_operator"]) == (str(cell.tenant_a), "admin", False)
        assert (await client.get("/v1/me/settings")).json() == {"theme": "system", "time_zone": "UTC", "app": {}}
        entries = (await client.get("/v1/audit")).json()["data"]
        assert [row["action"] for row in entries] == ["session.create", "member.join", "invitation.create"]
        assert entries[0]["actor"] == f"person:{me['person']['person_id']}"


async def test_a_person_is_known_by_issuer_and_sub_and_refreshed_by_each_login(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with browser(server) as client:
        await through(client)
        first = (await client.get("/v1/me")).json()["person"]
        await armed(client)
        settings = {"theme": "dark", "time_zone": "Europe/Berlin", "app": {"companies": ["x"]}}
        assert (await client.put("/v1/me/settings", json=settings)).json() == settings
        issuer.claims |= {"email": "countess@example.com", "name": "Ada King"}
        await through(client)
        second = (await client.get("/v1/me")).json()["person"]
        assert second["person_id"] == first["person_id"]
        assert (second["email"], second["name"]) == ("countess@example.com", "Ada King")
        assert (await client.get("/v1/me/settings")).json() == settings
        # The address has a new owner, who is somebody else.
        issuer.claims |= {"sub": "eve", "email": "ada@example.com"}
        refused(await through(client), 403)


async def test_whom_nobody_invited_is_told_so_and_leaves_no_record(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    async with browser(server) as client:
        assert "Nobody has invited Ada@Example.com" in refused(await through(client), 403)
    assert await cell.look("select * from leasehold.person") == []
    [entry] = await cell.look("select * from leasehold.audit where action = 'person.refuse'")
    assert entry["detail"] == {"issuer": issuer.url, "subject": "ada"}


async def test_an_invitation_that_is_over_lets_nobody_in(server: Services, issuer: FakeIssuer, cell: Cell) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    await cell.pass_time(3601)
    async with browser(server) as client:
        refused(await through(client), 403)


async def test_bad_sign_ins_from_an_address_do_not_shut_out_good_ones(cell: Cell, issuer: FakeIssuer) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with (
        open_services(trusting(cell, issuer, ip_refusals=1), loopback=False) as server,
        browser(server) as bad,
        browser(server) as good,
    ):
        for status in (403, 429):
            refused(await bad.get("/login/callback", params={"code": "c", "state": "s"}), status)
        problem(await bad.post("/v1/auth/google", json={"id_token": "x"}), 429, "rate_limited")
        assert (await through(good)).status_code == 303
        assert (await good.get("/v1/me")).status_code == 200


async def test_with_open_signup_everybody_gets_a_tenant_of_their_own(cell: Cell, issuer: FakeIssuer) -> None:
    names = []
    async with open_services(trusting(cell, issuer, signup="open"), loopback=False) as server:
        for sub, email in (("1", "ada.l@example.com"), ("2", "ada.l@elsewhere.example"), ("3", "ü@example.com")):
            issuer.claims |= {"sub": sub, "email": email}
            async with browser(server) as client:
                assert (await through(client)).status_code == 303
                me = (await client.get("/v1/me")).json()
                assert me["role"] == "owner"
                names.append(me["tenants"][0]["name"])
                assert (await client.get("/v1/jobs")).status_code == 200
                problem(await client.get("/v1/tenants"), 403, "forbidden")
    assert len(set(names)) == 3
    assert all(name.startswith("ada-l-") for name in names[:2])


async def test_the_first_person_of_a_fresh_installation_on_this_machine_runs_it_and_the_second_does_not(
    cell: Cell, issuer: FakeIssuer
) -> None:
    async with open_services(trusting(cell, issuer, public_url=None), loopback=True) as server:
        async with signed_in.browser(server) as client:
            assert (await through(client)).status_code == 303
            assert (await client.get("/v1/me")).json()["is_operator"] is True
            assert (await client.get("/v1/tenants")).status_code == 200
        issuer.claims |= {"sub": "eve", "email": "eve@example.com"}
        async with signed_in.browser(server) as client:
            refused(await through(client), 403)


async def test_beyond_loopback_being_first_is_worth_nothing(server: Services, cell: Cell) -> None:
    async with browser(server) as client:
        refused(await through(client), 403)
    assert await sessions(cell) == 0


# -- the browser's way ----------------------------------------------------------------------------------------------


async def test_what_proves_the_browser_is_new_each_time_and_the_secrets_stay_here(server: Services) -> None:
    async with browser(server) as client:
        asked = [parse_qs(urlsplit(await to_issuer(client)).query) for _ in range(2)]
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]
        assert len(asked[0][name][0]) == 43
    assert asked[0]["redirect_uri"] == [f"{ORIGIN}/login/callback"]
    assert "code_verifier" not in asked[0]


async def test_a_code_that_another_browser_began_is_refused(server: Services, cell: Cell) -> None:
    """An attacker who sends somebody the address with their own code would sign them in as the attacker."""
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with browser(server) as attacker, browser(server) as victim:
        address = await back_from(await to_issuer(attacker))
        refused(await victim.get(address), 403)
        await to_issuer(victim)
        refused(await victim.get(address), 403)
        for state in ("", "x", "é"):
            refused(await attacker.get("/login/callback", params={"code": "c", "state": state}), 403)
    assert await sessions(cell) == 0


async def test_a_code_works_once(server: Services, issuer: FakeIssuer, cell: Cell) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with browser(server) as client:
        address = await back_from(await to_issuer(client))
        secret = client.cookies[COOKIE]
        assert (await client.get(address)).status_code == 303
        refused(await client.get(address), 403)  # the browser has forgotten
        client.cookies.set(COOKIE, secret, domain="jobs.example.com")
        assert "did not take the code" in refused(await client.get(address))
    assert await sessions(cell) == 1


async def test_a_stolen_code_is_worth_nothing_without_the_verifier(server: Services, issuer: FakeIssuer) -> None:
    async with browser(server) as victim, browser(server) as thief:
        stolen = parse_qs(urlsplit(await back_from(await to_issuer(victim))).query)["code"][0]
        own = parse_qs(urlsplit(await back_from(await to_issuer(thief))).query)["state"][0]
        assert "did not take the code" in refused(
            await thief.get("/login/callback", params={"code": stolen, "state": own})
        )


async def test_a_person_who_says_no_at_the_issuer_is_not_signed_in(server: Services) -> None:
    async with browser(server) as client:
        state = parse_qs(urlsplit(await to_issuer(client)).query)["state"][0]
        refused(await client.get("/login/callback", params={"error": "access_denied", "state": state}), 403)
        state = parse_qs(urlsplit(await to_issuer(client)).query)["state"][0]
        other = {"code": "c", "state": state, "iss": "https://other.example"}
        assert "Another issuer" in refused(await client.get("/login/callback", params=other), 403)


async def test_a_server_without_an_issuer_says_so(services: Services) -> None:
    async with signed_in.browser(services) as client:
        refused(await client.get("/login/oidc"), 403)
        refused(await client.get("/login/callback?code=c&state=s"), 403)
        assert "people link" in (await client.get("/login")).text
        problem(await client.post("/v1/auth/google", json={"id_token": "x"}), 403, "forbidden")


# -- tokens that do not hold ----------------------------------------------------------------------------------------

LIES: dict[str, dict[str, Any]] = {
    "of another issuer": {"iss": "https://evil.example"},
    "of no issuer": {"iss": None},
    "for another client": {"aud": "somebody else"},
    "for nobody": {"aud": None},
    "for others too, asked for by another": {"aud": [CLIENT_ID, "other"], "azp": "other"},
    "for others too, asked for by nobody": {"aud": [CLIENT_ID, "other"]},
    "asked for by another": {"azp": "other"},
    "too old": {"exp": int(time.time()) - 120, "iat": int(time.time()) - 600},
    "without an end": {"exp": None},
    "of tomorrow": {"nbf": int(time.time()) + 86_400},
    "with another nonce": {"nonce": "of another sign-in"},
    "with an empty nonce": {"nonce": ""},
    "of nobody": {"sub": None},
    "of a number": {"sub": 7},
    "of a very long name": {"sub": "x" * 300},
    "without an address": {"email": None},
    "with two addresses": {"email": "a@b@example.com"},
    "not verified": {"email_verified": False},
    "not said to be verified": {"email_verified": None},
    "verified in words": {"email_verified": "true"},
}
FORGERIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "not signed": signer(None, "none"),
    "not signed, naming the key": signer(None, "none", kid="rsa"),
    "signed with the public key as a secret": secret_signer(RSA.as_pem(private=False), kid="rsa"),
    "signed with the client secret": secret_signer(CLIENT_SECRET.encode(), kid="rsa"),
    "signed by a stranger": signer(STRANGER, "RS256"),
    "bringing its own key": signer(STRANGER, "RS256", jwk=STRANGER.as_dict(private=False)),
    "saying where its key is": signer(STRANGER, "RS256", jku="http://127.0.0.1:9/keys"),
    "signed by an unknown key": signer(STRANGER, "RS256", kid="new"),
    "signed another way": signer(RSA, "RS512"),
    "changed afterwards": lambda claims: _changed(signer(RSA, "RS256")(claims)),
    "cut off": lambda claims: signer(RSA, "RS256")(claims).rpartition(".")[0],
    "junk": lambda claims: "a.b.c",
    "nothing": lambda claims: "",
}


def _changed(token: str) -> str:
    head, body, tail = token.split(".")
    return f"{head}.{body[:-4]}{'AAAA' if body[-4:] != 'AAAA' else 'BBBB'}.{tail}"


@pytest.mark.long
async def test_an_id_token_that_does_not_hold_lets_nobody_in(server: Services, issuer: FakeIssuer, cell: Cell) -> None:
    """By the browser's way and by the front end's: the tokens are the same."""
    await invite(cell, cell.tenant_a, "ada@example.com")
    honest = dict(issuer.claims)
    let_in = []
    for lie, claims in LIES.items():
        issuer.claims = honest | claims
        async with browser(server) as client:
            came = await through(client)
            given = {"id_token": issuer.id_token(), "nonce": "n"} if "nonce" in lie else {"id_token": issuer.id_token()}
            asked = await client.post("/v1/auth/google", json=given)
        if came.status_code != 401 or asked.status_code != 401:
            let_in.append((lie, came.status_code, asked.status_code))
    issuer.claims = honest
    for lie, sign in FORGERIES.items():
        issuer.sign = sign
        async with browser(server) as client:
            came = await through(client)
            asked = await client.post("/v1/auth/google", json={"id_token": issuer.id_token() or "."})
        if came.status_code not in (401, 503) or asked.status_code != 401:
            let_in.append((lie, came.status_code, asked.status_code))
    assert let_in == []
    assert await sessions(cell) == 0
    assert await cell.look("select * from leasehold.person") == []


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (EC, "ES256")])
async def test_both_ways_to_sign_are_taken(
    server: Services, issuer: FakeIssuer, cell: Cell, key: Any, algorithm: str
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    issuer.sign = signer(key, algorithm)
    issuer.document = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    async with browser(server) as client:
        assert (await through(client)).status_code == 303


# -- what the issuer publishes --------------------------------------------------------------------------------------


async def test_the_issuer_s_keys_are_kept_and_a_new_one_is_asked_for_rarely(
    server: Services, issuer: FakeIssuer, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with browser(server) as client:

        async def sign_in() -> int:
            return (await client.post("/v1/auth/google", json={"id_token": issuer.id_token()})).status_code

        assert [await sign_in() for _ in range(5)] == [200] * 5
        assert (issuer.asked["/keys"], issuer.asked["/.well-known/openid-configuration"]) == (1, 1)
        issuer.keys, issuer.sign = [RSA_NEXT], signer(RSA_NEXT, "RS256")
        assert [await sign_in() for _ in range(20)] == [401] * 20, "junk cannot make us ask again and again"
        assert issuer.asked["/keys"] == 1
        monkeypatch.setattr("leasehold.features.people.oidc._RENEW_SECONDS", 0)
        assert await sign_in() == 200
        assert issuer.asked["/keys"] == 2


async def test_an_issuer_that_is_away_is_told_apart_from_a_bad_token(
    server: Services, issuer: FakeIssuer, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    issuer.is_away = True
    async with browser(server) as client:
        for _ in range(3):
            told = refused(await client.get("/login/oidc"), 503)
            assert issuer.url not in told
            answer = await client.post("/v1/auth/google", json={"id_token": issuer.id_token()})
            assert problem(answer, 503, "unavailable")["retry_after"] == 5
        assert issuer.asked["/.well-known/openid-configuration"] == 1
        issuer.is_away = False
        monkeypatch.setattr("leasehold.features.people.oidc._FAILED_SECONDS", 0)
        assert (await through(client)).status_code == 303


async def test_a_discovery_document_that_is_not_the_issuer_s_is_not_used(
    server: Services, issuer: FakeIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.features.people.oidc._FAILED_SECONDS", 0)
    monkeypatch.setattr("leasehold.features.people.oidc._FRESH_SECONDS", 0)
    documents: list[dict[str, Any]] = [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ]
    async with browser(server) as client:
        for issuer.document in documents:
            refused(await client.get("/login/oidc"), 503)
        issuer.document = {}
        assert (await client.get("/login/oidc")).status_code == 303


# -- tokens of ours -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def program(server: Services) -> AsyncIterator[httpx.AsyncClient]:
    """A front end's program: another origin, no cookies."""
    async with browser(server) as client:
        client.headers["Origin"] = "https://front.example"
        client.headers["Sec-Fetch-Site"] = "cross-site"
        yield client


async def test_a_front_end_s_token_becomes_ours_and_is_renewed_until_it_is_ended(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com", "member")
    await invite(cell, cell.tenant_b, "ada@example.com", "viewer")
    async with program(server) as client:
        asked = {"id_token": issuer.id_token(nonce="n-1"), "nonce": "n-1", "tenant": "a"}
        made = await client.post("/v1/auth/google", json=asked)
        assert made.status_code == 200, made.text
        assert "set-cookie" not in made.headers
        tokens = made.json()
        assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 600)
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        me = (await client.get("/v1/me")).json()
        assert (me["tenant_id"], me["role"], me["csrf_token"]) == (str(cell.tenant_a), "member", None)
        job = await client.post("/v1/jobs", json={"kind": "t.work"})
        assert job.status_code == 202, job.text
        ticket = (await client.post("/v1/tickets", json={"job_id": job.json()["job_id"]})).json()["ticket"]
        del client.headers["Authorization"]
        assert (await client.get(f"/v1/jobs/{job.json()['job_id']}/events?ticket={ticket}")).status_code == 200

        renewed = await client.post("/v1/auth/refresh", json={"refresh_token": tokens["refresh_token"]})
        assert renewed.status_code == 200
        fresh = renewed.json()
        assert fresh["refresh_token"] != tokens["refresh_token"]
        client.headers["Authorization"] = f"Bearer {fresh['access_token']}"
        assert (await client.get("/v1/me")).json()["session_id"] == me["session_id"]
        nowhere = {"id_token": issuer.id_token(), "tenant": "nobody"}
        problem(await client.post("/v1/auth/google", json=nowhere), 404, "not_found")
        assert [row["session_id"] for row in (await client.get("/v1/me/sessions")).json()["data"]] == [me["session_id"]]
        assert (await client.post("/v1/auth/logout")).status_code == 204
        for token in (tokens, fresh):
            problem(
                await client.get("/v1/me", headers={"Authorization": f"Bearer {token['access_token']}"}),
                401,
                "unauthenticated",
            )
        answer = await client.post("/v1/auth/refresh", json={"refresh_token": fresh["refresh_token"]})
        problem(answer, 401, "unauthenticated")


async def test_a_refresh_token_that_comes_twice_ends_the_session_for_both(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with program(server) as client:

        async def renew(token: str) -> httpx.Response:
            return await client.post("/v1/auth/refresh", json={"refresh_token": token})

        stolen = (await client.post("/v1/auth/google", json={"id_token": issuer.id_token()})).json()["refresh_token"]
        second = (await renew(stolen)).json()
        third = (await renew(second["refresh_token"])).json()
        problem(await renew(stolen), 401, "unauthenticated")
        problem(await renew(third["refresh_token"]), 401, "unauthenticated")
        bearer = {"Authorization": f"Bearer {third['access_token']}"}
        problem(await client.get("/v1/me", headers=bearer), 401, "unauthenticated")
    entries = await cell.look("select action from leasehold.audit order by audit_id")
    assert [row["action"] for row in entries][-2:] == ["session.replay", "session.revoke"]


async def test_a_token_of_ours_holds_only_as_we_made_it(
    server: Services, issuer: FakeIssuer, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com")
    async with program(server) as client:
        good = (await client.post("/v1/auth/google", json={"id_token": issuer.id_token()})).json()["access_token"]
        claims = json.loads(_decoded(good.split(".")[1]))
        kid = server.peppers.newest
        secret = server.peppers.signing_key(kid) or b""

        def signed(**more: Any) -> str:
            changed = {name: value for name, value in (claims | more).items() if value is not None}
            return secret_signer(secret, kid=kid)(changed)

        async def status(token: str) -> int:
            return (await client.get("/v1/me", headers={"Authorization": f"Bearer {token}"})).status_code

        assert await status(good) == 200
        assert await status(signed()) == 200, "the others below fail for what they change"
        now = int(time.time())
        bad = {
            "not signed": signer(None, "none", kid=kid)(claims),
            "another key": secret_signer(b"k" * 32, kid=kid)(claims),
            "another algorithm": secret_signer(secret, "HS512", kid=kid)(claims),
            "an RSA key": signer(STRANGER, "RS256", kid=kid)(claims),
            "an unknown pepper": secret_signer(secret, kid="0" * 12)(claims),
            "too old": signed(exp=now - 60),
            "not yet": signed(nbf=now + 120),
            "no end": signed(exp=None),
            "another issuer": signed(iss=issuer.url),
            "another environment": signed(aud="leasehold:test"),
            "another session": signed(sid="0" * 22),
            "another person": signed(sub="00000000-0000-0000-0000-000000000000"),
            "nobody": signed(sub="x"),
            "changed": _changed(good),
            "an ID token": issuer.id_token(),
            "empty": "..",
        }
        assert {name: await status(token) for name, token in bad.items()} == dict.fromkeys(bad, 401)


async def test_a_role_that_changes_and_a_member_who_leaves_are_so_at_the_next_request(
    server: Services, issuer: FakeIssuer, cell: Cell
) -> None:
    await invite(cell, cell.tenant_a, "ada@example.com", "member")
    async with program(server) as client:
        token = (await client.post("/v1/auth/google", json={"id_token": issuer.id_token()})).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202
        await cell.change("update leasehold.membership set role = 'viewer'")
        problem(await client.post("/v1/jobs", json={"kind": "t.work"}), 403, "forbidden")
        await cell.change("delete from leasehold.membership")
        problem(await client.get("/v1/jobs"), 403, "forbidden")


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
