"""Who is let in: good keys, and nobody else."""

import random
import re
import string

import httpx
import pytest

from leasehold import tokens as keys
from leasehold.dashboard import app as dashboard
from leasehold.database.database import Database
from leasehold.http.app import Services, create_app, open_services
from leasehold.tokens import Key, Peppers
from tests.cell import Cell
from tests.http.conftest import ALL, PEPPER, Keys, bearer, client_of, make_key, problem, settings_of
from tests.http.documents import CORE

LETTERS = string.ascii_letters + string.digits


class Counted:
    """How often the database was asked, and how often a digest was compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.compared = 0
        call, fits = Database.call, Peppers.fits

        async def counted_call(db: Database, function: str, *args: object, **more: object) -> object:
            self.calls.append(function)
            return await call(db, function, *args, **more)  # type: ignore[arg-type]

        def counted_fits(peppers: Peppers, *args: object) -> bool:
            self.compared += 1
            return fits(peppers, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(Database, "call", counted_call)
        monkeypatch.setattr(Peppers, "fits", counted_fits)


def with_checksum(body: str) -> str:
    return body + keys._checksum(body)


def junk(dice: random.Random, good: Key) -> bytes:
    """Something that is almost a key."""
    text = good.text
    match dice.randrange(4):
        case 0:
            return "".join(dice.choices(LETTERS + "_", k=dice.randrange(120))).encode()
        case 1:
            return text[: dice.randrange(len(text))].encode()
        case 2:
            place, bit = dice.randrange(len(text)), dice.randrange(7)
            changed = chr(ord(text[place]) ^ (1 << bit))
            return (text[:place] + (changed if changed.isprintable() else "?") + text[place + 1 :]).encode()
        case _:
            return f"lh_live_{''.join(dice.choices(LETTERS, k=22))}_{''.join(dice.choices(LETTERS, k=49))}".encode()


@pytest.mark.long
async def test_ten_thousand_bad_keys_let_nobody_in(
    stranger: httpx.AsyncClient, key: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random, truncated and bit-flipped ones never reach the database; foreign ones are looked up once."""
    dice = random.Random(7)
    counted = Counted(monkeypatch)
    accepted = 0
    for _ in range(9000):
        text = junk(dice, key.a)
        response = await stranger.get("/v1/jobs", headers={b"Authorization": b"Bearer " + text})
        accepted += response.status_code != 401 and text.decode() != key.a.text
    assert (accepted, counted.calls, counted.compared) == (0, [], 0)
    for _ in range(1000):
        response = await stranger.get("/v1/jobs", headers=bearer(keys.make("live")))
        accepted += response.status_code != 401
    assert (accepted, len(counted.calls), counted.compared) == (0, 1000, 1000)


async def test_an_unknown_id_and_a_wrong_secret_take_the_same_path(
    stranger: httpx.AsyncClient, key: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_secret = with_checksum(f"lh_live_{key.a.key_id}_{'x' * 43}")
    answers = []
    for text in (keys.make("live").text, wrong_secret):
        counted = Counted(monkeypatch)
        response = await stranger.get("/v1/jobs", headers=bearer(text))
        assert (counted.calls, counted.compared) == (["find_key"], 1)
        answers.append(problem(response, 401, "unauthenticated") | {"request_id": ""})
        assert response.headers["www-authenticate"].startswith("Bearer")
        monkeypatch.undo()
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic bGg6bGg="},
        {"Authorization": "lh_live_x"},
        {"X-API-Key": ""},
        {"Cookie": "key=lh_live_x"},
    ],
)
async def test_no_key_is_no_entry(stranger: httpx.AsyncClient, headers: dict[str, str]) -> None:
    for address in ("/v1/jobs", "/v1/tenants", "/v1/keys", "/v1/audit"):
        problem(await stranger.get(address, headers=headers), 401, "unauthenticated")


async def test_a_key_is_taken_from_either_header(stranger: httpx.AsyncClient, key: Keys) -> None:
    for headers in (
        {"Authorization": f"Bearer {key.a.text}"},
        {"Authorization": f"bearer  {key.a.text} "},
        {"X-API-Key": key.a.text},
    ):
        assert (await stranger.get("/v1/jobs", headers=headers)).status_code == 200


async def test_a_key_in_the_query_is_not_taken(stranger: httpx.AsyncClient, key: Keys) -> None:
    problem(await stranger.get(f"/v1/jobs?key={key.a.text}"), 401, "unauthenticated")


