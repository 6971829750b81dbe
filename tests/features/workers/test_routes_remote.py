"""Workers without a database: claim, beat, finish over HTTP."""

import asyncio
import json
import random
from collections import Counter
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases, maintenance
from leasehold.errors import WorkerLost
from leasehold.features.workers import store as engine
from leasehold.features.workers.long_poll import Ready
from leasehold.http.app import Services
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.http.conftest import Hand, Keys, client_of, make_key, problem
from tests.waiting import PATIENCE_SECONDS, eventually


class Remote:
    """A worker by hand, over HTTP."""

    def __init__(self, http: httpx.AsyncClient, worker_id: str) -> None:
        self.http = http
        self.at = f"/v1/workers/{worker_id}"
        self.worker_id = worker_id

    async def claim(self, n: int = 10, *, held: list[str] | None = None, **more: Any) -> list[dict[str, Any]]:
        response = await self.http.post(f"{self.at}/claim", json={"n": n, "held": held or [], **more})
        assert response.status_code == 200, response.text
        return list(response.json()["data"])

    async def finish(self, *ended: dict[str, Any]) -> list[dict[str, Any]]:
        response = await self.http.post(f"{self.at}/finish", json={"ended": list(ended)})
        assert response.status_code == 200, response.text
        return list(response.json()["data"])

    async def end(self, grant: dict[str, Any], outcome: str = "succeeded", **more: Any) -> str:
        ended = {"job_id": grant["job_id"], "token": grant["token"], "outcome": outcome, **more}
        return str((await self.finish(ended))[0]["code"])

    async def beat(self, *held: str) -> dict[str, list[str]]:
        response = await self.http.post(f"{self.at}/beat", json={"held": list(held)})
        assert response.status_code == 200, response.text
        return dict(response.json())


async def registered(http: httpx.AsyncClient, **more: Any) -> Remote:
    response = await http.post("/v1/workers", json={"name": "far away", **more})
    assert response.status_code == 201, response.text
    made = response.json()
    assert made["beat_s"] == pytest.approx(made["lease_s"] / 3)
    return Remote(http, made["worker_id"])


async def ask(http: httpx.AsyncClient, payload: Any = None, **more: Any) -> str:
    body = {"kind": "t.work", "payload": payload, **more}
    return str((await http.post("/v1/jobs", json=body)).json()["job_id"])


async def is_waiting(services: Services, far: Remote) -> bool:
    return services.part(Ready).is_waiting(UUID(far.worker_id))


