"""Gates over HTTP."""

import httpx
import pytest

from tests.http.conftest import Keys, problem

HOST = "/v1/gates/host:example.com"
STRIPE = {"rate": 10, "per_s": 60, "burst": 2, "failures": 5}


async def test_a_gate_from_its_rule_to_its_removal(a: httpx.AsyncClient, key: Keys) -> None:
    made = await a.put(HOST, json=STRIPE)
    assert made.status_code == 200
    assert {name: made.json()[name] for name in STRIPE} == STRIPE
    assert (made.json()["state"], made.json()["waiting"]) == ("closed", 0)
    held = (await a.post(f"{HOST}/hold", json={"seconds": 60})).json()
    assert held["next_at"] is not None
    assert (await a.post(f"{HOST}/reset")).json()["next_at"] is None
    assert (await a.get(HOST)).json()["gate"] == "host:example.com"
    await a.put("/v1/gates/host:", json={"rate": 1})
    page = (await a.get("/v1/gates", params={"limit": 1})).json()
    assert ([one["gate"] for one in page["data"]], page["has_more"]) == (["host:"], True)
    page = (await a.get("/v1/gates", params={"cursor": page["next_cursor"]})).json()
    assert ([one["gate"] for one in page["data"]], page["has_more"]) == (["host:example.com"], False)
    assert (await a.delete(HOST)).status_code == 204
    problem(await a.delete(HOST), 404, "not_found")
    log = (await a.get("/v1/audit")).json()["data"]
    entries = [entry for entry in log if entry["target"] == "host:example.com"]
    assert [entry["action"] for entry in entries] == ["gate.remove", "gate.reset", "gate.hold", "gate.set"]
    assert {entry["actor"] for entry in entries} == {f"key:{key.a.key_id}"}


async def test_another_tenant_has_its_own_gates_only(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    await a.put(HOST, json=STRIPE)
    assert (await b.get("/v1/gates")).json()["data"] == []
    problem(await b.delete(HOST), 404, "not_found")
    assert (await b.get(HOST)).json()["rule"] is None


@pytest.mark.parametrize("rule", [{"rate": 0}, {"rate": 1, "speed": 2}, {"failures": 1, "ratio": 2}])
async def test_what_cannot_be_a_rule_is_refused(a: httpx.AsyncClient, rule: dict[str, float]) -> None:
    problem(await a.put(HOST, json=rule), 422, "invalid")


async def test_a_job_is_asked_for_with_a_gate(a: httpx.AsyncClient) -> None:
    made = await a.post("/v1/jobs", json={"kind": "demo.hello", "gate": "stripe", "group": "g", "group_gap_s": 2})
    job = (await a.get(f"/v1/jobs/{made.json()['job_id']}")).json()
    assert (job["gate"], job["group"]) == ("stripe", "g")
