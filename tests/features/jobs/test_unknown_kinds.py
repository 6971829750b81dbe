"""A kind that nobody handles is mostly a wrong letter: over HTTP it is refused, unless it is forced."""

from typing import Any

import httpx
import pytest

from leasehold import Leasehold
from leasehold.database.database import Database, Role
from leasehold.engine import leases
from leasehold.settings import Settings
from tests.cell import Cell
from tests.http.conftest import problem

WRONG = {"kind": "shop.refnud"}
NOT_KNOWN = "no handler of kind shop.refnud is known: its jobs would wait"
WAY_OUT = 'known are shop.mail, shop.refund; where its worker is still to come: --force, or "force": true over HTTP'
JOB = ("POST", "/v1/jobs", WRONG)
WAYS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a job": JOB,
    "a batch": ("POST", "/v1/jobs:batch", {"jobs": [{"kind": "shop.refund"}, WRONG]}),
    "a flow": ("POST", "/v1/flows", {"name": "f", "steps": [{"kind": "shop.refund"}, WRONG]}),
    "a schedule": ("PUT", "/v1/schedules/nightly", {**WRONG, "every_s": 60}),
}


async def start_worker(db: Database) -> None:
    kinds: dict[str, Any] = {"shop.refund": {}, "shop.mail": {}, "audits.run": {}}
    about: dict[str, Any] = {"name": "w", "version": "0", "queues": ["default"], "slots": 1, "lease_s": 60.0}
    await leases.register_worker(db, kinds=kinds, **about)


def forced(body: dict[str, Any]) -> dict[str, Any]:
    return {"jobs": [{**job, "force": True} for job in body["jobs"]]} if "jobs" in body else {**body, "force": True}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}], ids=["plain", "once"])
async def test_a_kind_that_nobody_handles_is_refused_unless_it_is_forced(
    a: httpx.AsyncClient, worker_db: Database, way: str, headers: dict[str, str]
) -> None:
    method, path, body = WAYS[way]
    await start_worker(worker_db)
    said = problem(await a.request(method, path, json=body, headers=headers), 404, "not_found")
    assert (said["detail"], said["hint"]) == (NOT_KNOWN, WAY_OUT)
    assert (await a.get("/v1/jobs")).json()["data"] == []
    assert (await a.request(method, path, json=forced(body), headers=headers)).is_success


async def test_in_a_batch_that_is_not_atomic_only_the_unknown_kind_is_refused(
    a: httpx.AsyncClient, worker_db: Database
) -> None:
    await start_worker(worker_db)
    body = {"jobs": [{"kind": "shop.refund"}, WRONG, {"kind": "shop.mail"}]}
    made = (await a.post("/v1/jobs:batch?atomic=false", json=body)).json()["data"]
    assert [one.get("detail", "made") for one in made] == ["made", NOT_KNOWN, "made"]


@pytest.mark.parametrize("way", WAYS)
async def test_before_the_first_worker_every_kind_is_taken(a: httpx.AsyncClient, way: str) -> None:
    method, path, body = WAYS[way]
    assert (await a.request(method, path, json=body)).is_success


async def test_a_kind_is_known_as_soon_as_its_worker_has_started(a: httpx.AsyncClient, worker_db: Database) -> None:
    await start_worker(worker_db)
    steps = [{"kind": "flow.approval", "name": "ask"}, {"kind": "shop.refund", "after": ["ask"]}]
    assert (await a.post("/v1/flows", json={"name": "f", "steps": steps})).is_success
    problem(await a.post("/v1/jobs", json=WRONG), 404, "not_found")
    about: dict[str, Any] = {"name": "w", "version": "0", "queues": ["default"], "slots": 1, "lease_s": 60.0}
    await leases.register_worker(worker_db, kinds={"shop.refnud": {}}, **about)
    assert (await a.post("/v1/jobs", json=WRONG)).is_success


async def test_what_a_remote_worker_handles_is_known_to_its_tenant_alone(
    a: httpx.AsyncClient, b: httpx.AsyncClient, worker_db: Database
) -> None:
    await start_worker(worker_db)
    about = {"name": "w", "version": "0", "slots": 1, "lease_s": 60, "kinds": ["films.render"]}
    assert (await a.post("/v1/workers", json=about)).status_code == 201
    assert (await a.post("/v1/jobs", json={"kind": "films.render"})).is_success
    said = problem(await b.post("/v1/jobs", json={"kind": "films.render"}), 404, "not_found")
    assert said["hint"] == 'where its worker is still to come: --force, or "force": true over HTTP'


async def test_the_library_takes_every_kind(cell: Cell, worker_db: Database) -> None:
    """A program that is deployed before its worker is no typing error."""
    await start_worker(worker_db)
    async with Leasehold(Settings(api_url=cell.url(Role.API))) as app:
        await app.enqueue("shop.refnud", tenant="a")
        await (await app.client("a")).enqueue("shop.refnud")
