"""The functions against a model in plain Python: random lives of jobs, compared after every step.

The same machine is run against planted mutants of the functions; it must find each of them.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    initialize,
    invariant,
    multiple,
    rule,
)

from leasehold.database.database import Role
from leasehold.engine import jobs, leases, maintenance
from leasehold.errors import Conflict, LeaseLost, WorkerLost
from leasehold.job import AttemptOutcome, State
from tests.cell import Cell, Cluster
from tests.stateful import Machine, finds, on_a_database, play

T = TypeVar("T")
LEASE = 1000.0
HOT = "ready, lease, deferred, parked, idempotency, worker, job, attempt_row, outcome, event"


@dataclass(slots=True)
class Model:
    """What a job should be like."""

    payload: str
    max_attempts: int
    state: State
    run_at: float = 0.0  # model time
    expires_at: float | None = None
    attempt: int = 0
    claims: int = 0
    token: int | None = None
    worker: UUID | None = None
    cancel_requested: bool = False


class Lives(Machine):
    """Model time moves only by ``pass_time``; its steps are so long that the run's own seconds do not matter."""

    ids = Bundle("ids")
    tokens = Bundle("tokens")
    crew = Bundle("crew")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.jobs: dict[UUID, Model] = {}
        self.keys: dict[str, tuple[UUID, str, float]] = {}
        self.beats: dict[UUID, float | None] = {}  # None: ended
        self.last_token = 0

    @initialize()
    def start(self) -> None:
        tables = ", ".join(f"leasehold.{name}" for name in HOT.split(", "))
        self.change(f"truncate {tables}; update leasehold_test.clock set offset_s = 0")

    # -- what a tenant does -----------------------------------------------------------------------------------------

    @rule(
        target=ids,
        delay=st.sampled_from([0, 0, 500]),
        attempts=st.integers(1, 3),
        key=st.sampled_from([None, None, "k1", "k2"]),
        payload=st.sampled_from(['{"n": 1}', '{"n": 2}']),
        expires=st.sampled_from([None, None, 700]),
    )
    def enqueue(self, delay: int, attempts: int, key: str | None, payload: str, expires: int | None) -> UUID:
        options: dict[str, Any] = {
            "max_attempts": attempts,
            "retry_base_s": 400,
            "retry_cap_s": 400,
            "key_window_s": 2000,
        }
        if delay:
            options["delay_s"] = delay
        if expires:
            at = datetime.now(UTC) + timedelta(seconds=self.now + expires)
            options["expires_at"] = at.isoformat()
        known = self.keys.get(key) if key else None
        fresh = known is None or known[2] <= self.now
        keys = [key] if key else None
        asked = jobs.enqueue(self.db, self.cell.tenant_a, "t.work", [payload], options, keys=keys)
        if not fresh and known and known[1] != payload:
            with pytest.raises(Conflict):
                self.run(asked)
            return known[0]
        [job] = self.run(asked)
        assert job.created is fresh
        if not fresh and known:
            assert job.job_id == known[0]
            return job.job_id
        if key:
            self.keys[key] = (job.job_id, payload, self.now + 2000)
        self.jobs[job.job_id] = Model(
            payload=payload,
            max_attempts=attempts,
            state=State.SCHEDULED if delay else State.QUEUED,
            run_at=self.now + delay,
            expires_at=self.now + expires if expires else None,
        )
        return job.job_id

    @rule(job_id=ids)
    def cancel(self, job_id: UUID) -> None:
        model = self.jobs[job_id]
        said = self.run(jobs.cancel(self.db, self.cell.tenant_a, job_id))
        if model.state is State.RUNNING:
            assert said == "requested"
            model.cancel_requested = True
        elif model.state.is_outcome:
            assert said == model.state
        else:
            assert said == "canceled"
            model.state = State.CANCELED

    @rule(job_id=ids)
    def retry(self, job_id: UUID) -> None:
        model = self.jobs[job_id]
        asked = jobs.retry(self.db, self.cell.tenant_a, job_id)
        if model.state not in (State.FAILED, State.DEAD, State.CANCELED):
            with pytest.raises(Conflict):
                self.run(asked)
            return
        self.run(asked)
        original = model.max_attempts if model.attempt == 0 else self._original(job_id)
        model.state, model.run_at, model.max_attempts = State.SCHEDULED, self.now, model.attempt + original

    def _original(self, job_id: UUID) -> int:
        [row] = self.look(f"select max_attempts from leasehold.job where job_id = '{job_id}'")
        return int(row["max_attempts"])

    # -- what workers do --------------------------------------------------------------------------------------------

    @rule(target=crew)
    def register(self) -> UUID:
        worker = self.run(
            leases.register_worker(
                self.db, name="w", version="0", queues=["default"], kinds={}, slots=10, lease_s=LEASE
            )
        )
        self.beats[worker] = self.now
        return worker

    @rule(target=tokens, worker=crew)
    def claim(self, worker: UUID) -> Any:
        if self.beats[worker] is None:
            with pytest.raises(WorkerLost):
                self.run(jobs.claim(self.db, worker, ["default"], 100))
            return multiple()
        grants = self.run(jobs.claim(self.db, worker, ["default"], 100))
        due = {job_id: model for job_id, model in self.jobs.items() if model.state is State.QUEUED}
        expired = {j for j, m in due.items() if m.expires_at is not None and m.expires_at <= self.now}
        for job_id in expired:
            due.pop(job_id).state = State.CANCELED
        assert {grant.job_id for grant in grants} == set(due)
        for grant in sorted(grants, key=lambda grant: grant.token):
            model = due[grant.job_id]
            assert grant.token > self.last_token, "tokens grow"
            self.last_token = grant.token
            model.attempt += 1
            model.claims += 1
            assert (grant.attempt, grant.max_attempts) == (model.attempt, model.max_attempts)
            model.state, model.token, model.worker = State.RUNNING, grant.token, worker
        return multiple(*(grant.token for grant in grants))

    @rule(token=tokens, outcome=st.sampled_from(["succeeded", "failed", "errored", "snoozed", "released", "canceled"]))
    def finish(self, token: int, outcome: str) -> None:
        delay = 300.0 if outcome in ("snoozed", "released") else None
        accepted = self.run(jobs.finish(self.db, [AttemptOutcome(token=token, outcome=outcome, delay_s=delay)]))
        owner = next((model for model in self.jobs.values() if model.token == token), None)
        assert accepted == ({token} if owner else set()), "only the holder of the current token writes"
        if owner:
            self._leave(owner, outcome, delay)

    def _leave(self, model: Model, outcome: str, delay: float | None) -> None:
        model.token = model.worker = None
        if outcome in ("snoozed", "released"):
            model.attempt -= 1
        if outcome in ("succeeded", "failed", "canceled"):
            model.state = State(outcome)
        elif model.cancel_requested:
            model.state = State.CANCELED
        elif outcome in ("errored", "lost") and model.attempt >= model.max_attempts:
            model.state = State.DEAD
        elif outcome == "lost":
            model.state = State.QUEUED
        else:
            model.state, model.run_at = State.SCHEDULED, self.now + (delay or 400)
        model.cancel_requested = False

    @rule(token=tokens)
    def speak(self, token: int) -> None:
        said = jobs.append_event(self.db, token, "progress", progress=50)
        if any(model.token == token for model in self.jobs.values()):
            self.run(said)
        else:
            with pytest.raises(LeaseLost):
                self.run(said)

    @rule(worker=crew)
    def beat(self, worker: UUID) -> None:
        if self.beats[worker] is None:
            with pytest.raises(WorkerLost):
                self.run(leases.heartbeat(self.db, worker))
            return
        asked = {m.token for m in self.jobs.values() if m.worker == worker and m.cancel_requested}
        assert self.run(leases.heartbeat(self.db, worker)) == asked
        self.beats[worker] = self.now

    @rule()
    def reap(self) -> None:
        silent = [w for w, at in self.beats.items() if at is not None and self.now - at > LEASE]
        taken = [model for model in self.jobs.values() if model.worker in silent]
        assert self.run(maintenance.rescue_silent_workers(self.db)) == len(taken)
        for worker in silent:
            self.beats[worker] = None
        for model in taken:
            self._leave(model, "lost", None)

    @rule(target=tokens, outcome=st.sampled_from(["succeeded", "errored"]))
    def all_workers_die_and_another_comes(self, outcome: str) -> Any:
        """The road to a zombie: every lease is lost, its job runs again elsewhere, and one of the dead reports."""
        held = [model.token for model in self.jobs.values() if model.token]
        self.pass_time(1100)
        self.reap()
        self.promote()
        claimed = self.claim(self.register())
        for zombie in held[:1]:
            self.finish(zombie, outcome)
        return claimed

    # -- time -------------------------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([450, 600, 1100]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        self.change(f"update leasehold_test.clock set offset_s = offset_s + {seconds}")

    @rule()
    def promote(self) -> None:
        self.run(maintenance.dispatch_due_jobs(self.db))
        for model in self.jobs.values():
            # a back-off of 400 s is drawn from [200, 400]: it is over for certain only at its upper
            # end
            if model.state is State.SCHEDULED and model.run_at <= self.now:
                model.state = State.QUEUED

    # -- after every step -------------------------------------------------------------------------------------------

    @invariant()
    def the_database_agrees(self) -> None:
        rows = self.look(
            "select j.job_id, leasehold.state_of(j.job_id) as state,"
            " (select count(*) from leasehold.attempt a where a.job_id = j.job_id) as ended,"
            " (select count(*) from leasehold.lease l where l.job_id = j.job_id) as held,"
            " (select count(*) from leasehold.ready r where r.job_id = j.job_id)"
            " + (select count(*) from leasehold.deferred d where d.job_id = j.job_id)"
            " + (select count(*) from leasehold.lease l where l.job_id = j.job_id)"
            " + (select count(*) from leasehold.outcome o where o.job_id = j.job_id) as places"
            " from leasehold.job j"
        )  # fmt: skip
        assert {UUID(row["job_id"]) for row in rows} == set(self.jobs)
        for row in rows:
            model = self.jobs[UUID(row["job_id"])]
            assert row["state"] == model.state
            assert row["places"] == 1, "a job is in exactly one place"
            assert row["ended"] + row["held"] == model.claims, "every claim has its attempt"


