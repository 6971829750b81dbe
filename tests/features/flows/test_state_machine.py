"""Flows against a model in plain Python: what may start, what ends without a start, and how the flow ends.

The same machine is run against planted mutants of the functions; it must find each of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from leasehold.engine import jobs
from leasehold.features.flows import store as flows
from leasehold.features.flows.model import (
    APPROVAL,
    JOIN,
    Flow,
    Node,
    Policy,
    Step,
    group,
    plain_prepare,
    step,
)
from leasehold.features.flows.store import Flows
from leasehold.job import AttemptOutcome, State
from tests.cell import Cluster
from tests.engine.test_life import register
from tests.stateful import Machine, finds, on_a_database, play

HOT = (
    "ready, lease, deferred, parked, job, attempt_row, outcome, event, flow, step, edge, dep, waiting, unwanted, stop,"
    " news"
)
OUTCOMES = ("succeeded", "succeeded", "succeeded", "failed", "errored", "lost")
WHATS = ("job", "job", "job", "join", "approval")
POLICIES: tuple[Policy, ...] = ("fail", "fail", "skip", "continue")
#: For each step: what it is, which of the steps before it wait for (by bits), and its policy.
SHAPES = st.lists(
    st.tuples(st.sampled_from(WHATS), st.integers(0, 63), st.sampled_from(POLICIES)), min_size=1, max_size=6
)
LIVE = ("waits", "asked", "queued", "running")


@dataclass(slots=True, eq=False)
class Model:
    """What a step should be like: waits (for parents), asked (a person), queued, running, or how it ended."""

    flow: "ModelFlow"
    job_id: UUID
    what: str
    state: str = "waits"
    why: str = ""  # of one that was canceled: Canceled, Skipped, Stopped
    children: "dict[Model, Policy]" = field(default_factory=dict)
    missing: "set[Model]" = field(default_factory=set)
    unwanted: str | None = None
    asked_to_end: bool = False


@dataclass(slots=True, eq=False)
class ModelFlow:
    flow_id: UUID
    steps: list[Model] = field(default_factory=list)
    stop: str | None = None

    @property
    def state(self) -> str:
        live = any(one.state in LIVE for one in self.steps)
        return "running" if live else self.stop or "succeeded"

    def leave(self, ended: Iterable[Model]) -> None:
        """These have ended: tell their children, and theirs."""
        while ended := list(ended):
            for one in ended:
                for child, policy in one.children.items():
                    self._pass_on(one, child, policy)
                if one.state in ("failed", "dead", "canceled") and not one.children:
                    self._pass_on(one, None, "fail")
            told = {child for one in ended for child in one.children if one in child.missing}
            for child in told:
                child.missing -= set(ended)
            ended = [one for one in told if not one.missing and self._release(one)]

    def _pass_on(self, one: Model, child: Model | None, policy: Policy) -> None:
        if one.state == "succeeded" or (child and one not in child.missing):
            return
        if child and (policy == "skip" or (policy == "fail" and one.why == "Skipped")):
            child.unwanted = child.unwanted or "Skipped"
        if policy == "fail" and one.why not in ("Skipped", "Stopped"):
            self.stop = self.stop or "failed"

    def _release(self, one: Model) -> bool:
        """Whether it has ended by it."""
        if one.state != "waits":
            return False
        if one.unwanted or self.stop:
            one.state, one.why, one.unwanted = "canceled", one.unwanted or "Stopped", None
            return True
        one.state = {"job": "queued", "join": "succeeded", "approval": "asked"}[one.what]
        return one.state == "succeeded"

    def start(self, some: Iterable[Model]) -> None:
        self.leave([one for one in some if not one.missing and self._release(one)])

    def stop_if_wanted(self) -> None:
        while self.stop and (idle := [one for one in self.steps if one.state in ("queued", "asked")]):
            for one in idle:
                one.state, one.why = "canceled", "Stopped"
            self.leave(idle)
        for one in self.steps:
            one.asked_to_end = one.asked_to_end or (one.state == "running" and self.stop is not None)


class Lives(Machine):
    """Each rule ends with a look at all flows, as workers look at every poll; then database and model agree."""

    worker: ClassVar[UUID]

    def __init__(self) -> None:
        super().__init__()
        self.flows: list[ModelFlow] = []
        self.running: dict[int, Model] = {}
        self.mine = Flows(self.db, self.cell.tenant_a, lambda: None)

    @initialize(shape=SHAPES)
    def first(self, shape: list[tuple[str, int, Policy]]) -> None:
        self.change("truncate " + ", ".join(f"leasehold.{name}" for name in HOT.split(", ")) + ", leasehold.unsettled")
        self.start(shape)

    # -- what happens -----------------------------------------------------------------------------------------------

    @rule(shape=SHAPES)
    def start(self, shape: list[tuple[str, int, Policy]]) -> None:
        flow, nodes = Flow("model"), list[Node]()
        for what, bits, policy in shape:
            parents = [node for place, node in enumerate(nodes) if bits >> place & 1]
            nodes += flow.include(_step(what, policy), after=parents)
        model = ModelFlow(self.run(self.mine.start(flow)))
        jobs_of = {one.name: one.job_id for one in self.run(self.mine.steps(model.flow_id))}
        made: dict[Node, Model] = {}
        for (what, _, policy), node in zip(shape, nodes, strict=True):
            made[node] = Model(model, jobs_of[node.step.name], what)
            model.steps.append(made[node])
            for parent in node.after:
                assert isinstance(parent, Node)
                made[parent].children[made[node]] = policy
                made[node].missing.add(made[parent])
        model.start(list(model.steps))
        self.flows.append(model)
        self._look()

    @rule()
    def claim(self) -> None:
        by_id = {one.job_id: one for one in self._steps()}
        queued = {one.job_id for one in self._steps() if one.state == "queued"}
        grants = self.run(jobs.claim(self.db, self.worker, ["default"], 100))
        assert sorted(grant.job_id for grant in grants) == sorted(queued), "all that may start, each once"
        for grant in grants:
            by_id[grant.job_id].state = "running"
            self.running[grant.token] = by_id[grant.job_id]

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 100), outcome=st.sampled_from(OUTCOMES))
    def finish(self, which: int, outcome: str) -> None:
        token = self._token(which)
        assert self.run(jobs.finish(self.db, [AttemptOutcome(token=token, outcome=outcome)])) == {token}
        self._ended(token, outcome)
        self._look()

    @precondition(lambda self: len(self.running) > 1)
    @rule(which=st.integers(0, 100), outcomes=st.tuples(*[st.sampled_from(OUTCOMES)] * 2), rolls_back=st.booleans())
    def finish_two_at_once(self, which: int, outcomes: tuple[str, str], rolls_back: bool) -> None:
        first, second = self._token(which), self._token(which + 1)
        self.run(self._at_once([(first, outcomes[0]), (second, outcomes[1])], rolls_back))
        self._ended(first, outcomes[0])
        if not rolls_back:
            self._ended(second, outcomes[1])
        self._look()

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 100), whats=st.lists(st.sampled_from(WHATS), min_size=1, max_size=3))
    def finish_and_add(self, which: int, whats: list[str]) -> None:
        token = self._token(which)
        parent = self.running[token]
        known = {one.job_id for one in parent.flow.steps}
        self.run(self._add(token, whats))
        fresh = [one for one in self.run(self.mine.steps(parent.flow.flow_id)) if one.job_id not in known]
        assert len(fresh) == len(whats)
        added = [Model(parent.flow, one.job_id, one.what) for one in fresh]
        parent.flow.steps += added
        for child, policy in parent.children.items():
            if parent in child.missing:
                for one in added:
                    one.children[child] = policy
                    child.missing.add(one)
        parent.flow.start(added)
        self._ended(token, "succeeded")
        self._look()

    @rule(approved=st.booleans(), which=st.integers(0, 100))
    def decide(self, approved: bool, which: int) -> None:
        asked = [one for one in self._steps() if one.state == "asked"]
        assert {one.job_id for one in self.run(self.mine.approvals())} == {one.job_id for one in asked}
        if asked:
            one = asked[which % len(asked)]
            self.run((self.mine.approve if approved else self.mine.reject)(one.job_id))
            one.state = "succeeded" if approved else "failed"
            one.flow.leave([one])
            self._look()

    @rule(which=st.integers(0, 100))
    def cancel_step(self, which: int) -> None:
        idle = [one for one in self._steps() if one.state in ("waits", "asked", "queued")]
        if not idle:
            return
        one = idle[which % len(idle)]
        self.run(jobs.cancel(self.db, self.cell.tenant_a, one.job_id))
        if one.state == "waits":
            one.unwanted = "Canceled"
        else:
            one.state, one.why = "canceled", "Canceled"
            one.flow.leave([one])
        self._look()

    @rule(which=st.integers(0, 100))
    def cancel_flow(self, which: int) -> None:
        flow = self.flows[which % len(self.flows)]
        if flow.state == "running" and which % 3 == 0:  # now and then: it ends everything
            flow.stop = flow.stop or "canceled"
            self.run(self.mine.cancel(flow.flow_id))
            self._look()

    @rule()
    def retry_flow(self) -> None:
        for flow in self.flows:
            if flow.state in ("failed", "canceled"):
                self._retry(flow)
                self._look()
                return

    # -- the model --------------------------------------------------------------------------------------------------

    def _steps(self) -> list[Model]:
        return [one for flow in self.flows for one in flow.steps]

    def _token(self, which: int) -> int:
        return sorted(self.running)[which % len(self.running)]

    def _look(self) -> None:
        self.run(flows.tend_flows(self.db))
        for flow in self.flows:
            flow.stop_if_wanted()

    def _ended(self, token: int, outcome: str) -> None:
        one = self.running.pop(token)
        given_up = "canceled" if one.asked_to_end else "dead"  # every step has one attempt
        one.state = outcome if outcome in ("succeeded", "failed") else given_up
        one.flow.leave([one])

    async def _at_once(self, ended: list[tuple[int, str]], rolls_back: bool) -> None:
        """Two transactions, each of which cannot see what the other has done."""
        (first, how), (second, how_too) = ended
        try:
            async with self.db.transaction() as connection:
                await jobs.finish(self.db, [AttemptOutcome(token=second, outcome=how_too)], connection=connection)
                await jobs.finish(self.db, [AttemptOutcome(token=first, outcome=how)])
                if rolls_back:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    async def _add(self, token: int, whats: list[str]) -> None:
        async with self.db.transaction() as connection:
            added = group(_step(what, "fail") for what in whats)
            await flows.add_steps(self.db, token, added, plain_prepare, connection=connection)
            await jobs.finish(self.db, [AttemptOutcome(token=token, outcome="succeeded")], connection=connection)

    def _retry(self, flow: ModelFlow) -> None:
        again = [one for one in flow.steps if one.state != "succeeded"]
        assert self.run(self.mine.retry(flow.flow_id)) == len(again)
        flow.stop = None
        for one in again:
            one.state, one.why, one.asked_to_end = "waits", "", False
        for one in again:
            one.missing = {parent for parent in again if one in parent.children}
        flow.start(again)

    @invariant()
    def states_agree(self) -> None:
        seen = {
            UUID(row["job_id"]): (row["state"], row["type"])
            for row in self.look(
                "select s.job_id, leasehold.state_of(s.job_id) as state, coalesce(o.error ->> 'type', '') as type"
                " from leasehold.step s left join leasehold.outcome o on o.job_id = s.job_id"
            )
        }
        blocked = dict.fromkeys(("waits", "asked"), str(State.BLOCKED))
        expected = {one.job_id: blocked.get(one.state, one.state) for one in self._steps()}
        assert {job_id: state for job_id, (state, _) in seen.items()} == expected
        assert {one.job_id: seen[one.job_id][1] for one in self._steps() if one.why} == {
            one.job_id: one.why for one in self._steps() if one.why
        }
        states = {UUID(row["flow_id"]): row["state"] for row in self.look("select flow_id, state from leasehold.flow")}
        assert states == {flow.flow_id: flow.state for flow in self.flows}

    def teardown(self) -> None:
        """Everything comes to an end, nothing is left behind, and events have no gaps."""
        for _ in range(2 + len(self._steps())):
            self.claim()
            for token in list(self.running):
                self.run(jobs.finish(self.db, [AttemptOutcome(token=token, outcome="succeeded")]))
                self._ended(token, "succeeded")
            self._look()
            for _ in range(sum(one.state == "asked" for one in self._steps())):
                self.decide(True, 0)
        assert [flow for flow in self.flows if flow.state == "running"] == []
        self.states_agree()
        for table in ("dep", "waiting", "unwanted", "unsettled", "stop", "news", "ready", "deferred"):
            assert self.look(f"select * from leasehold.{table}") == [], table
        for flow in self.flows:
            events = self.run(self.mine.events(flow.flow_id))
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert (events[0].type, events[-1].type) == ("started", flow.state)
            assert events[-1].data == {"ended": len(flow.steps), "steps": len(flow.steps)}


def _step(what: str, policy: Policy) -> Step:
    if what == "job":
        return step("t.work", on_failure=policy, attempts=1)
    return Step(kind=JOIN if what == "join" else APPROVAL, on_failure=policy)


@contextmanager
def machine(cluster: Cluster) -> Iterator[type[Lives]]:
    with on_a_database(cluster, Lives) as lives:
        lives.worker = lives.loop.run_until_complete(register(lives.db, slots=1000, lease_s=1e6))
        yield lives


@pytest.mark.long
def test_random_lives_in_flows_agree_with_the_model(cluster: Cluster) -> None:
    with machine(cluster) as lives:
        play(lives, 40)


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a release that leaves its row behind, for the next to release again": (
        "functions/settle_steps.sql",
        [("delete from leasehold.waiting w where", "select w.* from leasehold.waiting w where"),
         (")) returning w.*", "))")],
    ),
    "a barrier that does not wait for ends under way": (
        "functions/settle_steps.sql",
        [("where d.child = c order by d.child desc, d.parent desc limit 1) is null\n  );",
          "where d.child = c and d.xmax = '0'::xid order by d.child desc, d.parent desc limit 1) is null\n  );")],
    ),
    "two that end at once, and nobody looks again": (
        "functions/settle_steps.sql",
        [("insert into leasehold.unsettled (child)\n  select c from unnest(p_children) c\n  where",
          "insert into leasehold.unsettled (child)\n  select c from unnest(p_children) c\n  where false and")],
    ),
    "an end that does not tell its flow": (
        "functions/finish.sql",
        [("after_finish(coalesce(v_ended.leave, '{}'), ", "after_finish('{}', ")],
    ),
    "a plain end that does not tell its flow": (
        "functions/end_succeeded_attempts.sql",
        [("(where bound)\n  into accepted", "(where false)\n  into accepted")],
    ),
    "a flow that stops and goes on": (
        "functions/release_steps.sql",
        [("where p.flow_id = s.flow_id order by p.n", "where false order by p.n")],
    ),
    "a flow that stops only what waits": (
        "functions/stop_flow.sql",
        [("t where t.job_id is not null", "t where false")],
    ),
    "a skipped step whose child runs": (
        "functions/pass_on_failures.sql",
        [("or on_failure = 'fail' and type = 'Skipped'", "")],
    ),
    "added steps that nobody waits for": (
        "functions/add_steps.sql",
        [("leasehold.read_steps(p_steps), v_before", "leasehold.read_steps(p_steps), v_before[1:0]")],
    ),
    "a retry that waits for nobody": (
        "functions/retry_flow.sql",
        [("and child in (select unnest(v_jobs || p_flow))\n  union", "and child = p_flow\n  union")],
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_a_planted_mutant(cluster: Cluster, mutant: str) -> None:
    with machine(cluster) as lives:
        finds(lives, *MUTANTS[mutant])
