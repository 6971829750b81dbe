"""The checker's own tests: a good history passes, and each way to break it is found by the rule that is meant."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.engine.leases import end_worker, register_worker
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.faults.history import Expected, History, Row, check, violations

JOB, TENANT, OTHER, WORKER = (UUID(int=n) for n in (1, 2, 3, 4))
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()


def attempt(n: int, outcome: str, *, seqs: tuple[int, int], seconds: tuple[float, float], **more: Any) -> Row:
    return {
        "job_id": str(JOB), "tenant_id": str(TENANT), "token": n << 22, "attempt": n, "worker_id": str(WORKER),
        "started_seq": seqs[0], "finished_seq": seqs[1], "started_at": at(seconds[0]), "finished_at": at(seconds[1]),
        "outcome": outcome,
    } | more  # fmt: skip


GOOD = History(
    job=[
        {
            "job_id": str(JOB), "tenant_id": str(TENANT), "kind": "t.work", "key": "k", "max_attempts": 3,
            "run_at": at(0), "retry_base_s": 2.0, "retry_cap_s": 100.0,
        }
    ],
    attempt=[
        attempt(1, "errored", seqs=(2, 4), seconds=(1, 2)),
        attempt(2, "lost", seqs=(5, 6), seconds=(4, 8)),
        attempt(3, "succeeded", seqs=(7, 9), seconds=(8, 9)),
    ],
    event=[
        {"job_id": str(JOB), "tenant_id": str(TENANT), "seq": 3, "type": "progress"},
        {"job_id": str(JOB), "tenant_id": str(TENANT), "seq": 8, "type": "log"},
    ],
    outcome=[{"job_id": str(JOB), "tenant_id": str(TENANT), "state": "succeeded", "seq": 9}],
    worker=[{"worker_id": str(WORKER), "name": "w", "ended_at": at(10)}],
)  # fmt: skip
EXPECTED = Expected(acknowledged={JOB: TENANT}, stopped=["w"], effects=[JOB, JOB], once=[JOB])


def test_a_good_history_has_no_violations() -> None:
    assert violations(GOOD, EXPECTED) == []


def _set(table: str, row: int, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tables: tables[table][row].update(values)


def _add(table: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tables: tables[table].append({"job_id": str(JOB), "tenant_id": str(TENANT)} | values)


def _drop(table: str, row: int = 0) -> Callable[[dict[str, Any]], None]:
    return lambda tables: tables[table].pop(row)


@pytest.mark.parametrize(
    ("rule", "breaks"),
    [
        pytest.param("I1", _drop("outcome"), id="a job without an outcome"),
        pytest.param("I1", _add("outcome", state="failed", seq=10), id="two outcomes"),
        pytest.param("I1", _add("ready"), id="a job that still waits"),
        pytest.param("I1", _add("lease", worker_id="x"), id="a job that still runs"),
        pytest.param("I2", _set("outcome", 0, state="dead"), id="an outcome that its attempt does not know"),
        pytest.param("I2", _set("attempt", 0, outcome="failed"), id="an attempt after a permanent error"),
        pytest.param("I2", _set("attempt", 1, outcome="succeeded"), id="an attempt after a success"),
        pytest.param("I2", _set("outcome", 0, seq=5), id="an outcome before the end"),
        pytest.param("I2", _add("event", seq=10, type="retried"), id="a retry that nobody logged"),
        pytest.param("I3", _set("attempt", 2, token=1 << 22), id="a token that does not grow"),
        pytest.param("I3", _set("attempt", 1, started_at=at(1.2)), id="two attempts at one time"),
        pytest.param("I3", _set("attempt", 1, finished_at=at(3)), id="an end before its start"),
        pytest.param("I4", _set("event", 0, seq=10), id="a word after the end"),
        pytest.param("I5", _set("attempt", 1, attempt=3), id="a gap in the attempts"),
        pytest.param("I5", _set("job", 0, max_attempts=2), id="more attempts than allowed"),
        pytest.param("I7", _add("job", job_id=str(UUID(int=9)), kind="t.work", key="k"), id="one key, two jobs"),
        pytest.param("I8", _set("job", 0, run_at=at(3)), id="a start before its time"),
        pytest.param("I8", _set("job", 0, retry_base_s=10.0), id="a retry before its back-off"),
        pytest.param("I12", _drop("event"), id="a gap in the events"),
        pytest.param("I12", _set("event", 0, seq=4), id="a number twice"),
        pytest.param("I13", _set("attempt", 1, tenant_id=str(OTHER)), id="an attempt of another tenant"),
        pytest.param("I15", _set("worker", 0, ended_at=None), id="a stopped worker that is not ended"),
        pytest.param("I15", _add("lease", worker_id=str(WORKER)), id="a stopped worker with a lease"),
    ],
)
def test_a_broken_history_is_found_by_its_rule(rule: str, breaks: Callable[[dict[str, Any]], None]) -> None:
    tables = {name: [*map(dict, deepcopy(getattr(GOOD, name)))] for name in History.__dataclass_fields__}
    breaks(tables)
    for row in tables["job"]:
        row.setdefault("max_attempts", 3)
        row.setdefault("run_at", at(0))
    assert rule in " ".join(violations(History(**tables), EXPECTED))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param("I1", replace(EXPECTED, acknowledged={JOB: TENANT, OTHER: TENANT}), id="a lost job"),
        pytest.param("I1", replace(EXPECTED, acknowledged={}), id="a job out of nowhere"),
        pytest.param("I6", replace(EXPECTED, once=[JOB, JOB]), id="an effect twice"),
        pytest.param("I6", replace(EXPECTED, once=[]), id="an effect that is missing"),
        pytest.param("I6", replace(EXPECTED, effects=[JOB] * 4), id="more effects than attempts"),
        pytest.param("I11", replace(EXPECTED, canceled=[JOB]), id="a canceled job that succeeded"),
        pytest.param("I13", replace(EXPECTED, acknowledged={JOB: OTHER}), id="another tenant's job"),
    ],
)
def test_what_the_test_knows_is_held_against_the_history(rule: str, expected: Expected) -> None:
    assert rule in " ".join(violations(GOOD, expected))


async def test_a_real_history_is_read_and_passes(cell: Cell, worker_db: Database) -> None:
    worker = await register_worker(
        worker_db, name="w", version="t", queues=["default"], kinds={}, slots=5, lease_s=60.0
    )
    made = await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ["{}"] * 3, {}, keys=["a", "b", None])
    for outcome in ("released", "succeeded"):
        grants = await jobs.claim(worker_db, worker, ["default"], 3)
        await jobs.append_event(worker_db, grants[0].token, "progress", progress=1)
        await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome=outcome) for grant in grants])
    await end_worker(worker_db, worker)
    history = await check(cell, Expected(acknowledged={job.job_id: cell.tenant_a for job in made}, stopped=["w"]))
    assert (len(history.job), len(history.attempt)) == (3, 6)
