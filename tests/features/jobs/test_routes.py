"""Jobs over HTTP: asked for, looked at, acted on."""

import asyncio
from uuid import UUID

import asyncpg
import httpx
import pytest

from leasehold.database.database import Role
from leasehold.engine import jobs
from leasehold.http.app import Services
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, bearer, client_of, make_key, problem

NOBODY = str(UUID(int=7))
SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def ask(client: httpx.AsyncClient, **more: object) -> str:
    response = await client.post("/v1/jobs", json={"kind": "t.work"} | more)
    assert response.status_code == 202, response.text
    return str(response.json()["job_id"])


async def test_a_job_is_accepted_and_its_address_leads_to_it(a: httpx.AsyncClient) -> None:
    made = await a.post("/v1/jobs", json={"kind": "t.work", "payload": {"n": 1}, "tags": ["vip"], "priority": 1})
    assert made.status_code == 202
    assert made.json()["created"] is True
    assert made.headers["link"] == f'<{made.headers["location"]}/events>; rel="monitor"'
    job = (await a.get(made.headers["location"])).json()
    assert (job["kind"], job["payload"], job["tags"], job["priority"]) == ("t.work", {"n": 1}, ["vip"], 1)
    assert (job["state"], job["created_at"][-1]) == ("queued", "Z")


async def test_the_trace_of_the_request_is_the_trace_of_the_job(a: httpx.AsyncClient) -> None:
    made = await a.post("/v1/jobs", json={"kind": "t.work"}, headers={"traceparent": SPAN})
    assert (await a.get(made.headers["location"])).json()["traceparent"] == SPAN
    junk = await a.post("/v1/jobs", json={"kind": "t.work"}, headers={"traceparent": "junk"})
    assert (await a.get(junk.headers["location"])).json()["traceparent"] is None


async def test_a_key_in_the_body_is_the_same_job_and_another_payload_a_conflict(a: httpx.AsyncClient) -> None:
    first = await a.post("/v1/jobs", json={"kind": "t.work", "key": "k", "payload": 1})
    again = await a.post("/v1/jobs", json={"kind": "t.work", "key": "k", "payload": 1})
    assert (again.status_code, again.json()["created"]) == (200, False)
    assert again.json()["job_id"] == first.json()["job_id"]
    problem(await a.post("/v1/jobs", json={"kind": "t.work", "key": "k", "payload": 2}), 409, "conflict")


async def test_an_idempotency_key_gives_the_first_answer_again(a: httpx.AsyncClient) -> None:
    once = {"Idempotency-Key": "order-7"}
    first = await a.post("/v1/jobs", json={"kind": "t.work"}, headers=once)
    again = await a.post("/v1/jobs", json={"kind": "t.work"}, headers=once)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
    problem(await a.post("/v1/jobs", json={"kind": "t.other"}, headers=once), 422, "key_reused")
    assert len((await a.get("/v1/jobs")).json()["data"]) == 1


async def test_a_refused_request_is_not_kept_under_its_idempotency_key(a: httpx.AsyncClient) -> None:
    once = {"Idempotency-Key": "k"}
    problem(await a.post("/v1/jobs", json={"kind": "t.work", "queue": "nowhere"}, headers=once), 404, "not_found")
    assert (await a.post("/v1/jobs", json={"kind": "t.work"}, headers=once)).status_code == 202


async def test_the_same_idempotency_key_at_once_makes_one_job(a: httpx.AsyncClient) -> None:
    asked = [a.post("/v1/jobs", json={"kind": "t.work"}, headers={"Idempotency-Key": "k"}) for _ in range(20)]
    answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    assert len((await a.get("/v1/jobs")).json()["data"]) == 1