async def job(http: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    return dict((await http.get(f"/v1/jobs/{job_id}")).json())


async def test_a_remote_worker_claims_says_and_finishes(a: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    far = await registered(a, kinds=["t.work"], slots=3)
    asked = [await ask(a, {"n": n, "large": 2**70}) for n in range(3)]
    grants = await far.claim()
    assert [grant["job_id"] for grant in grants] == asked
    assert grants[0]["payload"] == {"n": 0, "large": 2**70}
    assert (grants[0]["kind"], grants[0]["attempt"], grants[0]["max_attempts"]) == ("t.work", 1, 5)
    token = grants[0]["token"]
    said = [
        {"token": token, "type": "progress", "progress": 40, "message": "password=hunter2hunter2"},
        {"token": token, "type": "log", "message": "a line", "level": "warning", "fields": {"api_key": "5f3a9c77"}},
    ]
    items = (await a.post(f"{far.at}/events", json={"said": said})).json()["data"]
    assert [item["code"] for item in items] == ["accepted", "accepted"]
    results = await far.finish(
        {"job_id": asked[0], "token": token, "outcome": "succeeded", "result": {"frames": 240}},
        {
            "job_id": asked[1],
            "token": grants[1]["token"],
            "outcome": "failed",
            "error": {"message": "token=abcdef123456"},
        },
        {
            "job_id": asked[2],
            "token": grants[2]["token"],
            "outcome": "errored",
            "error": {"type": "Slow"},
            "delay_s": 90,
        },
    )
    assert [(item["status"], item["code"]) for item in results] == [(200, "accepted")] * 3
    states = [await job(a, one) for one in asked]
    assert [one["state"] for one in states] == ["succeeded", "failed", "scheduled"]
    assert (states[0]["result"], states[2]["error"]["type"]) == ({"frames": 240}, "Slow")
    events = (await a.get(f"/v1/jobs/{asked[0]}/events")).json()["data"]
    assert [event["type"] for event in events] == ["queued", "started", "progress", "log", "succeeded"]
    kept = json.dumps([events, states])
    assert not [secret for secret in ("hunter2", "5f3a9c77", "abcdef123456") if secret in kept]
    [row] = (await operator.get("/v1/workers")).json()["data"]
    assert (row["name"], row["kinds"], row["slots"], row["running"]) == ("far away", ["t.work"], 3, 0)


@pytest.mark.parametrize(
    ("outcome", "state"), [("snoozed", "scheduled"), ("released", "queued"), ("canceled", "canceled")]
)
async def test_the_other_outcomes(a: httpx.AsyncClient, outcome: str, state: str) -> None:
    far = await registered(a)
    asked = await ask(a)
    [grant] = await far.claim()
    assert await far.end(grant, outcome, **({"delay_s": 60} if outcome == "snoozed" else {})) == "accepted"
    found = await job(a, asked)
    assert (found["state"], found["attempt"]) == (state, 1 if outcome == "canceled" else 0)


async def test_a_late_finish_is_refused_and_one_that_was_sent_twice_is_not(
    a: httpx.AsyncClient, cell: Cell, worker_db: Database, hand: Hand
) -> None:
    far = await registered(a)
    asked = [await ask(a), await ask(a)]
    one, two = await far.claim()
    assert await far.end(one, result=1) == "accepted"
    assert await far.end(one, result=2) == "recorded"
    assert await far.end(one, "failed") == "lease_lost", "it is not what was recorded"
    await cell.pass_time(61)
    await leases.heartbeat(worker_db, hand.worker)  # or it would be lost, too
    assert await maintenance.rescue_silent_workers(worker_db) == 1
    again = await hand.claim()
    assert again.job_id == UUID(asked[1])
    [item] = await far.finish({"job_id": asked[1], "token": two["token"], "outcome": "succeeded", "result": "late"})
    assert (item["status"], item["code"]) == (409, "lease_lost")
    assert "nothing was written" in item["detail"]
    for what, body in (("claim", {"n": 1, "held": []}), ("beat", {"held": [two["token"]]})):
        problem(await a.post(f"{far.at}/{what}", json=body), 409, "worker_lost")
    said = {"said": [{"token": two["token"], "type": "progress", "progress": 99}]}
    assert (await a.post(f"{far.at}/events", json=said)).json()["data"][0]["code"] == "lease_lost"
    problem(await a.post(f"{far.at}/extend", json={"token": two["token"], "seconds": 9}), 409, "lease_lost")
    await hand.end(again, result='"in time"')
    assert (await job(a, asked[1]))["result"] == "in time"
    assert (await job(a, asked[0]))["result"] == 1


async def test_a_beat_tells_of_cancels_and_of_what_is_lost(a: httpx.AsyncClient, cell: Cell) -> None:
    far = await registered(a)
    asked = await ask(a)
    await ask(a)
    one, two = await far.claim()
    await a.post(f"/v1/jobs/{asked}/cancel")
    assert await far.beat(one["token"], two["token"], "7") == {"cancel": [one["token"]], "lost": ["7"]}
    await cell.pass_time(59)
    assert await far.beat(two["token"]) == {"cancel": [one["token"]], "lost": []}, "it lives on from the beat before"
    assert await far.end(one, "canceled") == "accepted"
    assert (await job(a, asked))["state"] == "canceled"


async def test_what_was_granted_and_never_seen_goes_back_uncounted_with_the_next_claim(a: httpx.AsyncClient) -> None:
    far = await registered(a)
    asked = [await ask(a) for _ in range(2)]
    first = await far.claim(1)
    unseen = await far.claim(1, held=[first[0]["token"]])  # let this answer be lost
    again = await far.claim(2, held=[first[0]["token"]])
    assert [one["job_id"] for one in again] == [asked[1]]
    assert (again[0]["attempt"], again[0]["token"] != unseen[0]["token"]) == (1, True)
    assert await far.end(unseen[0]) == "lease_lost"


async def test_a_worker_never_holds_more_than_its_slots(a: httpx.AsyncClient) -> None:
    far = await registered(a, slots=2)
    for _ in range(4):
        await ask(a)
    held = [one["token"] for one in await far.claim(100)]
    assert len(held) == 2
    assert await far.claim(100, held=held) == []
    many = await asyncio.gather(*(far.claim(2, held=held[:1]) for _ in range(5)))
    assert sum(len(one) for one in many) >= 1
    rows = (await far.beat(*held))["lost"]
    assert rows == [held[1]], "the second was not named, so it went back"


async def test_a_claim_waits_for_a_job_and_is_woken(a: httpx.AsyncClient, services: Services) -> None:
    far = await registered(a)
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        waiting = group.create_task(far.claim(1, wait_s=60))
        await eventually(partial(is_waiting, services, far))
        asked = await ask(a)
    assert [one["job_id"] for one in waiting.result()] == [asked]
    assert await far.claim(1, held=[waiting.result()[0]["token"]], wait_s=0.05) == []


async def test_a_claim_that_waits_gives_way_to_the_next_one_of_its_worker(
    a: httpx.AsyncClient, services: Services
) -> None:
    far = await registered(a)
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        first = group.create_task(far.claim(1, wait_s=60))
        await eventually(partial(is_waiting, services, far))
        second = group.create_task(far.claim(1, wait_s=60))
        assert await asyncio.shield(first) == []
        services.hub.close()
        assert await asyncio.shield(second) == [], "a server that stops keeps nobody waiting"


async def test_a_worker_that_stops_gives_back_what_it_holds(a: httpx.AsyncClient) -> None:
    far = await registered(a)
    asked = await ask(a)
    await far.claim()
    assert (await a.post(f"{far.at}/stop")).json() == {"released": 1}
    found = await job(a, asked)
    assert (found["state"], found["attempt"]) == ("queued", 0)
    problem(await a.post(f"{far.at}/claim", json={"n": 1, "held": []}), 409, "worker_lost")


async def test_an_attempt_can_be_extended(a: httpx.AsyncClient, cell: Cell) -> None:
    far = await registered(a)
    await ask(a, timeout_s=10)
    [grant] = await far.claim()
    assert (await a.post(f"{far.at}/extend", json={"token": grant["token"], "seconds": 600})).status_code == 200
    [lease] = await cell.look("select extract(epoch from deadline - started_at) as s from leasehold.lease")
    assert lease["s"] == pytest.approx(630, abs=30)


async def test_a_result_that_cannot_be_kept_spoils_no_other(a: httpx.AsyncClient) -> None:
    far = await registered(a)
    asked = [await ask(a), await ask(a)]
    grants = await far.claim()
    ended = [{"job_id": one["job_id"], "token": one["token"], "outcome": "succeeded"} for one in grants]
    items = await far.finish(ended[0] | {"result": "a\0b"}, ended[1] | {"result": "good"})
    assert [item["code"] for item in items] == ["invalid", "accepted"]
    assert "NUL" in items[0]["detail"]
    assert [(await job(a, one))["state"] for one in asked] == ["running", "succeeded"]
    twice = {"ended": [ended[0], ended[0]]}
    problem(await a.post(f"{far.at}/finish", json=twice), 422, "invalid")


async def test_a_key_works_only_on_the_queues_it_names(
    a: httpx.AsyncClient, operator: httpx.AsyncClient, services: Services, cell: Cell, key: Keys, worker_db: Database
) -> None:
    await worker_db.call("create_queue", "gpu")
    body = {"name": "gpu", "scopes": ["work"], "queues": ["gpu"]}
    problem(await a.post("/v1/keys", json=body), 403, "forbidden")  # its own key is for default
    made = (await operator.post("/v1/keys", json=body | {"tenant": "a"})).json()
    assert made["queues"] == ["gpu"]
    await ask(a, "of default")
    wanted = await ask(a, "of gpu", queue="gpu")
    async with client_of(services, made["key"]) as gpu:
        problem(await gpu.get("/v1/jobs"), 403, "forbidden")
        refused = problem(await gpu.post("/v1/workers", json={"name": "x", "queues": ["default"]}), 422, "invalid")
        assert "gpu" in refused["detail"]
        far = await registered(gpu)
        problem(await gpu.post(f"{far.at}/claim", json={"n": 1, "held": [], "queues": ["default"]}), 422, "invalid")
        assert [one["job_id"] for one in await far.claim()] == [wanted]
        other = await registered(a)
        problem(await gpu.post(f"{other.at}/claim", json={"n": 1, "held": []}), 409, "worker_lost")
    for wrong in ({"scopes": ["work"]}, {"scopes": ["jobs:read"], "queues": ["gpu"]}):
        problem(await operator.post("/v1/keys", json={"name": "n", "tenant": "a", **wrong}), 422, "invalid")
    unknown = {"name": "n", "tenant": "a", "scopes": ["work"], "queues": ["none"]}
    problem(await operator.post("/v1/keys", json=unknown), 404, "not_found")
    async with client_of(services, await make_key(cell, cell.tenant_a, scopes=["jobs:read"])) as reader:
        problem(await reader.post("/v1/workers", json={"name": "x"}), 403, "forbidden")


async def test_a_revoked_key_works_no_more_and_its_jobs_go_to_others(
    a: httpx.AsyncClient, services: Services, cell: Cell, worker_db: Database, hand: Hand
) -> None:
    key = await make_key(cell, cell.tenant_a, scopes=["work"])
    asked = await ask(a)
    async with client_of(services, key) as http:
        far = await registered(http)
        [grant] = await far.claim()
        assert (await a.delete(f"/v1/keys/{key.key_id}")).status_code == 204
        problem(await http.post(f"{far.at}/beat", json={"held": [grant["token"]]}), 401, "unauthenticated")
    await cell.pass_time(61)
    await leases.heartbeat(worker_db, hand.worker)
    await maintenance.rescue_silent_workers(worker_db)
    assert (await hand.claim()).job_id == UUID(asked)


async def test_a_key_of_the_installation_works_for_every_tenant(
    a: httpx.AsyncClient, b: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    asked = {await ask(a), await ask(b)}
    far = await registered(operator, queues=["default"])
    grants = await far.claim()
    assert {one["job_id"] for one in grants} == asked
    assert [await far.end(one) for one in grants] == ["accepted", "accepted"]
    problem(await a.post(f"{far.at}/claim", json={"n": 1, "held": []}), 409, "worker_lost")
    problem(await operator.post("/v1/workers", json={"name": "x", "queues": ["none"]}), 404, "not_found")


async def test_a_token_of_another_is_as_good_as_none(
    a: httpx.AsyncClient, b: httpx.AsyncClient, worker_db: Database, hand: Hand
) -> None:
    far, other = await registered(a), await registered(b)
    await ask(b)
    [of_b] = await other.claim()
    await ask(a)
    of_hand = await hand.claim()  # a job of A, but not of this worker
    for job_id, token in ((of_b["job_id"], of_b["token"]), (str(of_hand.job_id), str(of_hand.token))):
        assert await far.end({"job_id": job_id, "token": token}) == "lease_lost"
        said = {"said": [{"token": token, "type": "progress", "progress": 1}]}
        assert (await a.post(f"{far.at}/events", json=said)).json()["data"][0]["code"] == "lease_lost"
        problem(await a.post(f"{far.at}/extend", json={"token": token, "seconds": 9}), 409, "lease_lost")
        assert (await far.beat(token))["lost"] == [token]
    assert await other.end(of_b) == "accepted"
    await hand.end(of_hand)


async def test_without_the_tenant_set_a_tenants_worker_is_not_found(
    a: httpx.AsyncClient, cell: Cell, key: Keys
) -> None:
    """What a fault in the routes would do: the functions refuse."""
    far = await registered(a)
    async with cell.database(Role.API, connections=1) as db:
        for tenant in (None, cell.tenant_b):
            with pytest.raises(WorkerLost):
                await engine.claim(
                    engine.Key(db=db, key_id=key.a.key_id, tenant=tenant), UUID(far.worker_id), None, 1, held=[]
                )


async def test_a_tenant_has_only_so_many_workers(a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell) -> None:
    far = await registered(a)
    await cell.change(
        "insert into leasehold.worker (worker_id, name, version, queues, kinds, slots, lease_s, started_at, beat_at,"
        " tenant_id, key_id) select gen_random_uuid(), name, version, queues, kinds, slots, lease_s, started_at,"
        " beat_at, tenant_id, key_id from leasehold.worker, generate_series(2, 100)"
        f" where worker_id = '{far.worker_id}'"
    )
    problem(await a.post("/v1/workers", json={"name": "one too many"}), 429, "quota_exceeded")
    await registered(b)


async def test_remote_workers_of_two_tenants_race_and_neither_ever_holds_anothers_job(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell, worker_db: Database, hand: Hand
) -> None:
    """Groups, priorities, limits, retries and a database worker in between; leases are watched by a trigger."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    await cell.change(
        "create function leasehold.watch() returns trigger language plpgsql as $$ begin"
        " if new.tenant_id <> (select coalesce(tenant_id, new.tenant_id) from leasehold.worker"
        " where worker_id = new.worker_id) then raise exception 'a foreign lease'; end if; return new; end $$"
    )
    await cell.change(
        "create trigger watch before insert or update on leasehold.lease"
        " for each row execute function leasehold.watch()"
    )
    await cell.change("update leasehold.tenant set max_running = 4")
    asked: dict[str, str] = {}
    for number in range(120):
        http, owner = dice.choice([(a, "a"), (b, "b")])
        more: dict[str, Any] = {"priority": dice.randrange(4), "retry_base_s": 0.001, "max_attempts": 100}
        if dice.random() < 0.4:
            more["group"] = f"g{dice.randrange(3)}"
            more["group_limit"] = dice.choice([1, 2])
        asked[await ask(http, {"of": owner, "n": number}, **more)] = owner
    done: Counter[str] = Counter()

    async def work(http: httpx.AsyncClient, owner: str) -> None:
        far = await registered(http, slots=5)
        own = random.Random(dice.random())
        while sum(done.values()) < len(asked):
            for grant in await far.claim(own.randint(1, 5)):
                assert grant["payload"]["of"] == owner == asked[grant["job_id"]]
                outcome = own.choice(["succeeded", "succeeded", "errored", "released"])
                if await far.end(grant, outcome) == "accepted" and outcome == "succeeded":
                    done[grant["job_id"]] += 1

    async def work_by_database() -> None:
        while sum(done.values()) < len(asked):
            await maintenance.dispatch_due_jobs(worker_db)
            await maintenance.unpark(worker_db)
            for grant in await jobs.claim(worker_db, hand.worker, ["default"], 2):
                await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="succeeded")])
                done[str(grant.job_id)] += 1
            await asyncio.sleep(0.005)

    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        for http, owner in ((a, "a"), (a, "a"), (b, "b"), (b, "b")):
            group.create_task(work(http, owner))
        group.create_task(work_by_database())
    assert done == Counter(dict.fromkeys(asked, 1))


async def test_a_tenants_worker_leaves_the_clock_of_the_lane_alone(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell
) -> None:
    """Or it would put every other tenant's waiting jobs behind those that it alone takes."""
    for _ in range(20):
        await ask(a)
    await ask(b)
    before = await cell.look("select pg_sequence_last_value(clock) as at from leasehold.lane order by lane")
    far = await registered(a, slots=20)
    assert len(await far.claim(20)) == 20
    assert await cell.look("select pg_sequence_last_value(clock) as at from leasehold.lane order by lane") == before
    other = await registered(b)
    assert len(await other.claim(10)) == 1
