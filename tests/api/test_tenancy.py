"""A key of one tenant over every operation of the document with everything that belongs to another."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from leasehold.api import bare_app
from leasehold.api.openapi import document
from tests.api.conftest import Hand, Keys, problem
from tests.cell import Cell

MARK = "belongs to b"
SHARED = "a key that both tenants use"
SECRET = "only-b-has-a-secret-of-this-name"
NAME = "stripe"  # of a secret and of a schedule, that A may have too
OPERATIONS = [
    (method, path, operation)
    for path, item in document(bare_app())["paths"].items()
    for method, operation in item.items()
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfB:
    """Ids of what is tenant B's."""

    jobs: list[str]
    endpoints: list[str]
    deliveries: list[str]


async def fill(b: httpx.AsyncClient, cell: Cell, hand: Hand) -> OfB:
    """Everything that tenant B can have; each thing says whose it is."""
    jobs = await fill_jobs(b, hand)
    await b.post("/v1/tickets", json={"job_id": jobs[-1]})
    await b.post("/v1/keys", json={"name": MARK, "scopes": ["jobs:read"]})
    for name in (NAME, SECRET):
        await b.put(f"/v1/secrets/{name}", json={"value": MARK})
    await b.put(f"/v1/schedules/{NAME}", json={"kind": "t.work", "payload": MARK, "every_s": 60})
    body = {"url": "https://example.com/of-b", "events": ["*"], "headers": {"X-Of": MARK}}
    endpoint = (await b.post("/v1/webhooks", json=body)).json()["endpoint_id"]
    deliveries = [(await b.post(f"/v1/webhooks/{endpoint}/test")).json()["delivery_id"] for _ in range(2)]
    [_, first] = (await b.get("/v1/deliveries")).json()["data"]
    await hand.deliver(cell.tenant_b, first, status=500, body=MARK)
    return OfB(jobs=jobs, endpoints=[endpoint], deliveries=deliveries)


async def fill_jobs(b: httpx.AsyncClient, hand: Hand) -> list[str]:
    """Jobs in every state that a request can meet."""

    async def ask(**more: object) -> str:
        body = {"kind": "t.work", "payload": {"note": MARK}, "tags": [MARK]} | more
        return str((await b.post("/v1/jobs", json=body)).json()["job_id"])

    ended = [await ask(key=SHARED), await ask()]
    for outcome in ("succeeded", "failed"):
        grant = await hand.claim()
        await hand.say(grant, 50, MARK)
        await hand.end(grant, outcome, result=json.dumps(MARK), error=json.dumps({"message": MARK}))
    running = await ask()
    await hand.say(await hand.claim(), 50, MARK)
    canceled = await ask(delay_s=1000)
    await b.post(f"/v1/jobs/{canceled}/cancel", json={"reason": MARK}, headers={"Idempotency-Key": SHARED})
    return [*ended, running, canceled, await ask(delay_s=1000), await ask()]


async def belongings(cell: Cell) -> list[dict[str, Any]]:
    """Every row of the schema that is tenant B's, but for when its key was last used."""
    tables = await cell.look(
        "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'leasehold'::regnamespace and a.attname = 'tenant_id'"
        " and c.relkind in ('r', 'p') and not c.relispartition order by 1"
    )
    return [
        {"table": table["relname"]} | row
        for table in tables
        for row in await cell.look(
            f"select * from leasehold.{table['relname']} t where tenant_id = '{cell.tenant_b}' order by t::text"
        )
    ]


def requests(cell: Cell, key: Keys, of_b: OfB) -> Iterator[tuple[str, str, Any]]:
    """Every operation with everything of B that fits its path, and bodies that name B's things."""
    ids = {
        "job_id": of_b.jobs,
        "endpoint_id": of_b.endpoints,
        "delivery_id": of_b.deliveries,
        "name": [NAME],
        "key_id": [key.b.key_id, key.operator.key_id],
        "tenant": ["b", str(cell.tenant_b)],
        "queue": ["default"],
    }
    for method, path, operation in OPERATIONS:
        [name] = [part for part in ids if f"{{{part}}}" in path] or [""]
        for address in [path.replace(f"{{{name}}}", value) for value in ids[name]] if name else [path]:
            for body in bodies(operation, of_b.jobs):
                yield method, address, body