async def test_a_key_of_another_environment_never_reaches_the_database(
    stranger: httpx.AsyncClient, key: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    problem(await stranger.get("/v1/jobs", headers=bearer(keys.make("test"))), 401, "unauthenticated")
    assert counted.calls == []


async def test_a_key_ends_when_it_expires(a: httpx.AsyncClient, stranger: httpx.AsyncClient, cell: Cell) -> None:
    body = {"name": "short", "scopes": ["jobs:read"], "expires_at": "2100-01-01T00:00:00Z"}
    made = (await a.post("/v1/keys", json=body)).json()
    assert (await stranger.get("/v1/jobs", headers=bearer(made["key"]))).status_code == 200
    await cell.pass_time(100 * 365.25 * 86400)
    problem(await stranger.get("/v1/jobs", headers=bearer(made["key"])), 401, "unauthenticated")
    body["expires_at"] = "2020-01-01T00:00:00Z"
    problem(await stranger.post("/v1/keys", json=body, headers=bearer(await fresh(cell))), 422, "invalid")


async def fresh(cell: Cell) -> Key:
    return await make_key(cell, cell.tenant_a)


async def test_a_key_is_rotated_without_a_gap(a: httpx.AsyncClient, stranger: httpx.AsyncClient, key: Keys) -> None:
    made = await a.post("/v1/keys", json={"name": "next", "scopes": ALL, "queues": ["default"]})
    assert made.status_code == 201
    second = made.json()["key"]
    for text in (key.a.text, second):
        assert (await stranger.get("/v1/jobs", headers=bearer(text))).status_code == 200
    gone = await stranger.delete(f"/v1/keys/{key.a.key_id}", headers=bearer(second))
    assert (gone.status_code, gone.content) == (204, b"")
    problem(await stranger.get("/v1/jobs", headers=bearer(key.a)), 401, "unauthenticated")
    assert (await stranger.get("/v1/jobs", headers=bearer(second))).status_code == 200
    assert (await stranger.delete(f"/v1/keys/{key.a.key_id}", headers=bearer(second))).status_code == 204


async def test_a_revoked_key_is_refused_by_every_process_at_once(cell: Cell, key: Keys) -> None:
    async with (
        open_services(settings_of(cell), loopback=True) as one,
        open_services(settings_of(cell), loopback=True) as two,
        client_of(one, key.a) as here,
        client_of(two, key.a) as there,
    ):
        assert (await there.get("/v1/jobs")).status_code == 200
        assert (await here.delete(f"/v1/keys/{key.a.key_id}")).status_code == 204
        problem(await there.get("/v1/jobs"), 401, "unauthenticated")


async def test_a_key_is_listed_without_its_secret(a: httpx.AsyncClient, key: Keys) -> None:
    made = (await a.post("/v1/keys", json={"name": "shop", "scopes": ["jobs:read"]})).json()
    response = await a.get("/v1/keys")
    found = {row["key_id"]: row for row in response.json()["data"]}
    assert set(found) == {key.a.key_id, made["key_id"]}
    assert found[made["key_id"]]["created_by"] == f"key:{key.a.key_id}"
    assert found[made["key_id"]]["last_used_at"] is None
    assert made["key"] not in response.text
    assert "digest" not in response.text


async def test_last_use_is_written_once_a_minute(a: httpx.AsyncClient, cell: Cell, key: Keys) -> None:
    async def last_used() -> str:
        [row] = await cell.look(f"select last_used_at, xmin from leasehold.api_key where key_id = '{key.a.key_id}'")
        return str(row)

    await a.get("/v1/jobs")
    first = await last_used()
    await a.get("/v1/jobs")
    assert await last_used() == first
    await cell.pass_time(61)
    await a.get("/v1/jobs")
    assert await last_used() != first


async def test_nobody_gives_away_what_they_lack(cell: Cell, services: Services) -> None:
    admin = await make_key(cell, cell.tenant_a, scopes=["admin", "jobs:read"])
    async with client_of(services, admin) as client:
        assert (await client.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"]})).status_code == 201
        for more in ("jobs:write", "operator"):
            problem(await client.post("/v1/keys", json={"name": "n", "scopes": [more]}), 403, "forbidden")
        named = {"name": "n", "scopes": ["jobs:read"], "tenant": "b"}
        problem(await client.post("/v1/keys", json=named), 403, "forbidden")
        problem(await client.get("/v1/keys?tenant=b"), 403, "forbidden")


async def test_the_operator_makes_keys_for_a_tenant_and_for_itself(
    operator: httpx.AsyncClient, stranger: httpx.AsyncClient, cell: Cell
) -> None:
    made = (await operator.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"], "tenant": "b"})).json()
    assert made["tenant_id"] == str(cell.tenant_b)
    assert (await stranger.get("/v1/jobs", headers=bearer(made["key"]))).status_code == 200
    assert (await operator.delete(f"/v1/keys/{made['key_id']}?tenant=b")).status_code == 204
    mine = (await operator.post("/v1/keys", json={"name": "n", "scopes": ["operator"]})).json()
    assert (await stranger.get("/v1/tenants", headers=bearer(mine["key"]))).status_code == 200
    refused = {"name": "n", "scopes": ["operator"], "tenant": "b"}
    problem(await operator.post("/v1/keys", json=refused), 422, "invalid")
    problem(await operator.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"]}), 422, "invalid")
    problem(await operator.get("/v1/jobs"), 403, "forbidden")


async def test_a_key_for_metrics_reads_the_metrics_and_nothing_else(
    operator: httpx.AsyncClient, services: Services, cell: Cell
) -> None:
    made = (await operator.post("/v1/keys", json={"name": "prometheus", "scopes": ["metrics"]})).json()
    assert (made["tenant_id"], made["scopes"]) == (None, ["metrics"])
    for mixed in (["metrics", "jobs:read"], ["operator", "metrics"]):
        problem(await operator.post("/v1/keys", json={"name": "n", "scopes": mixed}), 422, "invalid")
    named = {"name": "n", "scopes": ["metrics"], "tenant": "b"}
    problem(await operator.post("/v1/keys", json=named), 422, "invalid")
    admin = await make_key(cell, cell.tenant_a, scopes=["admin"])
    async with client_of(services, admin) as client:
        problem(await client.post("/v1/keys", json={"name": "n", "scopes": ["metrics"]}), 403, "forbidden")

    app = create_app(services)
    dashboard.mount(app, [])
    away = httpx.ASGITransport(app, client=("198.51.100.7", 1234))  # /metrics is open to this machine
    some = {"job_id": str(cell.tenant_a), "key_id": made["key_id"], "name": "default"}
    async with httpx.AsyncClient(transport=away, base_url="http://localhost", headers=bearer(made["key"])) as client:
        assert (await client.get("/metrics")).status_code == 200
        tried = 0
        for path, item in CORE["paths"].items():
            at = re.sub(r"{(\w+)}", lambda found: some.get(found[1], str(cell.tenant_a)), path)
            for method, operation in item.items():
                if operation.get("x-leasehold-scopes"):
                    refused = await client.request(method, at)
                    assert refused.status_code == 403, f"{method} {path}: {refused.text}"
                    tried += 1
        assert tried >= 90
        for page in ("/", "/jobs", "/queues", "/tenants", "/keys"):
            assert (await client.get(page)).status_code == 403, page
    async with httpx.AsyncClient(transport=away, base_url="http://localhost") as client:
        assert (await client.get("/metrics")).status_code == 401


async def test_a_key_of_another_tenant_cannot_be_revoked(a: httpx.AsyncClient, key: Keys) -> None:
    for key_id in (key.b.key_id, key.operator.key_id, "0" * 22):
        problem(await a.delete(f"/v1/keys/{key_id}"), 404, "not_found")
    problem(await a.delete("/v1/keys/junk"), 404, "not_found")


async def test_a_key_is_never_kept_under_an_idempotency_key(a: httpx.AsyncClient) -> None:
    body = {"name": "n", "scopes": ["jobs:read"]}
    problem(await a.post("/v1/keys", json=body, headers={"Idempotency-Key": "k"}), 400, "bad_request")


async def test_the_secret_is_nowhere_in_the_database(a: httpx.AsyncClient, cell: Cell) -> None:
    made = (await a.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"]})).json()
    secret = made["key"].rpartition("_")[2]
    for table in ("api_key", "audit", "request"):
        assert secret not in str(await cell.look(f"select t::text from leasehold.{table} t"))


async def test_a_new_pepper_leaves_the_keys_of_the_old_one(cell: Cell, key: Keys) -> None:
    both = f"another pepper that is long enough to be one,{PEPPER}"
    async with (
        open_services(settings_of(cell, key_pepper=both), loopback=True) as services,
        client_of(services, key.a) as client,
    ):
        assert (await client.get("/v1/jobs")).status_code == 200
    async with (
        open_services(settings_of(cell, key_pepper=both.partition(",")[0]), loopback=True) as services,
        client_of(services, key.a) as client,
    ):
        problem(await client.get("/v1/jobs"), 401, "unauthenticated")


async def test_a_tenant_has_a_bounded_number_of_live_keys(cell: Cell, a: httpx.AsyncClient, key: Keys) -> None:
    await cell.change(
        "insert into leasehold.api_key (key_id, tenant_id, name, scopes, digest, pepper_id, created_by, created_at)"
        f" select lpad(n::text, 22, '0'), '{cell.tenant_a}', 'n', array['admin'], sha256('x'), 'p', 'c', now()"
        " from generate_series(1, 99) n"
    )
    problem(await a.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"]}), 429, "quota_exceeded")
    await a.delete(f"/v1/keys/{'1'.zfill(22)}")
    assert (await a.post("/v1/keys", json={"name": "n", "scopes": ["jobs:read"]})).status_code == 201
