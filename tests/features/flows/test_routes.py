"""Flows, approvals and signals over HTTP."""

from typing import Any

import httpx
import pytest

from leasehold.features.flows import store as flows
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, bearer, problem, settings_of
from tests.http.test_streams import LIVE, following, rest, served

CHAIN: list[dict[str, Any]] = [{"kind": "t.work", "name": "a"}, {"kind": "t.work", "name": "b", "after": ["a"]}]
ASKS: list[dict[str, Any]] = [
    {"kind": "flow.approval", "name": "ask", "payload": {"message": "go?"}},
    {"kind": "t.work", "after": ["ask"]},
]


async def start(client: httpx.AsyncClient, steps: list[dict[str, Any]], **given: Any) -> str:
    response = await client.post("/v1/flows", json={"name": "f", "steps": steps} | given)
    assert response.status_code == 202, response.text
    assert response.headers["location"] == f"/v1/flows/{response.json()['flow_id']}"
    return str(response.json()["flow_id"])


async def test_a_flow_is_started_looked_at_and_run(a: httpx.AsyncClient, hand: Hand) -> None:
    flow_id = await start(a, CHAIN[::-1])  # in whichever order
    told = (await a.get(f"/v1/flows/{flow_id}")).json()
    assert (told["state"], told["counts"]) == ("running", {"queued": 1, "blocked": 1})
    for _ in CHAIN:
        await hand.end(await hand.claim(), "succeeded", result="1")
    told = (await a.get(f"/v1/flows/{flow_id}")).json()
    assert (told["state"], told["counts"]) == ("succeeded", {"succeeded": 2})
    steps = (await a.get(f"/v1/flows/{flow_id}/steps")).json()["data"]
    assert [(one["name"], one["state"]) for one in steps] == [("a", "succeeded"), ("b", "succeeded")]
    assert steps[1]["after"] == [steps[0]["job_id"]]
    await flows.tend_flows(hand.db)
    events = (await a.get(f"/v1/flows/{flow_id}/events")).json()["data"]
    assert [one["type"] for one in events] == ["started", "progress", "succeeded"]
    assert [one["flow_id"] for one in (await a.get("/v1/flows?state=succeeded&name=f")).json()["data"]] == [flow_id]


async def test_a_flow_is_followed_to_its_end_and_resumed_where_it_was(
    a: httpx.AsyncClient, b: httpx.AsyncClient, hand: Hand, cell: Cell, key: Keys
) -> None:
    async with served(settings_of(cell, port=0), key) as live:
        flow_id = await start(a, CHAIN)
        at = f"/v1/flows/{flow_id}/events"
        problem(await b.get(at, headers=LIVE), 404, "not_found")
        async with following(live, at) as found:
            first = await anext(found)
            assert (first.event, first.id, first.data["counts"]) == ("state", 0, {"queued": 1, "blocked": 1})
            await hand.end(await hand.claim())
            await flows.tend_flows(hand.db)
            told = [await anext(found) for _ in range(2)]
            assert [(m.event, m.id, m.data["type"]) for m in told] == [
                ("patch", 1, "started"),
                ("patch", 2, "progress"),
            ]
        await hand.end(await hand.claim(), "failed")
        await flows.tend_flows(hand.db)
        async with following(live, at, last=2) as found:
            told = await rest(found)
        assert [(m.event, m.id) for m in told] == [("patch", 3), ("patch", 4), ("end", "4-end")]
        assert (told[-1].data["state"], told[-1].data["counts"]) == ("failed", {"succeeded": 1, "failed": 1})
        async with following(live, at, last=4) as found:
            assert [(m.event, m.id) for m in await rest(found)] == [("end", "4-end")]
        assert (await live.get(at, headers=LIVE | {"Last-Event-ID": "4-end"})).status_code == 204
        async with following(live, at, last=99) as found:
            assert [m.event for m in await rest(found)] == ["reset", "state", "end"]
        await a.post(f"/v1/flows/{flow_id}/retry")  # told a moment later; but the end that was told is its end no more
        async with following(live, at, last=4) as found:
            await flows.tend_flows(hand.db)
            assert (await anext(found)).data["type"] == "retried"
            await hand.end(await hand.claim_soon())
            await flows.tend_flows(hand.db)
            assert [m.event for m in await rest(found)] == ["patch", "patch", "end"]


