"""Secrets over HTTP: they go in, and none comes out."""

from pathlib import Path

import httpx
import pytest

from leasehold.database.database import Database
from leasehold.features.secrets import store as secrets
from leasehold.http.app import Services, open_services
from leasehold.sealing import Keys as SealingKeys
from tests.cell import Cell
from tests.http.conftest import SECRET_KEY, Keys, client_of, make_key, problem, settings_of

VALUE = "sk_test_very_secret_value"


async def test_a_secret_from_its_setting_to_its_removal(a: httpx.AsyncClient, cell: Cell, worker_db: Database) -> None:
    async def opened() -> str:
        return await secrets.open_secret(worker_db, cell.tenant_a, "stripe", SealingKeys([SECRET_KEY]))

    for value in (VALUE, "another value"):
        kept = await a.put("/v1/secrets/stripe", json={"value": value})
        assert (kept.status_code, kept.content) == (204, b"")
        assert await opened() == value
        await cell.pass_time(60)
    [found] = (await a.get("/v1/secrets")).json()["data"]
    assert set(found) == {"name", "key_id", "created_at", "updated_at"}
    assert (found["name"], found["updated_at"] > found["created_at"]) == ("stripe", True)
    gone = await a.delete("/v1/secrets/stripe")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await a.get("/v1/secrets")).json() == {"data": []}
    problem(await a.delete("/v1/secrets/stripe"), 404, "not_found")


async def test_no_answer_holds_a_value_and_the_audit_log_names_the_key(a: httpx.AsyncClient, key: Keys) -> None:
    answers = [
        await a.put("/v1/secrets/stripe", json={"value": VALUE}),
        await a.put("/v1/secrets/stripe", json={"value": VALUE, "more": VALUE}),
        await a.put("/v1/secrets/stripe", json={"value": [VALUE]}),
        await a.put("/v1/secrets/stripe", json={"value": VALUE * 10_000}),
        await a.get("/v1/secrets"),
        await a.get("/v1/secrets/stripe"),
        await a.delete("/v1/secrets/stripe"),
    ]
    assert [answer.status_code for answer in answers] == [204, 422, 422, 422, 200, 405, 204]
    log = await a.get("/v1/audit")
    assert not [answer.text for answer in [*answers, log] if VALUE in answer.text]
    entries = [entry for entry in log.json()["data"] if entry["target"] == "stripe"]
    assert [entry["action"] for entry in entries] == ["secret.remove", "secret.set"]
    assert {entry["actor"] for entry in entries} == {f"key:{key.a.key_id}"}


async def test_another_tenant_has_its_own_secrets_only(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    await a.put("/v1/secrets/stripe", json={"value": VALUE})
    assert (await b.get("/v1/secrets")).json() == {"data": []}
    problem(await b.delete("/v1/secrets/stripe"), 404, "not_found")
    assert [row["name"] for row in (await a.get("/v1/secrets")).json()["data"]] == ["stripe"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"value": "short"}, id="too short to be masked in a log"),
        pytest.param({"value": 123456}, id="a number"),
        pytest.param({"value": "x" * 65_537}, id="too long"),
        pytest.param({"value": "ä" * 65_536}, id="too long in bytes"),
    ],
)
async def test_a_value_that_cannot_be_is_refused(a: httpx.AsyncClient, body: object) -> None:
    problem(await a.put("/v1/secrets/stripe", json=body), 422, "invalid")
    assert (await a.get("/v1/secrets")).json() == {"data": []}


async def test_half_a_character_is_refused(a: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await a.put("/v1/secrets/stripe", content=rb'{"value": "half \ud800 of one"}', headers=headers)
    problem(answer, 422, "invalid")


@pytest.mark.parametrize("name", ["Stripe", "a b", "x" * 64, "endpoint%2F1", "-"])
async def test_a_name_that_no_secret_can_have_is_not_found(a: httpx.AsyncClient, name: str) -> None:
    problem(await a.put(f"/v1/secrets/{name}", json={"value": VALUE}), 404, "not_found")


async def test_secrets_are_the_administrators(cell: Cell, services: Services, key: Keys) -> None:
    for scopes in (["jobs:read"], ["jobs:write"]):
        async with client_of(services, await make_key(cell, cell.tenant_a, scopes=scopes)) as client:
            problem(await client.get("/v1/secrets"), 403, "forbidden")
            problem(await client.put("/v1/secrets/stripe", json={"value": VALUE}), 403, "forbidden")
            problem(await client.delete("/v1/secrets/stripe"), 403, "forbidden")
    async with client_of(services, key.operator) as client:
        problem(await client.get("/v1/secrets"), 403, "forbidden")


@pytest.mark.parametrize("file", [None, Path("/nowhere/keys")], ids=["no keys", "no file of keys"])
async def test_a_server_without_keys_says_so_and_serves_the_rest(
    cell: Cell, key: Keys, a: httpx.AsyncClient, file: Path | None
) -> None:
    await a.put("/v1/secrets/stripe", json={"value": VALUE})
    settings = settings_of(cell, secret_keys=None, secret_keys_file=file)
    async with open_services(settings, loopback=True) as services, client_of(services, key.a) as client:
        refused = await client.put("/v1/secrets/other", json={"value": VALUE})
        assert "LEASEHOLD_SECRET_KEYS" in problem(refused, 503, "unavailable")["detail"]
        assert "/nowhere" not in refused.text
        assert [row["name"] for row in (await client.get("/v1/secrets")).json()["data"]] == ["stripe"]
        assert (await client.delete("/v1/secrets/stripe")).status_code == 204
        assert (await client.post("/v1/jobs", json={"kind": "t.work"})).status_code == 202
