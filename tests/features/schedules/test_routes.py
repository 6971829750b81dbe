"""Schedules over HTTP."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import httpx
import pytest

from leasehold.features.schedules.store import fire_due
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, problem

HOURLY = {"kind": "t.work", "cron": "0 * * * *"}


async def put(client: httpx.AsyncClient, name: str = "hourly", **given: Any) -> dict[str, Any]:
    response = await client.put(f"/v1/schedules/{name}", json=HOURLY | given)
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


async def test_a_schedule_is_made_changed_and_taken_away(a: httpx.AsyncClient) -> None:
    made = await put(a, payload={"n": 1}, zone="Europe/Berlin", options={"tags": ["nightly"], "max_attempts": 3})
    assert made["words"].endswith("(Europe/Berlin)")
    assert (made["payload"], made["options"]) == ({"n": 1}, {"tags": ["nightly"], "max_attempts": 3})
    assert made["next_runs"][0] == made["next_at"]
    hours = [datetime.fromisoformat(at) for at in made["next_runs"]]
    assert len(hours) == 5
    assert {(later - earlier).total_seconds() for earlier, later in pairwise(hours)} == {3600}

    changed = await put(a, cron=None, every_s=300, jitter_s=60)
    assert (changed["every_s"], changed["cron"], changed["schedule_id"]) == (300, None, made["schedule_id"])
    assert (await a.get("/v1/schedules/hourly")).json() == changed
    assert (await a.delete("/v1/schedules/hourly")).status_code == 204
    problem(await a.get("/v1/schedules/hourly"), 404, "not_found")
    problem(await a.delete("/v1/schedules/hourly"), 404, "not_found")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"cron": "0 25 * * *"}, "bad hour"),
        ({"every_s": 300}, "one of cron, every and at"),
        ({"zone": "Mars/Olympus"}, "there is no time zone"),
        ({"cron": None, "at": "1999-01-01T00:00:00Z"}, "would never tick"),
        ({"catch_up": "all", "overlap": "skip"}, "catch_up all"),
        ({"cron": None, "every_s": 60, "jitter_s": 3600}, "jitter of 3600 seconds is longer"),
    ],
)
async def test_a_schedule_that_cannot_be_is_refused_with_the_reason(
    a: httpx.AsyncClient, given: dict[str, Any], why: str
) -> None:
    told = problem(await a.put("/v1/schedules/bad", json=HOURLY | given), 422, "invalid")
    assert why in told["detail"].lower()
    assert (await a.get("/v1/schedules")).json()["data"] == []


async def test_an_unknown_queue_is_not_found(a: httpx.AsyncClient) -> None:
    body = HOURLY | {"options": {"queue": "nowhere"}}
    assert "nowhere" in problem(await a.put("/v1/schedules/bad", json=body), 404, "not_found")["detail"]


async def test_they_are_listed_by_name_page_after_page(a: httpx.AsyncClient, b: httpx.AsyncClient) -> None:
    for name in ("c", "a", "b"):
        await put(a, name)
    await put(b, "theirs")
    first = await a.get("/v1/schedules?limit=2")
    assert [one["name"] for one in first.json()["data"]] == ["a", "b"]
    rest = await a.get(first.headers["link"].split(">")[0].removeprefix("<"))
    assert [one["name"] for one in rest.json()["data"]] == ["c"]
    assert (rest.json()["has_more"], rest.json()["next_cursor"]) == (False, None)


async def test_a_paused_one_has_no_ticks_until_it_is_resumed(a: httpx.AsyncClient) -> None:
    await put(a)
    paused = (await a.post("/v1/schedules/hourly/pause")).json()
    assert (paused["paused"], paused["next_runs"]) == (True, [])
    resumed = (await a.post("/v1/schedules/hourly/resume")).json()
    assert (resumed["paused"], len(resumed["next_runs"])) == (False, 5)


async def test_one_run_now_makes_one_job_for_one_idempotency_key(a: httpx.AsyncClient) -> None:
    await put(a, payload={"n": 1})
    first, again = [await a.post("/v1/schedules/hourly/run", headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert (first.status_code, again.json()) == (202, first.json())
    job = (await a.get(first.headers["location"])).json()
    assert (job["payload"], job["tags"]) == ({"n": 1}, ["schedule:hourly"])
    assert len((await a.get("/v1/jobs")).json()["data"]) == 1


async def test_its_ticks_say_what_became_of_them(a: httpx.AsyncClient, cell: Cell, hand: Hand) -> None:
    await put(a, overlap="skip")
    for _ in range(2):
        await cell.pass_time(3600)
        await fire_due(hand.db)
    told = (await a.get("/v1/schedules/hourly/ticks")).json()["data"]
    assert [tick["outcome"] for tick in told] == ["skipped", "fired"]
    assert told[0]["job_id"] == told[1]["job_id"]
    problem(await a.get("/v1/schedules/none/ticks"), 404, "not_found")


async def test_the_audit_log_names_the_key(a: httpx.AsyncClient, key: Keys) -> None:
    await put(a)
    await a.post("/v1/schedules/hourly/pause")
    log = (await a.get("/v1/audit")).json()["data"]
    assert {entry["actor"] for entry in log if "schedule" in entry["action"]} == {f"key:{key.a.key_id}"}


async def test_if_match_keeps_two_editors_of_a_schedule_apart(a: httpx.AsyncClient) -> None:
    at, body = "/v1/schedules/nightly", {"kind": "t.work", "cron": "0 3 * * *"}
    problem(await a.put(at, json=body, headers={"If-Match": "*"}), 412, "changed")
    await a.put(at, json=body)
    seen = (await a.get(at)).headers["etag"]
    assert (await a.put(at, json=body | {"payload": 1}, headers={"If-Match": seen})).status_code == 200
    problem(await a.put(at, json=body | {"payload": 2}, headers={"If-Match": seen}), 412, "changed")
    found = await a.get(at)
    assert (found.json()["payload"], found.headers["etag"] != seen) == (1, True)
    assert (await a.put(at, json=body, headers={"If-Match": "*"})).status_code == 200