async def test_a_ticket_opens_the_stream_of_its_flow_and_no_other(a: httpx.AsyncClient, key: Keys, cell: Cell) -> None:
    flow_id, other = await start(a, CHAIN), await start(a, CHAIN)
    made = await a.post("/v1/tickets", json={"flow_id": flow_id})
    assert (made.status_code, made.json()["flow_id"], made.json()["job_id"]) == (201, flow_id, None)
    problem(await a.post("/v1/tickets", json={"flow_id": flow_id, "job_id": flow_id}), 422, "invalid")
    problem(await a.post("/v1/tickets", json={"flow_id": flow_id}, headers=bearer(key.b)), 404, "not_found")
    for path in (f"/v1/flows/{other}/events", "/v1/events"):
        ticket = (await a.post("/v1/tickets", json={"flow_id": flow_id})).json()["ticket"]
        refused = await a.get(f"{path}?ticket={ticket}", headers={"Authorization": ""})
        problem(refused, 401, "unauthenticated")
    page = await a.get(f"/v1/flows/{flow_id}/events?ticket={made.json()['ticket']}", headers={"Authorization": ""})
    assert (page.status_code, page.json()["data"]) == (200, [])


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([{"kind": "t.work", "name": "a", "after": ["b"]}], "waits for b, which is no step of it"),
        ([{"kind": "t.work", "name": "a", "after": ["a"]}], "waits for itself: a → a"),
        ([{"kind": "t.work", "name": "a"}, {"kind": "t.work", "name": "a"}], "two steps named 'a'"),
        ([{"kind": "flow.sleep"}], "either seconds or until"),
        ([{"kind": "t.work", "wait": {"seconds": 1}}], "waits for nothing"),
    ],
)
async def test_a_flow_that_cannot_be_is_refused_with_the_reason(
    a: httpx.AsyncClient, steps: list[dict[str, Any]], why: str
) -> None:
    told = problem(await a.post("/v1/flows", json={"name": "f", "steps": steps}), 422, "invalid")
    assert why in told["detail"]
    assert (await a.get("/v1/flows")).json()["data"] == []


async def test_an_approval_is_listed_and_decided_once_by_the_key_that_did_it(
    a: httpx.AsyncClient, cell: Cell, key: Keys, hand: Hand
) -> None:
    flow_id = await start(a, ASKS)
    [asked] = (await a.get("/v1/approvals")).json()["data"]
    assert (asked["flow_id"], asked["payload"], asked["by_default"]) == (flow_id, {"message": "go?"}, "reject")
    decided = await a.post(f"/v1/approvals/{asked['job_id']}/approve", json={"note": "fine"})
    assert decided.json() == {"job_id": asked["job_id"], "state": "succeeded", "cancel_requested": False}
    problem(await a.post(f"/v1/approvals/{asked['job_id']}/reject"), 409, "conflict")
    result = (await a.get(f"/v1/jobs/{asked['job_id']}/result")).json()
    assert (result["approved"], result["note"]) == (True, "fine")
    assert key.a.key_id in result["actor"]
    assert (await a.get("/v1/approvals")).json()["data"] == []
    await hand.end(await hand.claim(), "succeeded", result="1")


async def test_a_rejected_flow_fails_and_is_retried(a: httpx.AsyncClient) -> None:
    flow_id = await start(a, ASKS)
    [asked] = (await a.get("/v1/approvals")).json()["data"]
    assert (await a.post(f"/v1/approvals/{asked['job_id']}/reject")).json()["state"] == "failed"
    told = (await a.get(f"/v1/flows/{flow_id}")).json()
    assert (told["state"], told["reason"]) == ("failed", "step ask is failed")
    assert (await a.post(f"/v1/flows/{flow_id}/retry")).json()["state"] == "running"
    assert len((await a.get("/v1/approvals")).json()["data"]) == 1
    problem(await a.post(f"/v1/flows/{flow_id}/retry"), 409, "conflict")


async def test_a_canceled_flow_tells_whether_something_still_runs(a: httpx.AsyncClient, hand: Hand) -> None:
    flow_id = await start(a, CHAIN)
    grant = await hand.claim()
    response = await a.post(f"/v1/flows/{flow_id}/cancel", json={"reason": "withdrawn"})
    assert (response.status_code, response.json()["stopping"]) == (202, True)
    await hand.end(grant, "canceled")
    assert (await a.get(f"/v1/flows/{flow_id}")).json()["reason"] == "withdrawn"
    response = await a.post(f"/v1/flows/{flow_id}/cancel")
    assert (response.status_code, response.json()["state"]) == (200, "canceled")


async def test_a_step_that_waits_is_canceled_after_its_parents(a: httpx.AsyncClient) -> None:
    flow_id = await start(a, CHAIN)
    [_, waits] = (await a.get(f"/v1/flows/{flow_id}/steps")).json()["data"]
    response = await a.post(f"/v1/jobs/{waits['job_id']}/cancel")
    assert (response.status_code, response.json()["state"]) == (202, "blocked")


async def test_a_signal_reaches_the_step_of_its_flow(a: httpx.AsyncClient) -> None:
    flow_id = await start(a, [{"kind": "flow.signal", "wait": {"signal": "paid"}}])
    sent = await a.post(f"/v1/flows/{flow_id}/signal", json={"signal": "paid", "payload": {"cents": 5}})
    assert sent.json() == {"signal": "paid", "key": flow_id, "taken": True}
    assert (await a.get(f"/v1/flows/{flow_id}")).json()["state"] == "succeeded"
    kept = await a.post(f"/v1/flows/{flow_id}/signal", json={"signal": "paid", "key": "order-7"})
    assert kept.json()["taken"] is False


async def test_the_same_idempotency_key_starts_one_flow(a: httpx.AsyncClient) -> None:
    body, once = {"name": "f", "steps": CHAIN}, {"Idempotency-Key": "k"}
    first, again = [await a.post("/v1/flows", json=body, headers=once) for _ in range(2)]
    assert first.json() == again.json()
    assert len((await a.get("/v1/flows")).json()["data"]) == 1