async def test_an_idempotency_key_belongs_to_its_tenant(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    once = {"Idempotency-Key": "k"}
    first = await a.post("/v1/jobs", json={"kind": "t.work"}, headers=once)
    second = await b.post("/v1/jobs", json={"kind": "t.other"}, headers=once)
    assert second.status_code == 202
    assert second.json()["job_id"] != first.json()["job_id"]


async def test_an_idempotency_key_ends_after_a_day(a: httpx.AsyncClient, cell: Cell) -> None:
    once = {"Idempotency-Key": "k"}
    first = await a.post("/v1/jobs", json={"kind": "t.work"}, headers=once)
    await cell.pass_time(86_401)
    second = await a.post("/v1/jobs", json={"kind": "t.other"}, headers=once)
    assert second.status_code == 202
    assert second.json()["job_id"] != first.json()["job_id"]


async def test_a_cancel_under_an_idempotency_key_happens_once(a: httpx.AsyncClient) -> None:
    job = await ask(a, delay_s=100)
    once = {"Idempotency-Key": "k"}
    assert (await a.post(f"/v1/jobs/{job}/cancel", headers=once)).json()["state"] == "canceled"
    assert (await a.post(f"/v1/jobs/{job}/retry", json={"run_at": "2030-01-01T00:00:00Z"})).status_code == 200
    again = await a.post(f"/v1/jobs/{job}/cancel", headers=once)
    assert again.headers["idempotent-replayed"] == "true"
    assert (await a.get(f"/v1/jobs/{job}")).json()["state"] == "scheduled"


async def test_a_batch_is_all_or_none(a: httpx.AsyncClient) -> None:
    batch = [{"kind": "t.b", "payload": 0}, {"kind": "t.a", "key": "x"}, {"kind": "t.b", "payload": 2, "priority": 0}]
    made = (await a.post("/v1/jobs:batch", json={"jobs": batch})).json()["data"]
    kinds = [(await a.get(f"/v1/jobs/{job['job_id']}")).json() for job in made]
    assert [(job["kind"], job["payload"]) for job in kinds] == [("t.b", 0), ("t.a", {}), ("t.b", 2)]
    refused = await a.post("/v1/jobs:batch", json={"jobs": [{"kind": "t.c"}, {"kind": "t.c", "queue": "nowhere"}]})
    problem(refused, 404, "not_found")
    assert (await a.get("/v1/jobs?kind=t.c")).json()["data"] == []
    problem(await a.post("/v1/jobs:batch", json={"jobs": [{"kind": "t.c"}] * 1001}), 422, "invalid")


async def test_pages_are_read_by_their_cursor_and_link(a: httpx.AsyncClient) -> None:
    asked = [await ask(a, payload=n) for n in range(5)]
    seen, address = [], "/v1/jobs?limit=2&kind=t.work"
    while address:
        response = await a.get(address)
        body = response.json()
        assert all("payload" not in job for job in body["data"])
        seen += [job["job_id"] for job in body["data"]]
        assert body["has_more"] == ("link" in response.headers) == (body["next_cursor"] is not None)
        address = response.links["next"]["url"] if body["has_more"] else ""
    assert seen == asked[::-1]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("state=scheduled", 1),
        ("state=running", 0),
        ("queue=default", 2),
        ("tag=vip", 1),
        ("key=k", 1),
        ("created_after=2030-01-01T00:00:00Z", 0),
        ("created_before=2030-01-01T00:00:00%2B01:00", 2),
    ],
)
async def test_lists_are_filtered(a: httpx.AsyncClient, query: str, count: int) -> None:
    await ask(a, delay_s=100, tags=["vip"])
    await ask(a, key="k")
    assert len((await a.get(f"/v1/jobs?{query}")).json()["data"]) == count


@pytest.mark.parametrize(
    "query",
    [
        "stat=queued",  # a typing error
        "limit=0",
        "limit=201",
        "limit=1&limit=2",
        "state=lost",
        "kind=",
        "cursor=junk",
        "cursor=%00",
        "created_after=yesterday",
        "created_after=1700000000",
        "tag=",
    ],
)
async def test_a_query_that_is_not_understood_is_refused(a: httpx.AsyncClient, query: str) -> None:
    problem(await a.get(f"/v1/jobs?{query}"), 400, "bad_parameter")