@pytest.mark.parametrize("examples", [17, pytest.param(50, marks=pytest.mark.long)])
def test_random_lives_of_jobs_agree_with_the_model(cluster: Cluster, examples: int) -> None:
    with on_a_database(cluster, Lives) as lives:
        play(lives, examples)


MUTANTS = {
    "a finish without a look at the token": (
        "functions/end_attempts.sql",
        [
            (
                "where l.token = g.token",
                """where l.token = g.token
                   or l.job_id in (select a.job_id from leasehold.attempt a where a.token = g.token)""",
            ),
        ],
    ),
    "a plain finish without a look at the token": (
        "functions/end_succeeded_attempts.sql",
        [
            (
                "where l.token = any(p_tokens)",
                """where l.token = any(p_tokens)
                   or l.job_id in (select a.job_id from leasehold.attempt a where a.token = any(p_tokens))""",
            ),
        ],
    ),
    "a reaper without its guard": (
        "functions/rescue_silent_workers.sql",
        [("where ended_at is null and beat_at < v_now - make_interval(secs => lease_s)", "where ended_at is null")],
    ),
    "attempts that are not counted when they are lost": (
        "functions/end_attempts.sql",
        [("in ('snoozed', 'released') then attempt - 1", "in ('snoozed', 'released', 'lost') then attempt - 1")],
    ),
    "a cancel that forgets those who run": (
        "functions/cancel.sql",
        [("set cancel_requested = true", "set cancel_requested = cancel_requested")],
    ),
    "a claim that does not look at expiry": (
        "functions/grant_leases.sql",
        [("coalesce(j.expires_at <= p_at, false)", "false")],
    ),
    "keys without a fingerprint": (
        "functions/reserve_keys.sql",
        [("elsif v_row.fingerprint <> v_prints[v_place] then", "elsif false then")],
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_a_planted_mutant(cluster: Cluster, mutant: str) -> None:
    with on_a_database(cluster, Lives) as lives:
        finds(lives, *MUTANTS[mutant])


async def test_the_clock_never_goes_back_and_the_test_would_see_it(cell: Cell) -> None:
    async def regressions() -> int:
        seen = 0
        async with cell.database(Role.OPERATOR, connections=5) as db:

            async def push(offset: int) -> None:
                nonlocal seen
                script = (
                    "do $$ declare h bigint := 0; c bigint; begin for i in 1..4000 loop"
                    f" perform leasehold.advance_lane_clock('leasehold.clock_0', (i + {offset}) * 10);"
                    " c := pg_sequence_last_value('leasehold.clock_0');"
                    " if c < h then raise exception 'went back'; end if; h := c; end loop; end $$"
                )
                try:
                    async with db.transaction() as connection:
                        await connection.execute("select leasehold_test.change($1)", script)
                except Exception as problem:
                    seen += "went back" in str(problem)

            await asyncio.gather(*(push(offset) for offset in (0, 1, 2, 3)))
        return seen

    assert await regressions() == 0
    await cell.change("select setval('leasehold.clock_0', 1)")
    await cell.change(
        "create or replace function leasehold.advance_lane_clock(p_clock regclass, p_to bigint)"
        " returns void language sql"
        " as $$ select setval(p_clock, p_to) $$"
    )
    assert await regressions() > 0, "a clock that can go back is seen"
