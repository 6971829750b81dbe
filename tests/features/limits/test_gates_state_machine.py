"""Gates against a model in plain Python: who may start when, and that nobody waits for ever.

The same machine is run against planted mutants of the functions; it must find each of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, initialize, invariant, multiple, rule

from leasehold.engine import jobs, maintenance
from leasehold.features.limits.store import Gates as Rules
from leasehold.job import AttemptOutcome, ClaimedJob, State
from tests.cell import Cluster
from tests.engine.test_life import register
from tests.stateful import Machine, finds, on_a_database, play

HOT = "ready, lease, deferred, parked, blocked, place, gated, gate_bell, gate_now, gate_word"
COLD = "job, attempt_row, outcome, event"
#: All moments of the model are multiples of twenty seconds, and these lie on them or well between
#: them.
SLOTS = {"slow": (40.0, 1), "burst": (20.0, 3), "gap": (40.0, 1)}
COOLDOWN = HOLD = 45.0
RULES: dict[str, dict[str, float]] = {
    "slow": {"rate": 1, "per_s": 40},
    "burst": {"rate": 3, "per_s": 60, "burst": 3},
    "flaky": {"failures": 2, "ratio": 0.5, "window_s": 86400, "cooldown_s": COOLDOWN, "probes": 1},
}
GATES = st.sampled_from([None, "slow", "burst", "burst", "flaky", "flaky", "unruled"])
OUTCOMES = ("succeeded", "succeeded", "errored", "errored", "failed", "lost", "snoozed", "told")


@dataclass(slots=True)
class Gate:
    """What a gate should do."""

    every: float = 0.0
    burst: int = 1
    breaks: bool = False
    tat: float = -inf
    held_until: float = -inf
    state: str = "closed"
    phase: int = 0  # attempts that started in another one say nothing
    failed: int = 0
    starts: int = 0
    probe_at: float = -inf
    probes_left: int = 0

    def opens_at(self, now: float) -> float:
        if self.state == "open" and now >= self.probe_at:
            self._turn("half-open")
        if self.state == "half-open" and not self.probes_left and now >= self.probe_at:
            self.probes_left = 1
        shut = self.state == "open" or (self.state == "half-open" and not self.probes_left)
        return max(self.tat, self.held_until, self.probe_at if shut else -inf)

    def take(self, now: float) -> int:
        """The phase in which the attempt starts."""
        if self.every:
            self.tat = max(self.tat, now - (self.burst - 1) * self.every) + self.every
        self.starts += 1
        if self.state == "half-open":
            self.probes_left, self.probe_at = 0, now + COOLDOWN
        return self.phase

    def hear(self, now: float, phase: int, *, failed: bool) -> None:
        if not self.breaks or phase != self.phase or self.state == "open":
            return
        self.failed += failed
        if self.state == "half-open" and not failed:
            self._turn("closed")
        elif failed and (self.state == "half-open" or (self.failed >= 2 and self.failed >= self.starts / 2)):
            self._turn("open")
            self.probe_at = now + COOLDOWN

    def reset(self) -> None:
        self.held_until = -inf
        self._turn("closed")

    def _turn(self, state: str) -> None:
        self.state, self.phase = state, self.phase + 1
        self.failed = self.starts = self.probes_left = 0


@dataclass(slots=True)
class Model:
    """What a job should be like; one of the group also waits for those before it, and for the gap."""

    gate: str | None
    grouped: bool
    state: State = State.QUEUED
    due: float = 0.0
    placed: bool = False
    phases: dict[str, int] = field(default_factory=dict)


class Lives(Machine):
    """Model time moves only by ``pass_time``; its steps are so long that the run's own seconds do not matter."""

    worker: ClassVar[UUID]

    ids = Bundle("ids")
    tokens = Bundle("tokens")

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.jobs: dict[UUID, Model] = {}
        self.line: list[UUID] = []  # of the group, in order
        self.running: dict[int, UUID] = {}
        self.gates = {name: Gate(every, burst) for name, (every, burst) in SLOTS.items()}
        self.gates |= {"flaky": Gate(breaks=True), "unruled": Gate()}

    @property
    def own(self) -> Rules:
        return Rules(self.db, self.cell.tenant_a)

    @initialize(target=ids, gates=st.lists(st.tuples(GATES, st.booleans()), min_size=3, max_size=6))
    def start(self, gates: list[tuple[str | None, bool]]) -> Any:
        tables = ", ".join(f"leasehold.{name}" for name in f"{HOT}, {COLD}".split(", "))
        self.change(f"truncate {tables}; update leasehold_test.clock set offset_s = 0")
        return multiple(*(job_id for gate, grouped in gates for job_id in self.enqueue_some(gate, grouped, 2, 0)))

    # -- what happens -----------------------------------------------------------------------------------------------

    @rule(target=ids, gate=GATES, grouped=st.booleans(), count=st.integers(1, 4), delay=st.sampled_from([0, 0, 0, 60]))
    def enqueue(self, gate: str | None, grouped: bool, count: int, delay: int) -> Any:
        return multiple(*self.enqueue_some(gate, grouped, count, delay))

    def enqueue_some(self, gate: str | None, grouped: bool, count: int, delay: int) -> list[UUID]:
        options: dict[str, Any] = {"max_attempts": 1000, "retry_base_s": 0.001, "retry_cap_s": 0.001}
        options |= {"gate": gate} if gate else {}
        options |= {"group": "g", "group_gap_s": 40} if grouped else {}
        options |= {"delay_s": delay} if delay else {}
        made = self.run(jobs.enqueue(self.db, self.cell.tenant_a, "t.work", ["{}"] * count, options))
        for job in made:
            self.jobs[job.job_id] = Model(gate, grouped)
            self._wait(job.job_id, delay)
        return [job.job_id for job in made]

    @rule(target=tokens, n=st.integers(1, 3))
    def claim_a_few(self, n: int) -> Any:
        return multiple(*self._claim(n))

    @rule(target=tokens)
    def claim_all(self) -> Any:
        return multiple(*self._claim_all())

    @rule(outcome=st.sampled_from(OUTCOMES))
    def work(self, outcome: str) -> None:
        for token in self._claim_all():
            self._finish(token, outcome)

    @rule(token=tokens, outcome=st.sampled_from(OUTCOMES))
    def finish(self, token: int, outcome: str) -> None:
        self._finish(token, outcome)

    @rule(target=ids, outcome=st.sampled_from(OUTCOMES), seconds=st.sampled_from([20, 60]), wait=st.booleans())
    def break_down_and_try(self, outcome: str, seconds: int, wait: bool) -> Any:
        """Everything at the flaky gate fails; after a while somebody tries, or a person says that it is over."""
        made = self.enqueue_some("flaky", False, 5, 0)
        for token in [*self._claim_all(), *self.running]:
            if token in self.running and self.jobs[self.running[token]].gate == "flaky":
                self._finish(token, "errored")
        self._claim_all()
        self.pass_time(seconds) if wait else self.reset("flaky")
        for token in self._claim_all():
            self._finish(token, outcome)
        self._claim_all()
        return multiple(*made)

    @rule()
    def claim_and_roll_back(self) -> None:
        async def attempt() -> None:
            async with self.db.transaction() as connection:
                await self.db.call("claim", self.worker, ["default"], 3, connection=connection)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            self.run(attempt())

    @rule(job_id=ids)
    def cancel(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.state is State.RUNNING:
            return
        self.run(jobs.cancel(self.db, self.cell.tenant_a, job_id, None))
        if not job.state.is_outcome:
            self._leave(job_id, State.CANCELED)

    @rule(job_id=ids)
    def retry(self, job_id: UUID) -> None:
        if self.jobs[job_id].state not in (State.FAILED, State.CANCELED):
            return
        self.run(jobs.retry(self.db, self.cell.tenant_a, job_id, None))
        self.run(maintenance.dispatch_due_jobs(self.db))
        self._wait(job_id, 0)

    @rule(job_id=ids)
    def change_ones_mind(self, job_id: UUID) -> None:
        self.cancel(job_id)
        self.retry(job_id)
        self._claim_all()

    @rule(gate=st.sampled_from(["slow", "flaky", "unruled"]))
    def hold(self, gate: str) -> None:
        self.run(self.own.hold(gate, HOLD))
        self.gates[gate].held_until = self.now + HOLD

    @rule(gate=st.sampled_from(["slow", "flaky", "flaky", "unruled"]))
    def reset(self, gate: str) -> None:
        self.run(self.own.reset(gate))
        self.gates[gate].reset()

    @rule(seconds=st.sampled_from([20, 40, 60, 200]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        self.change(f"update leasehold_test.clock set offset_s = offset_s + {seconds}")
        self.run(maintenance.dispatch_due_jobs(self.db))
        due = [job_id for job_id, job in self.jobs.items() if job.state is State.SCHEDULED and job.due <= self.now]
        for job_id in sorted(due):
            self._wait(job_id, 0)

    @rule()
    def sweep(self) -> None:
        lanes = self.run(maintenance.list_lanes(self.db))
        self.run(maintenance.advance_lane_floor(self.db, lanes, [0] * len(lanes), [None] * len(lanes)))

    # -- the model --------------------------------------------------------------------------------------------------

    def _wait(self, job_id: UUID, delay: float) -> None:
        job = self.jobs[job_id]
        job.state, job.due = State.SCHEDULED if delay else State.QUEUED, self.now + delay
        if job.grouped and not job.placed and not delay:
            self.line.append(job_id)

    def _leave(self, job_id: UUID, state: State) -> None:
        self.jobs[job_id].state, self.jobs[job_id].placed = state, False
        if job_id in self.line:
            self.line.remove(job_id)

    def _gates_of(self, job: Model) -> list[Gate]:
        return [self.gates[name] for name in (job.gate, "gap" if job.grouped else None) if name]

    def _may_start(self, job_id: UUID) -> bool:
        job = self.jobs[job_id]
        if job.grouped and not job.placed and (self._placed() or self.line[0] != job_id):
            return False
        return all(gate.opens_at(self.now) <= self.now for gate in self._gates_of(job))

    def _placed(self) -> bool:
        return any(job.placed for job in self.jobs.values())

    def _claim_all(self) -> list[int]:
        tokens: list[int] = []
        quiet = 0
        while quiet < 3:  # one claim may set what the next one finds
            fresh = self._claim(50)
            quiet = 0 if fresh else quiet + 1
            tokens += fresh
        waiting = [job_id for job_id, job in self.jobs.items() if job.state is State.QUEUED]
        assert not [job_id for job_id in waiting if self._may_start(job_id)], "whoever may start is found"
        return tokens

    def _claim(self, n: int) -> list[int]:
        self.run(maintenance.ring_gates(self.db, ["default"]))
        lined = {row["job_id"] for row in self.look("select job_id from leasehold.gated")}
        grants = self.run(jobs.claim(self.db, self.worker, ["default"], n))
        for grant in grants:
            self._see_start(grant)
        started = {str(grant.job_id) for grant in grants}
        still = {row["job_id"] for row in self.look("select job_id from leasehold.gated")} & lined
        for name in SLOTS.keys() | {"flaky", "unruled"}:
            passed = [one for one in started if self._alone_at(UUID(one), name)]
            waits = [one for one in still if self._alone_at(UUID(one), name)]
            assert max(passed, default="") < min(waits, default="g"), "nobody overtakes the line"
        return [grant.token for grant in grants]

    def _alone_at(self, job_id: UUID, gate: str) -> bool:
        job = self.jobs[job_id]
        return job.gate == gate and not job.grouped

    def _see_start(self, grant: ClaimedJob) -> None:
        job = self.jobs[grant.job_id]
        assert job.state is State.QUEUED
        self._see_place(grant.job_id)
        for name in (job.gate, "gap" if job.grouped else None):
            if name:
                assert self.gates[name].opens_at(self.now) <= self.now, f"{name} is shut"
                job.phases[name] = self.gates[name].take(self.now)
        job.state = State.RUNNING
        self.running[grant.token] = grant.job_id

    def _see_place(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        if job.grouped and not job.placed:
            assert not self._placed(), "one at a time"
            assert self.line.pop(0) == job_id, "in the order of the group"
            job.placed = True

    def _finish(self, token: int, outcome: str) -> None:
        told = '{"gate_after_s": 45}' if outcome == "told" else None
        given = {"told": "errored"}.get(outcome, outcome)
        delay = 60.0 if given in ("errored", "snoozed") else None
        accepted = self.run(jobs.finish(self.db, [AttemptOutcome(token, given, error=told, delay_s=delay)]))
        job_id = self.running.pop(token, None)
        assert (token in accepted) == (job_id is not None)
        if job_id is None:
            return
        job = self.jobs[job_id]
        if job.gate and told:
            self.gates[job.gate].held_until = self.now + HOLD
        elif job.gate and given in ("succeeded", "failed", "errored"):
            self.gates[job.gate].hear(self.now, job.phases[job.gate], failed=given == "errored")
        if given in ("succeeded", "failed"):
            self._leave(job_id, State(given))
        else:
            self._wait(job_id, delay or 0)

    @invariant()
    def states_agree(self) -> None:
        seen = {
            UUID(row["job_id"]): row["state"]
            for row in self.look("select job_id, leasehold.state_of(job_id) as state from leasehold.job")
        }
        assert {job_id: "queued" if state == "blocked" else state for job_id, state in seen.items()} == {
            job_id: str(job.state) for job_id, job in self.jobs.items()
        }
        # A place that was taken is seen here, by whom is seen at its start.
        for row in self.look("select job_id from leasehold.place"):
            job = self.jobs[UUID(row["job_id"])]
            if not job.placed:
                self._see_place(UUID(row["job_id"]))

    def teardown(self) -> None:
        """Everything comes to an end, and nothing is left behind."""
        for _ in range(3 + 2 * len(self.jobs)):
            for token in list(self.running):
                self._finish(token, "succeeded")
            if all(job.state.is_outcome for job in self.jobs.values()):
                break
            self.pass_time(200)
            self._claim_all()
        assert [job for job in self.jobs.values() if not job.state.is_outcome] == []
        tables = ("ready where attempt >= 0", "gated", "blocked", "place")
        assert self.look(" union all ".join(f"select job_id from leasehold.{table}" for table in tables)) == []


@contextmanager
def machine(cluster: Cluster) -> Iterator[type[Lives]]:
    with on_a_database(cluster, Lives) as lives:
        lives.worker = lives.loop.run_until_complete(register(lives.db, slots=100, lease_s=1e6))
        rules = Rules(lives.db, lives.cell.tenant_a)
        for gate, rule_ in RULES.items():
            lives.loop.run_until_complete(rules.set(gate, **rule_))
        yield lives


@pytest.mark.long
def test_random_lives_at_gates_agree_with_the_model(cluster: Cluster) -> None:
    with machine(cluster) as lives:
        play(lives, 12)


MUTANTS = {
    "a start that takes no slot": (
        "functions/take_slot.sql",
        [("+ p_n * p_terms.every", "+ 0 * p_terms.every")],
    ),
    "a burst that is one too large": (
        "functions/take_slot.sql",
        [("(p_terms.burst - 1) * p_terms.every", "p_terms.burst * p_terms.every")],
    ),
    "a bell that is answered once": (
        "functions/open_gates.sql",
        [("where exists (", "where false and exists (")],
    ),
    "a line that begins at its end": (
        "functions/open_gates.sql",
        [("order by job_id limit v_n", "order by job_id desc limit v_n")],
    ),
    "an end that says nothing": (
        "functions/finish.sql",
        [("perform leasehold.after_finish(", "-- ")],
    ),
    "a plain end that says nothing": (
        "functions/end_succeeded_attempts.sql",
        [("filter (where bound), array_agg", "filter (where false), array_agg")],
    ),
    "a breaker that never closes again": (
        "functions/tell_gates.sql",
        [("w.outcome in ('succeeded', 'failed') and (", "false and (")],
    ),
    "an answer that nobody hears": (
        "functions/tell_gates.sql",
        [("perform leasehold.hurry_gates", "-- perform leasehold.hurry_gates")],
    ),
    "a reset that tells nobody": (
        "functions/calm_gate.sql",
        [("perform leasehold.hurry_gates", "-- perform leasehold.hurry_gates")],
    ),
    "a cancel that does not find who waits at a gate": (
        "functions/remove_waiting_job.sql",
        [("from leasehold.gated where job_id = p_job", "from leasehold.gated where job_id = p_job and false")],
    ),
    "a retry that forgets its gate": (
        "functions/retry.sql",
        [("v_job.group_key is not null or v_job.gate is not null", "v_job.group_key is not null")],
    ),
    "a gap that is forgotten": (
        "functions/gates_of.sql",
        [("where p_job.group_gap_s is not null", "where false")],
    ),
    "a newcomer that overtakes the line": (
        "functions/last_gate_to_open.sql",
        [("if v_opens <= p_at and (", "if false and (")],
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_a_planted_mutant(cluster: Cluster, mutant: str) -> None:
    with machine(cluster) as lives:
        finds(lives, *MUTANTS[mutant])