async def test_a_job_that_was_read_need_not_be_sent_again(a: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(a)
    first = await a.get(f"/v1/jobs/{job}")
    tag = first.headers["etag"]
    assert tag.startswith('"')
    same = await a.get(f"/v1/jobs/{job}", headers={"If-None-Match": f'"other", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    await hand.claim()
    changed = await a.get(f"/v1/jobs/{job}", headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["state"]) == (200, "running")


async def test_a_condition_that_is_not_looked_at_is_refused(a: httpx.AsyncClient) -> None:
    job = await ask(a)
    problem(await a.get(f"/v1/jobs/{job}", headers={"If-Match": '"x"'}), 400, "bad_parameter")


async def test_a_result_is_there_when_the_job_succeeded(a: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(a)
    assert "queued" in problem(await a.get(f"/v1/jobs/{job}/result"), 409, "no_result")["detail"]
    await hand.end(await hand.claim(), result='{"sum": 3}')
    assert (await a.get(f"/v1/jobs/{job}/result")).json() == {"sum": 3}


async def test_attempts_events_and_reasons_are_told(a: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(a, retry_base_s=1000)
    grant = await hand.claim()
    await hand.say(grant, 40, "half way")
    await hand.end(grant, "errored", error='{"message": "no luck"}')
    [attempt] = (await a.get(f"/v1/jobs/{job}/attempts")).json()["data"]
    assert (attempt["outcome"], attempt["error"]["message"]) == ("errored", "no luck")
    page = (await a.get(f"/v1/jobs/{job}/events?limit=3")).json()
    assert [event["type"] for event in page["data"]] == ["queued", "started", "progress"]
    assert (page["next_after"], page["has_more"]) == (3, True)
    rest = (await a.get(f"/v1/jobs/{job}/events?after=3")).json()
    assert ([event["type"] for event in rest["data"]], rest["has_more"]) == (["errored"], False)
    told = (await a.get(f"/v1/jobs/{job}/explain")).json()
    assert (told["state"], told["reasons"][0]["reason"]) == ("scheduled", "run_at")


async def test_a_job_is_canceled_retried_and_moved(a: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(a)
    await hand.claim()
    asked = await a.post(f"/v1/jobs/{job}/cancel", json={"reason": "withdrawn"})
    assert (asked.status_code, asked.json()["state"], asked.json()["cancel_requested"]) == (202, "running", True)
    other = await ask(a)
    assert (await a.post(f"/v1/jobs/{other}/cancel")).json()["state"] == "canceled"
    assert (await a.post(f"/v1/jobs/{other}/cancel")).status_code == 200
    assert (await a.post(f"/v1/jobs/{other}/retry")).json()["state"] == "scheduled"
    problem(await a.post(f"/v1/jobs/{other}/retry"), 409, "conflict")
    moved = await a.post(f"/v1/jobs/{other}/reschedule", json={"run_at": "2030-01-01T00:00:00+01:00"})
    assert moved.json()["state"] == "scheduled"
    assert (await a.get(f"/v1/jobs/{other}")).json()["run_at"] == "2029-12-31T23:00:00Z"


async def test_what_has_ended_cannot_be_canceled(a: httpx.AsyncClient, hand: Hand) -> None:
    job = await ask(a)
    await hand.end(await hand.claim())
    assert "succeeded" in problem(await a.post(f"/v1/jobs/{job}/cancel"), 409, "conflict")["detail"]
    assert (await a.get("/v1/audit")).json()["data"][0]["action"] == "key.create"


async def test_the_audit_log_names_the_key(a: httpx.AsyncClient, key: Keys) -> None:
    job = await ask(a, delay_s=100)
    await a.post(f"/v1/jobs/{job}/cancel", json={"reason": "withdrawn"})
    [entry, *_] = (await a.get("/v1/audit")).json()["data"]
    assert (entry["actor"], entry["action"], entry["target"]) == (f"key:{key.a.key_id}", "job.cancel", job)


async def test_prefer_wait_answers_when_the_job_has_ended(a: httpx.AsyncClient, hand: Hand) -> None:
    asked = asyncio.create_task(a.post("/v1/jobs", json={"kind": "t.work"}, headers={"Prefer": "wait=20"}))
    grant = await hand.claim_soon()
    await hand.end(grant, result="42")
    answered = await asked
    assert (answered.status_code, answered.headers["preference-applied"]) == (200, "wait=20")
    assert answered.json()["job_id"] == str(grant.job_id)
    assert (answered.json()["state"], answered.json()["job"]["result"]) == ("succeeded", 42)


async def test_prefer_wait_gives_up_in_time(a: httpx.AsyncClient, services: Services) -> None:
    answered = await a.post("/v1/jobs", json={"kind": "t.work"}, headers={"Prefer": "respond-async, wait=1"})
    assert (answered.status_code, answered.headers["preference-applied"]) == (202, "wait=1")
    assert answered.headers["location"]
    assert services.hub.streams == 0


OPERATIONS = [
    ("GET", ""),
    ("GET", "/result"),
    ("GET", "/attempts"),
    ("GET", "/events"),
    ("GET", "/explain"),
    ("POST", "/cancel"),
    ("POST", "/retry"),
    ("POST", "/reschedule"),
]


@pytest.mark.parametrize(("method", "rest"), OPERATIONS)
async def test_a_job_of_another_and_one_that_never_was_are_the_same(
    a: httpx.AsyncClient, b: httpx.AsyncClient, method: str, rest: str
) -> None:
    body = {"run_at": "2030-01-01T00:00:00Z"} if rest == "/reschedule" else None
    theirs = await ask(a)
    said = []
    for job in (theirs, NOBODY):
        found = problem(await b.request(method, f"/v1/jobs/{job}{rest}", json=body), 404, "not_found")
        said.append(found["detail"].replace(job, "ID"))
    assert said[0] == said[1] == "there is no job ID"
    problem(await b.request(method, f"/v1/jobs/not-an-id{rest}", json=body), 404, "not_found")


async def test_a_scope_is_for_what_it_says(cell: Cell, services: Services, a: httpx.AsyncClient) -> None:
    job = await ask(a)
    reader = await make_key(cell, cell.tenant_a, scopes=["jobs:read"])
    writer = await make_key(cell, cell.tenant_a, scopes=["jobs:write"])
    async with client_of(services) as client:
        assert (await client.get(f"/v1/jobs/{job}", headers=bearer(reader))).status_code == 200
        problem(await client.post("/v1/jobs", json={"kind": "t.x"}, headers=bearer(reader)), 403, "forbidden")
        problem(await client.get(f"/v1/jobs/{job}", headers=bearer(writer)), 403, "forbidden")
        assert (await client.post("/v1/jobs", json={"kind": "t.x"}, headers=bearer(writer))).status_code == 202
        problem(await client.get("/v1/keys", headers=bearer(writer)), 403, "forbidden")
        problem(await client.get("/v1/tenants", headers=bearer(reader)), 403, "forbidden")


async def test_a_tenant_over_its_quota_is_told_to_wait(a: httpx.AsyncClient, cell: Cell) -> None:
    await cell.exceed_quota(7)
    refused = await a.post("/v1/jobs", json={"kind": "t.work"})
    problem(refused, 429, "quota_exceeded")
    assert refused.headers["retry-after"] == "5"


async def test_a_bulk_action_is_counted_first_and_done_by_a_job(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    for _ in range(3):
        await ask(a, tags=["x"])
    order = {"action": "cancel", "filter": {"tag": "x", "state": "queued"}}
    counted = await a.post("/v1/jobs:act", json=order | {"dry_run": True})
    assert counted.status_code == 200
    selection = counted.json()
    assert selection | {"selected_at": "", "selection_id": ""} == order | {
        "count": 3, "selected_at": "", "selection_id": "",
    }  # fmt: skip
    await ask(a, tags=["x"])
    at = f"/v1/selections/{selection['selection_id']}/act"
    problem(await b.post(at), 404, "not_found")
    made = await a.post(at, json={"reason": "withdrawn"})
    assert (made.status_code, made.json()["count"], made.json()["created"]) == (202, 3, True)
    job = (await a.get(made.headers["location"])).json()
    assert (job["kind"], job["payload"]) == (
        "jobs.act", order | {"reason": "withdrawn", "selection": selection["selection_id"], "count": 3},
    )  # fmt: skip
    again = await a.post(at)
    assert (again.status_code, again.json()["job_id"]) == (200, job["job_id"])
    at_once = await a.post("/v1/jobs:act", json=order)
    assert (at_once.status_code, at_once.json()["count"]) == (202, 4)


@pytest.mark.parametrize("filters", [{}, {"kind": None}, {"kind": None, "tag": "x"}, {"kid": "x"}])
async def test_a_bulk_action_without_a_filter_is_refused(a: httpx.AsyncClient, filters: dict[str, object]) -> None:
    problem(await a.post("/v1/jobs:act", json={"action": "cancel", "filter": filters}), 422, "invalid")


async def test_if_match_lets_only_the_one_change_that_was_meant(a: httpx.AsyncClient, hand: Hand) -> None:
    asked = (await a.post("/v1/jobs", json={"kind": "t.work", "delay_s": 1000})).json()["job_id"]
    at = f"/v1/jobs/{asked}"
    seen = (await a.get(at)).headers["etag"]
    move = {"run_at": "2030-01-31T08:00:00Z"}
    assert (await a.post(f"{at}/reschedule", json=move, headers={"If-Match": seen})).status_code == 200
    for what, body in (("reschedule", move), ("cancel", {}), ("retry", {})):
        for tag in (seen, f"W/{seen}", '"nonsense"'):
            problem(await a.post(f"{at}/{what}", json=body, headers={"If-Match": tag}), 412, "changed")
    now = (await a.get(at)).headers["etag"]
    assert now != seen
    gone = await a.post(f"{at}/cancel", headers={"If-Match": f'"other", {now}', "Idempotency-Key": "c"})
    assert gone.json()["state"] == "canceled"
    assert (await a.post(f"{at}/retry", headers={"If-Match": "*"})).status_code == 200
    problem(await a.post("/v1/jobs", json={"kind": "t.work"}, headers={"If-Match": "*"}), 400, "bad_parameter")


async def test_if_match_holds_the_job_until_it_is_changed(a: httpx.AsyncClient, hand: Hand, cell: Cell) -> None:
    """A worker that comes in between finds nothing: the job was seen waiting, and is canceled waiting."""
    asked = (await a.post("/v1/jobs", json={"kind": "t.work"})).json()["job_id"]
    connection = await asyncpg.connect(cell.url(Role.API))
    try:
        async with connection.transaction():
            await connection.execute("select set_config('leasehold.tenant', $1, true)", str(cell.tenant_a))
            await connection.execute("select leasehold.lock_job($1)", asked)
            assert await jobs.claim(hand.db, hand.worker, ["default"], 1) == []
    finally:
        await connection.close()
    assert str((await hand.claim()).job_id) == asked


async def test_if_match_finds_a_job_that_waits_at_a_gate(a: httpx.AsyncClient, hand: Hand) -> None:
    await a.put("/v1/gates/slow", json={"rate": 1, "per_s": 3600})
    asked = [(await a.post("/v1/jobs", json={"kind": "t.work", "gate": "slow"})).json()["job_id"] for _ in range(2)]
    assert [str(grant.job_id) for grant in await jobs.claim(hand.db, hand.worker, ["default"], 9)] == asked[:1]
    seen = (await a.get(f"/v1/jobs/{asked[1]}")).headers["ETag"]
    canceled = await a.post(f"/v1/jobs/{asked[1]}/cancel", headers={"If-Match": seen})
    assert (canceled.status_code, canceled.json()["state"]) == (200, "canceled")


async def test_a_batch_that_is_not_atomic_says_of_each_job_what_became_of_it(a: httpx.AsyncClient) -> None:
    await a.post("/v1/jobs", json={"kind": "t.work", "key": "k", "payload": 1})
    wanted = [
        {"kind": "t.work", "payload": n} | ({"queue": "nowhere"} if n == 7 else {"key": "k"} if n == 8 else {})
        for n in range(10)
    ]
    once = {"Idempotency-Key": "batch"}
    answer = await a.post("/v1/jobs:batch", params={"atomic": "false"}, json={"jobs": wanted}, headers=once)
    assert answer.status_code == 200
    items = answer.json()["data"]
    assert [item.get("code") for item in items] == [None] * 7 + ["not_found", "conflict", None]
    assert (items[7]["status"], items[8]["status"]) == (404, 409)
    assert "nowhere" in items[7]["detail"]
    assert len((await a.get("/v1/jobs")).json()["data"]) == 9
    again = await a.post("/v1/jobs:batch", params={"atomic": "false"}, json={"jobs": wanted}, headers=once)
    assert (again.content, again.headers["idempotent-replayed"]) == (answer.content, "true")
    assert len((await a.get("/v1/jobs")).json()["data"]) == 9
