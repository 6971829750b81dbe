"""Real servers: `leasehold serve` and `leasehold up`, their keys, their ends."""

import re
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from leasehold.postgres import Home, ephemeral_home
from tests.cell import Cell
from tests.cli.program import Program, leasehold, started
from tests.http.conftest import PEPPER, bearer, problem


@pytest.fixture
def here(cell: Cell) -> dict[str, str]:
    return cell.environment() | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_KEY_PEPPER": PEPPER}


@contextmanager
def serving(env: dict[str, str]) -> Iterator[tuple[str, Program]]:
    with started("serve", "--port", "0", env=env) as server:
        server.said("serving")
        found = re.search(r"serving (http://\S+)/v1", server.err)
        assert found
        yield found[1], server


def test_a_key_made_by_the_command_line_works_until_it_is_revoked_on_every_server(here: dict[str, str]) -> None:
    made = leasehold("keys", "create", "shop", "--json", env=here).json
    assert made["scopes"] == ["jobs:read", "jobs:write"]
    second = leasehold("keys", "create", "next", "--scope", "jobs:read", env=here)
    assert second.out.startswith("lh_live_")
    assert "not shown again" in second.err
    with serving(here) as (one, _), serving(here) as (two, _):
        for url in (one, two):
            assert httpx.get(f"{url}/v1/jobs", headers=bearer(made["key"])).status_code == 200
        assert leasehold("keys", "revoke", made["key_id"], env=here).code == 0
        for url in (one, two):
            problem(httpx.get(f"{url}/v1/jobs", headers=bearer(made["key"])), 401, "unauthenticated")
            assert httpx.get(f"{url}/v1/jobs", headers=bearer(second.out.strip())).status_code == 200
    listed = leasehold("keys", "list", "--json", env=here)
    assert {row["name"]: row["revoked_at"] is not None for row in listed.json} == {"shop": True, "next": False}
    assert made["key"] not in listed.out
    assert leasehold("keys", "revoke", "0" * 22, env=here).code == 3


@pytest.mark.long
def test_a_session_of_a_login_link_is_refused_by_every_server_once_it_is_ended(here: dict[str, str]) -> None:
    with serving(here) as (one, _), serving(here) as (two, _):
        link = leasehold("people", "link", env=here | {"LEASEHOLD_PUBLIC_URL": one}).out.strip()
        landed = httpx.get(link)
        assert (landed.status_code, landed.headers["location"]) == (303, "/")
        assert httpx.get(link).status_code == 403
        [(_, token)] = landed.cookies.items()

        def cookie(url: str) -> dict[str, str]:
            """Each server names its cookie after its port; the session is the same."""
            return {"Cookie": f"leasehold_session_{url.rpartition(':')[2]}={token}", "Origin": url}

        me = httpx.get(f"{two}/v1/me", headers=cookie(two))
        assert (me.status_code, me.json()["is_operator"]) == (200, True)
        ended = {"X-CSRF-Token": me.json()["csrf_token"]}
        assert httpx.post(f"{one}/v1/auth/logout", headers=cookie(one) | ended).status_code == 204
        problem(httpx.get(f"{two}/v1/me", headers=cookie(two)), 401, "unauthenticated")


def test_limits_by_address_count_the_clients_that_a_trusted_proxy_names(here: dict[str, str]) -> None:
    with serving(here | {"LEASEHOLD_TRUSTED_PROXIES": "127.0.0.0/8", "LEASEHOLD_IP_REFUSALS": "1"}) as (url, _):

        def tried(client: str) -> int:
            return httpx.get(f"{url}/v1/jobs", headers=bearer("junk") | {"X-Forwarded-For": client}).status_code

        assert [tried("203.0.113.7") for _ in range(2)] == [401, 429]
        assert tried("203.0.113.8") == 401
    wrong = leasehold("serve", env=here | {"LEASEHOLD_TRUSTED_PROXIES": "10.0.0.1/8"})
    assert (wrong.code, "LEASEHOLD_TRUSTED_PROXIES" in wrong.err) == (2, True)


def test_an_operators_key_runs_the_installation(here: dict[str, str]) -> None:
    made = leasehold("keys", "create", "on call", "--operator", "--days", "1", "--json", env=here).json
    assert (made["tenant_id"], made["scopes"]) == (None, ["operator"])
    with serving(here) as (url, _):
        assert httpx.get(f"{url}/v1/tenants", headers=bearer(made["key"])).status_code == 200
        assert httpx.get(f"{url}/metrics").status_code == 200
        assert httpx.get(f"{url}/readyz").json()["status"] == "ready"
    assert leasehold("keys", "list", "--operator", "--json", env=here).json[0]["key_id"] == made["key_id"]


@pytest.mark.long
def test_a_killed_server_leaves_nothing_undone(here: dict[str, str]) -> None:
    key = leasehold("keys", "create", "shop", "--json", env=here).json["key"]
    once = bearer(key) | {"Idempotency-Key": "k"}
    with serving(here) as (url, server):
        first = httpx.post(f"{url}/v1/jobs", json={"kind": "t.work"}, headers=once)
        server.kill(signal.SIGKILL)
    with serving(here) as (url, server):
        again = httpx.post(f"{url}/v1/jobs", json={"kind": "t.work"}, headers=once)
        assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
        server.kill(signal.SIGTERM)
        assert server.ended().code == 0


def test_beyond_this_machine_a_pepper_is_needed_and_its_absence_says_so(here: dict[str, str]) -> None:
    env = {name: value for name, value in here.items() if name != "LEASEHOLD_KEY_PEPPER"}
    said = leasehold("serve", "--host", "0.0.0.0", "--port", "0", env=env)
    assert (said.code, said.out) == (2, "")
    assert "LEASEHOLD_KEY_PEPPER" in said.err


def test_a_port_that_is_taken_is_said_so(here: dict[str, str]) -> None:
    with serving(here) as (url, _):
        said = leasehold("serve", "--port", url.rpartition(":")[2], env=here)
        assert said.code == 1
        assert "--port" in said.err


@pytest.fixture
def home() -> Iterator[Path]:
    folder = ephemeral_home(in_memory=True)
    yield folder / "home"
    Home(folder / "home").wipe()
    folder.rmdir()


def test_up_serves_and_its_folder_is_all_that_a_key_needs(home: Path) -> None:
    env = {"LEASEHOLD_HOME": str(home), "LEASEHOLD_POLL_SECONDS": "0.05"}
    with started("up", "--json", env=env) as up:
        ready = up.document()
        assert ready["key"] is None, "there is no default key"
        key = leasehold("keys", "create", "me", "--json", env=env).json["key"]
        body = {"kind": "demo.hello", "payload": {"name": "Ada", "steps": 1}}
        headers = bearer(key) | {"Prefer": "wait=20"}
        done = httpx.post(f"{ready['api']}/v1/jobs", json=body, headers=headers, timeout=30)
        assert (done.status_code, done.json()["job"]["result"]) == (200, "Hello, Ada!")
        assert stat.S_IMODE((home / "secrets.json").stat().st_mode) == 0o600
        assert up.stopped().code == 0
