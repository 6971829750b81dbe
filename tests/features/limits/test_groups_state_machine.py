"""Groups against a model in plain Python: who may start, in which order, and that nobody waits for ever.

The same machine is run against planted mutants of the functions; it must find each of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, initialize, invariant, multiple, precondition, rule

from leasehold.engine import jobs, maintenance
from leasehold.job import AttemptOutcome, State
from tests.cell import Cluster
from tests.engine.test_life import register
from tests.stateful import Machine, finds, on_a_database, play

T = TypeVar("T")
HOT = "ready, lease, deferred, parked, blocked, place, job, attempt_row, outcome, event"
LIMITS = {"one": 1, "three": 3, "held": 1}
GROUPS = st.sampled_from([None, "one", "one", "three", "three", "held", "held"])
OUTCOMES = ("succeeded", "succeeded", "failed", "errored", "lost", "snoozed", "released")


@dataclass(slots=True)
class Model:
    """What a job should be like. ``due`` is model time and a counter, for those that become due together."""

    group: str | None
    budget: int  # attempts, at first and after each retry
    max_attempts: int
    state: State
    due: tuple[float, int] = (0.0, 0)
    attempt: int = 0
    placed: bool = False


class Groups(Machine):
    """Model time moves only by ``pass_time``; its steps are so long that the run's own seconds do not matter."""

    worker: ClassVar[UUID]

    ids = Bundle("ids")
    tokens = Bundle("tokens")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.counter = 0
        self.jobs: dict[UUID, Model] = {}
        self.lines: dict[str, list[UUID]] = {name: [] for name in LIMITS}  # who waits, in order
        self.running: dict[int, UUID] = {}

    @initialize(target=ids, groups=st.lists(GROUPS, min_size=4, max_size=8))
    def start(self, groups: list[str | None]) -> Any:
        tables = ", ".join(f"leasehold.{name}" for name in HOT.split(", "))
        self.change(f"truncate {tables}; update leasehold_test.clock set offset_s = 0")
        return multiple(*(job_id for group in groups for job_id in self._enqueue(group, 2, 0, 2, 2)))

    # -- what happens -----------------------------------------------------------------------------------------------

    @rule(
        target=ids,
        group=GROUPS,
        count=st.integers(1, 3),
        delay=st.sampled_from([0, 0, 0, 300]),
        attempts=st.integers(1, 2),
        priority=st.sampled_from([2, 2, 2, 0]),
    )
    def enqueue(self, group: str | None, count: int, delay: int, attempts: int, priority: int) -> Any:
        return multiple(*self._enqueue(group, count, delay, attempts, priority))

    def _enqueue(self, group: str | None, count: int, delay: int, attempts: int, priority: int) -> list[UUID]:
        options: dict[str, Any] = {"max_attempts": attempts, "priority": priority}
        if group:
            options |= {"group": group, "group_limit": LIMITS[group], "group_hold": group == "held"}
        if delay:
            options["delay_s"] = delay
        made = self.run(jobs.enqueue(self.db, self.cell.tenant_a, "t.work", ["{}"] * count, options))
        for job in made:
            self.jobs[job.job_id] = Model(group, attempts, attempts, State.QUEUED)
            self._wait(job.job_id, delay)
        return [job.job_id for job in made]

    @rule(target=tokens, n=st.integers(1, 4))
    def claim(self, n: int) -> Any:
        return multiple(*self._claim(n))

    @rule(outcomes=st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=5))
    def work(self, outcomes: list[str]) -> None:
        for token, outcome in zip(self._claim(len(outcomes)), outcomes, strict=False):
            self._finish(token, outcome)

    @rule(token=tokens, outcome=st.sampled_from(OUTCOMES))
    def finish(self, token: int, outcome: str) -> None:
        self._finish(token, outcome)

    @rule(job_id=ids)
    def cancel(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.state is State.RUNNING:
            return
        self.run(jobs.cancel(self.db, self.cell.tenant_a, job_id, None))
        if not job.state.is_outcome:
            self._leave(job_id, State.CANCELED)

    @precondition(lambda self: self._between())
    @rule(which=st.integers(0, 100))
    def cancel_between_attempts(self, which: int) -> None:
        between = self._between()
        self.cancel(between[which % len(between)])

    @rule(job_id=ids)
    def reschedule(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.state is State.RUNNING or job.state is State.SUCCEEDED:
            return
        at = self.run(self.db.value("now")) + timedelta(seconds=500)
        self.run(jobs.reschedule(self.db, self.cell.tenant_a, job_id, at))
        if job.state.is_outcome:
            job.max_attempts = job.attempt + job.budget
        else:
            self._leave(job_id, State.SCHEDULED)
        self._wait(job_id, 500)

    @rule(job_id=ids)
    def retry(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.state not in (State.FAILED, State.DEAD, State.CANCELED):
            return
        self.run(jobs.retry(self.db, self.cell.tenant_a, job_id, None))
        job.max_attempts = job.attempt + job.budget
        job.state = State.SCHEDULED
        self.counter += 1
        job.due = (self.now, self.counter)

    @rule(seconds=st.sampled_from([0, 400, 1000]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        self.change(f"update leasehold_test.clock set offset_s = offset_s + {seconds}")
        self.run(maintenance.dispatch_due_jobs(self.db))
        due = [(job.due, job_id) for job_id, job in self.jobs.items() if job.state is State.SCHEDULED]
        for at, job_id in sorted(due):
            if at[0] <= self.now:
                self._line_up(job_id)

    @rule()
    def sweep(self) -> None:
        lanes = self.run(maintenance.list_lanes(self.db))
        self.run(maintenance.advance_lane_floor(self.db, lanes, [0] * len(lanes), [None] * len(lanes)))

    # -- the model --------------------------------------------------------------------------------------------------

    def _wait(self, job_id: UUID, delay: float) -> None:
        if not delay:
            self._line_up(job_id)
            return
        self.counter += 1
        self.jobs[job_id].state, self.jobs[job_id].due = State.SCHEDULED, (self.now + delay, self.counter)

    def _line_up(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.group is None or job.placed:
            job.state = State.QUEUED
            return
        job.state = State.BLOCKED
        self.lines[job.group].append(job_id)

    def _leave(self, job_id: UUID, state: State) -> None:
        job = self.jobs[job_id]
        if job.group and job_id in self.lines[job.group]:
            self.lines[job.group].remove(job_id)
        job.state = state
        job.placed = job.placed and job.group == "held" and state in (State.FAILED, State.DEAD)

    def _between(self) -> list[UUID]:
        """Those that have a place and wait for their next attempt."""
        waits = (State.QUEUED, State.SCHEDULED)
        return [job_id for job_id, job in self.jobs.items() if job.placed and job.state in waits]

    def _places(self, group: str) -> int:
        return sum(job.placed for job in self.jobs.values() if job.group == group)

    def _startable(self) -> int:
        ready = sum(job.state is State.QUEUED for job in self.jobs.values())
        return ready + sum(
            min(max(LIMITS[name] - self._places(name), 0), len(line)) for name, line in self.lines.items()
        )

    def _claim(self, n: int) -> list[int]:
        startable = self._startable()
        tokens: list[int] = []
        for _ in range(9):  # the next of a group may stand in a lane that the first claim has passed
            grants = self.run(jobs.claim(self.db, self.worker, ["default"], n - len(tokens)))
            self._see_places()
            for grant in grants:
                job = self.jobs[grant.job_id]
                assert job.state is State.QUEUED
                job.state = State.RUNNING
                job.attempt += 1
                self.running[grant.token] = grant.job_id
            tokens += [grant.token for grant in grants]
            if len(tokens) == n:
                break
        assert len(tokens) == min(n, startable), "whoever may start is found"
        return tokens

    def _see_places(self) -> None:
        """Those who got a place were the first of their line, and no more than have room."""
        placed = {UUID(row["job_id"]) for row in self.look("select job_id from leasehold.place")}
        for name, line in self.lines.items():
            fresh = [job_id for job_id in line if job_id in placed]
            assert fresh == line[: len(fresh)], "in the order of the line"
            del line[: len(fresh)]
            for job_id in fresh:
                self.jobs[job_id].placed, self.jobs[job_id].state = True, State.QUEUED
            assert self._places(name) <= LIMITS[name]

    def _finish(self, token: int, outcome: str) -> None:
        accepted = self.run(
            jobs.finish(
                self.db, [AttemptOutcome(token=token, outcome=outcome, delay_s=200 if outcome == "errored" else None)]
            )
        )
        job_id = self.running.pop(token, None)
        assert (token in accepted) == (job_id is not None)
        if job_id is None:
            return
        job = self.jobs[job_id]
        if outcome in ("snoozed", "released"):
            job.attempt -= 1
        if outcome in ("succeeded", "failed"):
            self._leave(job_id, State(outcome))
        elif outcome in ("errored", "lost") and job.attempt >= job.max_attempts:
            self._leave(job_id, State.DEAD)
        else:
            self._wait(job_id, 200 if outcome == "errored" else 0)

    @invariant()
    def states_agree(self) -> None:
        seen = {
            UUID(row["job_id"]): row["state"]
            for row in self.look("select job_id, leasehold.state_of(job_id) as state from leasehold.job")
        }
        assert seen == {job_id: str(job.state) for job_id, job in self.jobs.items()}
        places = {row["n"] for row in self.look("select job_id as n from leasehold.place")}
        assert places == {str(job_id) for job_id, job in self.jobs.items() if job.placed}

    def teardown(self) -> None:
        """Everything comes to an end, and nothing is left behind."""
        for _ in range(1 + 2 * len(self.jobs)):
            self.pass_time(1000)
            for token in list(self.running):
                self._finish(token, "succeeded")
            self._claim(100)
            for job_id, job in self.jobs.items():
                if job.group == "held" and job.placed and job.state in (State.FAILED, State.DEAD):
                    self.retry(job_id)
        assert [job for job in self.jobs.values() if not job.state.is_outcome] == []
        assert self.look("select job_id from leasehold.ready union all select job_id from leasehold.blocked") == []


@contextmanager
def machine(cluster: Cluster) -> Iterator[type[Groups]]:
    with on_a_database(cluster, Groups) as groups:
        groups.worker = groups.loop.run_until_complete(register(groups.db, slots=100, lease_s=1e6))
        yield groups


@pytest.mark.long
def test_random_lives_in_groups_agree_with_the_model(cluster: Cluster) -> None:
    with machine(cluster) as groups:
        play(groups, 50)


MUTANTS = {
    "a group that takes one more than it may": (
        "functions/admit.sql",
        [
            ("first.group_limit - taken.n as places", "1 + first.group_limit - taken.n as places"),
            ("first.group_limit > taken.n", "1 + first.group_limit > taken.n"),
        ],
    ),
    "a line that begins at its end": (
        "functions/admit.sql",
        [("order by group_id, seq limit least", "order by group_id desc, seq desc limit least")],
    ),
    "an end that does not ring": (
        "functions/leave_groups.sql",
        [("on c.lane = n.lane", "on false")],
    ),
    "a place that is kept after the end": (
        "functions/end_attempts.sql",
        [("filter (where bound and state is not null)", "filter (where bound and state = 'x')")],
    ),
    "a place that is kept after a plain end": (
        "functions/end_succeeded_attempts.sql",
        [("(where bound)\n  into accepted", "(where false)\n  into accepted")],
    ),
    "a cancel that keeps the place": (
        "functions/remove_waiting_job.sql",
        [("if v_taken.bound then", "if false then")],
    ),
    "a retry that forgets its group": (
        "functions/retry.sql",
        [("v_job.group_key is not null", "false")],
    ),
    "a group that never waits for a person": (
        "functions/leave_groups.sql",
        [("and not (group_hold and job_id = any(p_failed))", "")],
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_a_planted_mutant(cluster: Cluster, mutant: str) -> None:
    with machine(cluster) as groups:
        finds(groups, *MUTANTS[mutant])
