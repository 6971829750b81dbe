"""A remote worker's real tokens, ids and keys in the hands of another tenant: every route, every mixture."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.cell import Cell
from tests.features.workers.test_routes_remote import ask, job, registered
from tests.http.conftest import a, b, hand, key, problem, services

__all__ = ["a", "b", "hand", "key", "services"]


def asks(worker: str, of: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Everything that a worker may ask with a lease."""
    token, job_id = of["token"], of["job_id"]
    at = f"/v1/workers/{worker}"
    ended = {"job_id": job_id, "token": token, "outcome": "succeeded", "result": "stolen"}
    said = {"token": token, "type": "log", "message": "stolen"}
    return [
        (f"{at}/claim", {"n": 1, "held": [token]}),
        (f"{at}/beat", {"held": [token]}),
        (f"{at}/finish", {"ended": [ended]}),
        (f"{at}/events", {"said": [said]}),
        (f"{at}/extend", {"token": token, "seconds": 3600}),
        (f"{at}/stop", {}),
    ]


async def everything(cell: Cell) -> list[Any]:
    """What there is of tenant A: its jobs, leases, events, worker."""
    return [
        await cell.look(f"select * from leasehold.{table} where tenant_id = '{cell.tenant_a}' order by 1, 2")
        for table in ("job", "lease", "event", "outcome", "attempt_row", "worker")
    ]


async def test_with_another_tenants_key_a_real_worker_and_its_real_token_do_nothing(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell
) -> None:
    mine = await registered(a)
    await ask(a, {"card": "secret"})
    [grant] = await mine.claim()
    before = await everything(cell)
    answers = [(path, await b.post(path, json=body)) for path, body in asks(mine.worker_id, grant)]
    nobody = [(path, await b.post(path, json=body)) for path, body in asks(str(uuid4()), grant)]
    for (path, answer), (_, same) in zip(answers, nobody, strict=True):
        problem(answer, 409, "worker_lost")
        assert answer.json()["detail"].replace(mine.worker_id, "") == same.json()["detail"].replace(_id_in(same), ""), (
            f"{path}: a worker of another is as absent as one that never was"
        )
        assert "secret" not in answer.text
    assert await everything(cell) == before
    assert await mine.end(grant) == "accepted", "its own worker has lost nothing"


def _id_in(answer: httpx.Response) -> str:
    return str(answer.request.url.path.split("/")[3])


async def test_with_a_worker_of_ones_own_a_real_token_of_another_tenant_does_nothing(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell
) -> None:
    mine, theirs = await registered(a), await registered(b)
    asked = await ask(a, {"card": "secret"})
    [grant] = await mine.claim()
    before = await everything(cell)
    for path, body in asks(theirs.worker_id, grant):
        if path.endswith("/stop"):
            continue
        answer = await b.post(path, json=body)
        assert "secret" not in answer.text, path
        assert "accepted" not in answer.text, path
    await ask(b)
    [of_b] = await theirs.claim()
    assert await theirs.end({"token": grant["token"], "job_id": of_b["job_id"]}) == "lease_lost"
    assert await everything(cell) == before
    both = [
        {"job_id": one["job_id"], "token": one["token"], "outcome": "succeeded", "result": "stolen"}
        for one in (grant, of_b)
    ]
    assert [one["code"] for one in await theirs.finish(*both)] == ["lease_lost", "accepted"]
    assert await everything(cell) == before
    assert (await job(a, asked))["state"] == "running"
    # A token of one's own ends one's own job, whichever job is named with it.
    own = await ask(b)
    [another] = await theirs.claim()
    assert await theirs.end({"token": another["token"], "job_id": asked}) == "accepted"
    assert ((await job(b, own))["state"], await everything(cell)) == ("succeeded", before)
    assert await mine.end(grant, result="mine") == "accepted"
    assert (await job(a, asked))["result"] == "mine"


@pytest.mark.parametrize("header", ["Leasehold-Tenant", "X-Tenant", "X-Forwarded-User"])
async def test_no_header_makes_a_worker_another_tenants(
    a: httpx.AsyncClient, b: httpx.AsyncClient, cell: Cell, header: str
) -> None:
    await ask(a, {"card": "secret"})
    theirs = await registered(b)
    got = await b.post(f"{theirs.at}/claim", json={"n": 10, "held": []}, headers={header: str(cell.tenant_a)})
    assert got.json()["data"] == []
    for more in ({"tenant": str(cell.tenant_a)}, {"tenant_id": str(cell.tenant_a)}):
        refused = await b.post("/v1/workers", json={"name": "x"} | more)
        assert refused.status_code in (400, 422), "what is not known is refused"
        got = await b.post(f"{theirs.at}/claim", json={"n": 10, "held": []}, params=more)
        assert got.status_code in (400, 422)