def bodies(operation: dict[str, Any], jobs: list[str]) -> Iterator[Any]:
    if "requestBody" not in operation:
        yield None
        return
    named: dict[str, list[Any]] = {
        "jobs.create": [{"kind": "t.work", "key": SHARED, "payload": {"note": "of a"}}],
        "jobs.create_batch": [{"jobs": [{"kind": "t.work", "key": SHARED, "payload": {"note": "of a"}}]}],
        "jobs.reschedule": [{"run_at": "2030-01-01T00:00:00Z"}],
        "schedules.put": [{"kind": "t.work", "payload": "of a", "cron": "@daily"}],
        "keys.create": [{"name": "n", "scopes": ["jobs:read"], "tenant": "b"}],
        "tickets.create": [{"job_id": job} for job in jobs],
        "tenants.create": [{"name": "b"}],
        "tenants.set": [{"weight": 9}],
        "secrets.set": [{"value": "a secret of a"}],
        "webhooks.create": [{"url": "https://example.com/of-a", "events": ["*"]}],
        "webhooks.recover": [{"since": "2020-01-01T00:00:00Z"}],
    }
    yield from named.get(operation["operationId"], [{}])


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_key_of_a_reads_and_changes_nothing_of_b(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell, key: Keys, hand: Hand, accept: str
) -> None:
    of_b = await fill(b, cell, hand)
    before = await belongings(cell)
    tables = {row["table"] for row in before}
    assert tables >= {"job", "outcome", "event", "audit", "api_key", "ticket", "request", "schedule"}
    assert tables >= {"secret", "endpoint", "webhook_event", "delivery", "delivery_attempt"}
    marks = {MARK, SECRET, "of-b", str(cell.tenant_b), key.b.key_id, *of_b.jobs, *of_b.endpoints, *of_b.deliveries}
    asked = list(requests(cell, key, of_b))
    assert len(asked) > len(OPERATIONS)
    for method, address, body in asked:
        once = {"Idempotency-Key": SHARED} if method == "post" and "jobs" in address else {}
        response = await a.request(method, address, json=body, headers={"Accept": accept} | once)
        assert response.status_code < 500, (method, address, response.text)
        told = response.text
        if response.status_code == 404:  # it may repeat what was asked for
            told = json.dumps(problem(response, 404, "not_found") | {"instance": "", "detail": ""})
        elif response.is_error:
            told = told.replace(address, "")
        assert not [thing for thing in marks if thing in told], (method, address, told)
    assert await belongings(cell) == before


async def test_the_same_requests_by_b_itself_find_something(
    b: httpx.AsyncClient, cell: Cell, key: Keys, hand: Hand
) -> None:
    """Without this, the test above could pass by asking nonsense."""
    of_b = await fill(b, cell, hand)
    worked = set()
    for method, address, body in requests(cell, key, of_b):
        if method != "delete" and "events" not in address and (await b.request(method, address, json=body)).is_success:
            worked.add((method, address.split("/")[-1] if "jobs/" in address else address))
    assert {("get", "attempts"), ("get", "result"), ("get", "explain"), ("post", "cancel"), ("post", "retry")} <= worked
    assert {("get", f"/v1/schedules/{NAME}"), ("post", f"/v1/schedules/{NAME}/run")} <= worked
    assert {("get", "/v1/jobs"), ("get", "/v1/keys"), ("get", "/v1/audit"), ("post", "/v1/tickets")} <= worked
    assert {("get", "/v1/secrets"), ("put", "/v1/secrets/stripe"), ("get", "/v1/deliveries")} <= worked
    endpoint, delivery = of_b.endpoints[0], of_b.deliveries[0]
    for what in ("pause", "resume", "rotate", "recover"):
        assert ("post", f"/v1/webhooks/{endpoint}/{what}") in worked
    assert {("get", f"/v1/webhooks/{endpoint}"), ("get", f"/v1/deliveries/{delivery}/attempts")} <= worked
