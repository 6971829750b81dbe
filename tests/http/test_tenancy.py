"""A key of one tenant over every operation of the document with everything that belongs to another."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.cell import Cell
from tests.features.people.signed_in import COOKIE, ORIGIN, armed, invite, member
from tests.http.conftest import Hand, Keys
from tests.http.documents import CORE

MARK = "belongs to b"
SHARED = "a key that both tenants use"
PERSON = "only-b-has-people-of-this-name"
SECRET = "only-b-has-a-secret-of-this-name"
NAME = "stripe"  # of a secret and of a schedule, that A may have too
PATHS: dict[str, Any] = CORE["paths"]
OPERATIONS = [(method, path, PATHS[path][method]) for path in PATHS for method in PATHS[path]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfB:
    """Ids of what is tenant B's."""

    jobs: list[str]
    endpoints: list[str]
    deliveries: list[str]
    people: list[str]
    invitations: list[str]
    sessions: list[str]
    flows: list[str]
    worker: str
    tokens: list[str]


async def fill(b: httpx.AsyncClient, cell: Cell, hand: Hand) -> OfB:
    """Everything that tenant B can have; each thing says whose it is."""
    jobs = await fill_jobs(b, hand)
    worker = (await b.post("/v1/workers", json={"name": MARK, "slots": 100})).json()["worker_id"]
    claimed = (await b.post(f"/v1/workers/{worker}/claim", json={"n": 1, "held": []})).json()["data"]
    await b.post("/v1/jobs", json={"kind": "t.work", "payload": {"note": MARK}})  # one that a claim of A might meet
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
    asks = {"kind": "flow.approval", "name": MARK, "payload": {"message": MARK}}
    flows = [(await b.post("/v1/flows", json={"name": "of-b", "steps": [asks]})).json()["flow_id"] for _ in range(2)]
    await b.post(f"/v1/flows/{flows[1]}/cancel", json={"reason": MARK})
    jobs += [one["job_id"] for one in (await b.get("/v1/approvals")).json()["data"]]
    token, person = await member(cell, cell.tenant_b, "owner", f"{PERSON}@example.com")
    await invite(cell, cell.tenant_b, f"{PERSON}-next@example.com")
    [row] = await cell.look("select invitation_id from leasehold.invitation")
    return OfB(
        jobs=jobs,
        endpoints=[endpoint],
        deliveries=deliveries,
        people=[str(person.person_id)],
        invitations=[row["invitation_id"]],
        sessions=[token.key_id],
        flows=flows,
        worker=worker,
        tokens=[one["token"] for one in claimed],
    )


async def fill_jobs(b: httpx.AsyncClient, hand: Hand) -> list[str]:
    """Jobs in every state that a request can meet."""

    async def ask(**more: object) -> str:
        body = {"kind": "t.work", "payload": {"note": MARK}, "tags": [MARK]} | more
        return str((await b.post("/v1/jobs", json=body)).json()["job_id"])

    ended = [await ask(key=SHARED), await ask()]
    for outcome in ("succeeded", "failed"):
        grant = await hand.claim()
        await hand.say(grant, 50, MARK)
        await hand.log(grant, MARK)
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
        "person_id": of_b.people,
        "invitation_id": of_b.invitations,
        "session_id": of_b.sessions,
        "flow_id": of_b.flows,
        "name": [NAME],
        "key_id": [key.b.key_id, key.operator.key_id],
        "tenant": ["b", str(cell.tenant_b)],
        "queue": ["default"],
        "kind": ["t.work"],
        "worker_id": [of_b.worker],
    }
    for method, path, operation in OPERATIONS:
        [name] = [part for part in ids if f"{{{part}}}" in path] or [""]
        for address in [path.replace(f"{{{name}}}", value) for value in ids[name]] if name else [path]:
            for body in bodies(operation, of_b):
                yield method, address, body


def bodies(operation: dict[str, Any], of_b: OfB) -> Iterator[Any]:
    if "requestBody" not in operation:
        yield None
        return
    named: dict[str, list[Any]] = {
        "jobs.create": [{"kind": "t.work", "key": SHARED, "payload": {"note": "of a"}}],
        "jobs.create_batch": [{"jobs": [{"kind": "t.work", "key": SHARED, "payload": {"note": "of a"}}]}],
        "jobs.act": [{"action": action, "filter": {"kind": "t.work"}} for action in ("retry", "cancel", "delete")],
        "jobs.reschedule": [{"run_at": "2030-01-01T00:00:00Z"}],
        "schedules.put": [{"kind": "t.work", "payload": "of a", "cron": "@daily"}],
        "flows.create": [{"name": "of-a", "steps": [{"kind": "t.work"}]}],
        "flows.signal": [{"signal": "go"}],
        "keys.create": [{"name": "n", "scopes": ["jobs:read"], "tenant": "b"}],
        "me.choose_tenant": [{"tenant": "b"}],
        "members.set": [{"role": "viewer"}],
        "invitations.create": [
            {"email": f"{PERSON}-next@example.com", "role": "viewer", "tenant": "b"},
            {"email": "somebody@example.com", "role": "viewer"},
        ],
        "tickets.create": [*({"job_id": job} for job in of_b.jobs), *({"flow_id": flow} for flow in of_b.flows)],
        "tenants.create": [{"name": "b"}],
        "tenants.set": [{"weight": 9}],
        "queues.limit": [{"max_running": 5}],
        "kinds.limit": [{"max_running": 5}],
        "secrets.set": [{"value": "a secret of a"}],
        "webhooks.create": [{"url": "https://example.com/of-a", "events": ["*"]}],
        "workers.register": [{"name": "of a"}],
        "workers.claim": [{"n": 10, "held": of_b.tokens}],
        "workers.beat": [{"held": of_b.tokens}],
        "workers.finish": [
            {"ended": [{"job_id": job, "token": token, "outcome": "succeeded", "result": "of a"}]}
            for job in of_b.jobs
            for token in of_b.tokens
        ],
        "workers.say": [{"said": [{"token": of_b.tokens[0], "type": "log", "message": "of a"}]}],
        "workers.extend": [{"token": of_b.tokens[0], "seconds": 600}],
        "webhooks.recover": [{"since": "2020-01-01T00:00:00Z"}],
    }
    yield from named.get(operation["operationId"], [{}])


