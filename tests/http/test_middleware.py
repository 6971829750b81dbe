"""What holds for every answer: one form of problem, ids, limits, headers; nothing of the inside."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import httpx
import pytest

from leasehold import tokens as keys
from leasehold.database.database import Database, Role
from leasehold.engine import leases
from leasehold.errors import BadSetting, LeaseholdError, Unreachable
from leasehold.http.app import Services, open_services
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.people.signed_in import browser, member
from tests.http.conftest import Keys, bearer, client_of, problem, settings_of
from tests.waiting import eventually
from tests.worker.conftest import Lines


async def test_the_framework_speaks_in_problems_too(a: httpx.AsyncClient) -> None:
    problem(await a.get("/v1/nothing"), 404, "not_found")
    problem(await a.get("/v1/jobs/"), 404, "not_found")
    wrong = await a.put("/v1/jobs")
    problem(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, POST"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/kind"),
        ({"kind": "nodot"}, "/kind"),
        ({"kind": 7}, "/kind"),
        ({"kind": "t.work", "priority": 4}, "/priority"),
        ({"kind": "t.work", "priority": "1"}, "/priority"),
        ({"kind": "t.work", "priority": True}, "/priority"),
        ({"kind": "t.work", "delay_s": -1}, "/delay_s"),
        ({"kind": "t.work", "run_at": "tomorrow"}, "/run_at"),
        ({"kind": "t.work", "run_at": "2030-01-01T00:00:00"}, "/run_at"),
        ({"kind": "t.work", "run_at": 1700000000}, "/run_at"),
        ({"kind": "t.work", "tags": ["x" * 101]}, "/tags/0"),
        ({"kind": "t.work", "atempts": 3}, "/atempts"),
        ({"kind": "t.work", "key": ""}, "/key"),
        ({"kind": "t.work", "copied_from": "junk"}, "/copied_from"),
    ],
)
async def test_a_body_that_cannot_be_is_refused_with_the_place(
    a: httpx.AsyncClient, body: dict[str, object], pointer: str
) -> None:
    found = problem(await a.post("/v1/jobs", json=body), 422, "invalid")
    assert [error["pointer"] for error in found["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "bad_json"),
        (b'{"kind": "t.work", "kind": "t.other"}', "bad_json"),
        (b'{"kind": "t.work", "payload": {"a": {"x": 1, "x": 2}}}', "bad_json"),
        (b'{"kind": "t.work", "payload": NaN}', "bad_json"),
        (b'{"kind": "t.work", "payload": ' + b"[" * 65 + b"]" * 65 + b"}", "bad_json"),
        (b'{"kind": "t.work", "payload": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "bad_json"),
        (b'{"kind": "t.work", "payload": ' + b"9" * 5000 + b"}", "bad_json"),
        (b'{"kind": "t.w\xffrk"}', "bad_json"),
    ],
)
async def test_a_body_that_two_programs_could_read_differently_is_refused(
    a: httpx.AsyncClient, body: bytes, code: str
) -> None:
    problem(await a.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"}), 400, code)


@pytest.mark.parametrize(
    "payload", ["\\u0000", "\\ud800", "1e400"], ids=["a NUL", "half a character", "more than a double"]
)
async def test_what_cannot_be_kept_exactly_is_refused(a: httpx.AsyncClient, payload: str) -> None:
    value = payload if payload[0].isdigit() else f'"{payload}"'
    body = f'{{"kind": "t.work", "payload": {value}}}'
    response = await a.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"})
    problem(response, 422, "invalid")


async def test_a_number_that_only_sql_can_keep_does_not_break_an_answer(a: httpx.AsyncClient, cell: Cell) -> None:
    job = (await a.post("/v1/jobs", json={"kind": "t.work"})).json()["job_id"]
    await cell.change(
        f"update leasehold.job set payload = jsonb_build_object('n', 1e400::numeric + 0.5) where job_id = '{job}'"
    )
    response = await a.get(f"/v1/jobs/{job}")
    assert json.loads(response.text, parse_constant=pytest.fail)["payload"] == {"n": None}


async def test_a_body_of_another_kind_is_refused(a: httpx.AsyncClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        response = await a.post("/v1/jobs", content=b'{"kind":"t.work"}', headers={"Content-Type": kind})
        problem(response, 415, "unsupported_media_type")


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 1000


async def test_a_body_above_the_limit_is_refused_before_it_is_read(cell: Cell, key: Keys) -> None:
    async with (
        open_services(settings_of(cell, max_body_bytes=10_000), loopback=True) as services,
        client_of(services, key.a) as client,
    ):
        problem(await client.post("/v1/jobs", json={"kind": "t.w", "payload": "x" * 10_000}), 413, "too_large")
        headers = {"Content-Type": "application/json"}
        problem(await client.post("/v1/jobs", content=chunks(1000), headers=headers), 413, "too_large")


async def test_the_body_of_a_stranger_is_not_read(stranger: httpx.AsyncClient) -> None:
    read = []

    async def body() -> AsyncIterator[bytes]:
        read.append(1)
        yield b"{}"

    problem(await stranger.post("/v1/jobs", content=body()), 401, "unauthenticated")
    assert read == []


async def test_a_request_has_an_id_of_its_callers_or_of_ours(a: httpx.AsyncClient) -> None:
    given = await a.get("/v1/nothing", headers={"X-Request-Id": "abc-1"})
    assert (given.headers["x-request-id"], given.json()["request_id"]) == ("abc-1", "abc-1")
    for bad in ("x" * 65, "a b", "<script>"):
        assert (await a.get("/healthz", headers={"X-Request-Id": bad})).headers["x-request-id"] != bad


async def test_every_answer_has_the_headers_that_protect(a: httpx.AsyncClient) -> None:
    for address in ("/healthz", "/v1/jobs", "/v1/nothing", "/docs"):
        headers = (await a.get(address)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


async def test_other_origins_are_let_in_by_setting_only(cell: Cell, key: Keys, a: httpx.AsyncClient) -> None:
    origin = {"Origin": "https://shop.example"}
    asked = origin | {"Access-Control-Request-Method": "POST"}
    problem(await a.options("/v1/jobs", headers=asked), 405, "method_not_allowed")
    settings = settings_of(cell, cors_origins="https://shop.example")
    async with open_services(settings, loopback=True) as services, client_of(services, key.a) as client:
        preflight = await client.options("/v1/jobs", headers=asked)
        assert preflight.headers["access-control-allow-origin"] == "https://shop.example"
        other = await client.get("/v1/jobs", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


_WAITING = """
select 1 from pg_locks l join pg_database d on d.oid = l.database
where d.datname = current_database() and not l.granted
"""


@asynccontextmanager
async def holding(cell: Cell, statement: str) -> AsyncIterator[None]:
    """What this statement locks stays locked until the end of the block."""
    connection = await asyncpg.connect(cell.url(Role.OPERATOR))
    try:
        async with connection.transaction():
            await connection.execute("select leasehold_test.change($1)", statement)
            yield
    finally:
        await connection.close()


async def test_a_key_is_limited_and_told_so(cell: Cell, key: Keys) -> None:
    async with (
        open_services(settings_of(cell, key_requests=3), loopback=True) as services,
        client_of(services, key.a) as one,
        client_of(services, key.b) as two,
    ):
        for left in (2, 1, 0):
            response = await one.get("/v1/jobs")
            assert response.headers["ratelimit-policy"] == '"default";q=3;w=60'
            assert response.headers["ratelimit"].startswith(f'"default";r={left};t=')
        refused = await one.get("/v1/jobs")
        problem(refused, 429, "rate_limited")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert (await two.get("/v1/jobs")).status_code == 200


async def test_an_address_is_limited_without_keys_and_sooner_with_bad_ones(cell: Cell) -> None:
    async with (
        open_services(settings_of(cell, ip_requests=3, ip_refusals=2), loopback=True) as services,
        client_of(services) as one,
        client_of(services, address="10.0.0.2") as two,
    ):
        tries = [(await one.get("/v1/jobs", headers=bearer(keys.make("live")))).status_code for _ in range(3)]
        assert tries == [401, 401, 429]
        assert [(await one.get("/v1/jobs")).status_code for _ in range(2)] == [429, 429]
        assert [(await two.get("/openapi.json")).status_code for _ in range(4)] == [200, 200, 200, 429]


async def test_valid_credentials_pass_from_an_address_whose_bad_ones_are_refused(cell: Cell, key: Keys) -> None:
    session = await member(cell, cell.tenant_a, "viewer")
    async with (
        open_services(settings_of(cell, ip_requests=4, ip_refusals=2), loopback=True) as services,
        client_of(services) as client,
    ):
        for _ in range(6):
            last = await client.get("/v1/jobs", headers=bearer(keys.make("live")))
        problem(last, 429, "rate_limited")
        for _ in range(6):
            assert (await client.get("/v1/jobs", headers=bearer(key.a))).status_code == 200
        made = await client.post("/v1/tickets", json={}, headers=bearer(key.a))
        opened = await client.get("/v1/events", params={"ticket": made.json()["ticket"]})
        assert opened.status_code == 200
        problem(await client.get("/v1/events", params={"ticket": made.json()["ticket"]}), 429, "rate_limited")
        async with browser(services, session[0]) as page:
            assert (await page.get("/v1/me")).status_code == 200
        problem(await client.get("/v1/jobs", headers=bearer("junk")), 429, "rate_limited")


async def test_checking_the_keys_of_a_limited_address_leaves_connections_for_others(cell: Cell) -> None:
    session, _ = await member(cell, cell.tenant_a, "viewer")
    async with (
        open_services(settings_of(cell, ip_refusals=1), loopback=True) as services,
        client_of(services, address="10.0.0.2") as flood,
        browser(services, session) as page,
    ):
        for _ in range(2):
            last = await flood.get("/v1/jobs", headers=bearer(keys.make("live")))
        problem(last, 429, "rate_limited")
        async with holding(cell, "lock table leasehold.api_key"):  # every check of a key waits now
            tries = [asyncio.create_task(flood.get("/v1/jobs", headers=bearer(keys.make("live")))) for _ in range(30)]
            await eventually(lambda: cell.look(_WAITING), what="a check that waits")
            assert (await page.get("/v1/me")).status_code == 200
        assert {(await one).status_code for one in tries} == {429}


async def test_a_fault_of_ours_tells_nothing_of_the_inside_and_its_words_are_in_the_log(
    a: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, log_lines: Lines
) -> None:
    failures = [
        Unreachable("the database does not answer: 127.0.0.1:5432"),
        LeaseholdError("the database refused: asyncpg at 127.0.0.1"),
        RuntimeError("postgresql://u:secret@127.0.0.1/x"),
    ]

    async def broken(*_: object, **__: object) -> None:
        raise failures.pop()

    monkeypatch.setattr("leasehold.engine.jobs.get_job", broken)
    address = "/v1/jobs/0190a000-0000-7000-8000-00000000000a"
    for words in ("RuntimeError", "the database refused"):
        problem(await a.get(address), 500, "internal")
        event, fields = log_lines.lines[-1]
        assert (event, words in str(fields["problem"])) == ("request failed", True)
    away = await a.get(address)
    problem(away, 503, "unavailable")
    assert away.headers["retry-after"] == "2"


async def test_health_needs_no_key_and_readiness_tells_of_the_schema(
    stranger: httpx.AsyncClient, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await stranger.get("/healthz")).json() == {"status": "ok"}
    # the test database has a clock of its own, which is no file of the schema
    assert (await stranger.get("/readyz")).json() == {"status": "ready", "database": True, "pending_files": 0}
    await cell.change("update leasehold.migration set checksum = 'other' where name = 'functions/claim.sql'")
    late = await stranger.get("/readyz")
    assert (late.status_code, late.json()["pending_files"]) == (503, 1)
    await cell.change("update leasehold.migration set release = release + 1")
    assert (await stranger.get("/readyz")).status_code == 200, "a later release serves this program too"

    async def away(*_: object) -> None:
        raise Unreachable("the database does not answer: 127.0.0.1")

    monkeypatch.setattr("leasehold.http.health.pending_files", away)
    gone = await stranger.get("/readyz")
    assert (gone.status_code, gone.json()["database"]) == (503, False)
    assert "127.0.0.1" not in gone.text


async def test_metrics_are_for_this_machine_and_the_operator(
    services: Services, cell: Cell, key: Keys, a: httpx.AsyncClient
) -> None:
    await a.post("/v1/jobs", json={"kind": "t.work"})
    async with client_of(services) as here:
        text = (await here.get("/metrics")).text
        assert 'leasehold_jobs{queue="default",state="queued"} 1' in text.splitlines()
        assert "# TYPE leasehold_http_answers_total counter" in text
        problem(await here.get("/metrics", headers={"X-Forwarded-For": "1.2.3.4"}), 401, "unauthenticated")
    async with client_of(services, address="10.0.0.2") as elsewhere:
        problem(await elsewhere.get("/metrics"), 401, "unauthenticated")
        problem(await elsewhere.get("/metrics", headers=bearer(key.a)), 403, "forbidden")
        assert (await elsewhere.get("/metrics", headers=bearer(key.operator))).status_code == 200


async def test_a_server_without_an_operators_login_says_so(cell: Cell, key: Keys, tmp_path: object) -> None:
    settings = settings_of(cell, operator_url=None, home=tmp_path)
    async with open_services(settings, loopback=True) as services, client_of(services, key.operator) as client:
        problem(await client.get("/v1/queues"), 503, "unavailable")


async def test_beyond_loopback_a_pepper_is_needed(cell: Cell) -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_KEY_PEPPER"):
        async with open_services(settings_of(cell, key_pepper=None, host="0.0.0.0"), loopback=False):
            pass


def test_a_pepper_is_long_and_never_shown() -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({"LEASEHOLD_KEY_PEPPER": "hunter2"})
    assert "hunter2" not in str(refused.value)


async def test_the_page_of_the_document_loads_nothing_from_elsewhere(stranger: httpx.AsyncClient) -> None:
    page = await stranger.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "://" not in page.text
    assert "<script" not in page.text
    assert "/v1/jobs" in page.text
    assert (await stranger.get("/docs.css")).status_code == 200
    assert (await stranger.get("/openapi.json")).json()["openapi"] == "3.1.0"


async def test_the_operator_runs_the_installation(operator: httpx.AsyncClient, key: Keys) -> None:
    made = await operator.post("/v1/tenants", json={"name": "acme"})
    assert (made.status_code, made.json()["name"]) == (201, "acme")
    changed = await operator.patch("/v1/tenants/acme", json={"weight": 2, "max_running": 5})
    assert (changed.json()["weight"], changed.json()["max_running"]) == (2, 5)
    assert (await operator.get(made.headers["location"])).json() == changed.json()
    assert [t["name"] for t in (await operator.get("/v1/tenants")).json()["data"]] == ["a", "acme", "b"]
    names: list[str] = []
    cursor = None
    while not names or cursor:
        got = (await operator.get("/v1/tenants", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        names += [tenant["name"] for tenant in got["data"]]
        cursor = got["next_cursor"]
    assert names == ["a", "acme", "b"]
    problem(await operator.patch("/v1/tenants/nobody", json={"weight": 2}), 404, "not_found")
    assert (await operator.post("/v1/queues/default/pause")).json() == {"queue": "default", "paused": True}
    [queue] = (await operator.get("/v1/queues")).json()["data"]
    assert (queue["queue"], queue["paused"]) == ("default", True)
    await operator.post("/v1/queues/default/resume")
    problem(await operator.post("/v1/queues/nowhere/pause"), 404, "not_found")
    assert (await operator.get("/v1/workers")).json() == {"data": []}
    newest = (await operator.get("/v1/audit?limit=1")).json()["data"][0]
    assert (newest["action"], newest["actor"]) == ("queue.resume", f"key:{key.operator.key_id}")


async def test_queues_kinds_and_tenants_are_limited_and_paused_by_the_operator(
    operator: httpx.AsyncClient, a: httpx.AsyncClient, worker_db: Database
) -> None:
    await leases.register_worker(
        worker_db, name="w", version="0", queues=["default"], kinds={"t.work": {}}, slots=10, lease_s=60.0
    )
    assert (await operator.get("/v1/limits")).json() == {"data": []}
    for path in ("/v1/queues/default", "/v1/kinds/t.work"):
        limited = await operator.put(f"{path}/limit", json={"max_running": 2})
        assert (limited.status_code, limited.json()["max_running"]) == (200, 2)
        problem(await a.put(f"{path}/limit", json={"max_running": 2}), 403, "forbidden")
        problem(await operator.put(f"{path}/limit", json={"max_running": 0}), 422, "invalid")
    for path in ("/v1/kinds/t.work", "/v1/tenants/a"):
        assert (await operator.post(f"{path}/pause")).json()["paused"] is True
        problem(await a.post(f"{path}/pause"), 403, "forbidden")
    assert (await operator.get("/v1/tenants/a")).json()["paused"] is True
    shown = {(one["what"], one["name"]): one for one in (await operator.get("/v1/limits")).json()["data"]}
    assert shown["queue", "default"] == {
        "what": "queue", "name": "default", "max_running": 2, "paused": False, "running": 0,
    }  # fmt: skip
    assert (shown["kind", "t.work"]["max_running"], shown["kind", "t.work"]["paused"]) == (2, True)
    assert shown["tenant", "a"]["paused"]
    for path in ("/v1/kinds/t.work", "/v1/tenants/a"):
        assert (await operator.post(f"{path}/resume")).json()["paused"] is False
    for path in ("/v1/queues/default", "/v1/kinds/t.work"):
        assert (await operator.put(f"{path}/limit", json={"max_running": None})).json()["max_running"] is None
    assert (await operator.get("/v1/limits")).json() == {"data": []}
    for path in ("queues/nowhere/limit", "kinds/no.where/limit"):
        problem(await operator.put(f"/v1/{path}", json={"max_running": 1}), 404, "not_found")
    for path in ("kinds/no.where/pause", "tenants/nobody/pause"):
        problem(await operator.post(f"/v1/{path}"), 404, "not_found")


async def test_a_key_with_a_nul_is_refused_and_not_our_fault(a: httpx.AsyncClient) -> None:
    asked = {"kind": "t.work", "key": "a\0b"}
    problem(await a.post("/v1/jobs", json=asked), 422, "invalid")
    problem(await a.post("/v1/jobs:batch", json={"jobs": [asked]}), 422, "invalid")
    problem(await a.get("/v1/jobs", params={"key": "a\0b"}), 422, "invalid")