@pytest.mark.parametrize(
    ("who", "accept"), [("key", "application/json"), ("key", "text/event-stream"), ("owner", "application/json")]
)
async def test_whoever_is_of_a_reads_and_changes_nothing_of_b(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell, key: Keys, hand: Hand, who: str, accept: str
) -> None:
    of_b = await fill(b, cell, hand)
    if who == "owner":  # a person, in a browser
        token, _ = await member(cell, cell.tenant_a, "owner")
        del a.headers["Authorization"]
        a.base_url = httpx.URL(ORIGIN)
        a.headers.update({"Origin": ORIGIN, "Cookie": f"{COOKIE}={token.text}"})
        await armed(a)
    before = await belongings(cell)
    tables = {row["table"] for row in before}
    assert tables >= {"job", "outcome", "event", "audit", "api_key", "ticket", "request", "schedule"}
    assert tables >= {"flow", "step", "waiting"}
    assert tables >= {"secret", "endpoint", "webhook_event", "delivery", "delivery_attempt"}
    assert tables >= {"membership", "invitation", "session"}
    marks = {
        MARK,
        SECRET,
        PERSON,
        "of-b",
        str(cell.tenant_b),
        key.b.key_id,
        *of_b.jobs,
        *of_b.endpoints,
        *of_b.deliveries,
    }
    marks |= {*of_b.people, *of_b.invitations, *of_b.sessions, *of_b.flows, of_b.worker, *of_b.tokens}
    asked = [request for request in requests(cell, key, of_b) if request[1] != "/v1/auth/logout"]
    assert len(asked) > len(OPERATIONS)
    for method, address, body in asked:
        if accept == "text/event-stream" and address in ("/v1/events", "/v1/logs"):
            continue  # streams of A itself, which do not end: see test_streams
        once = {"Idempotency-Key": SHARED} if method == "post" and "jobs" in address else {}
        response = await a.request(method, address, json=body, headers={"Accept": accept} | once)
        assert response.status_code < 500, (method, address, response.text)
        told = response.text
        if response.status_code in (404, 409):  # it may repeat what was asked for
            told = json.dumps(response.json() | {"instance": "", "detail": ""})
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
        if method == "delete" or (method, address[-7:]) == ("get", "/events"):
            continue
        if (await b.request(method, address, json=body)).is_success:
            worked.add((method, address.split("/")[-1] if "jobs/" in address else address))
    assert {("get", "attempts"), ("get", "result"), ("get", "explain"), ("post", "cancel"), ("post", "retry")} <= worked
    assert {("get", f"/v1/schedules/{NAME}"), ("post", f"/v1/schedules/{NAME}/run")} <= worked
    assert {("get", "/v1/jobs"), ("get", "/v1/keys"), ("get", "/v1/audit"), ("post", "/v1/tickets")} <= worked
    assert {("get", "/v1/secrets"), ("put", "/v1/secrets/stripe"), ("get", "/v1/deliveries")} <= worked
    assert {("get", "/v1/flows"), ("get", f"/v1/flows/{of_b.flows[0]}/steps")} <= worked
    assert {("post", f"/v1/flows/{of_b.flows[0]}/signal"), ("post", f"/v1/flows/{of_b.flows[1]}/retry")} <= worked
    assert ("post", f"/v1/approvals/{of_b.jobs[-1]}/approve") in worked
    endpoint, delivery = of_b.endpoints[0], of_b.deliveries[0]
    for what in ("pause", "resume", "rotate", "recover"):
        assert ("post", f"/v1/webhooks/{endpoint}/{what}") in worked
    for what in ("claim", "beat", "finish", "events", "stop"):
        assert ("post", f"/v1/workers/{of_b.worker}/{what}") in worked
    assert {("get", f"/v1/webhooks/{endpoint}"), ("get", f"/v1/deliveries/{delivery}/attempts")} <= worked
