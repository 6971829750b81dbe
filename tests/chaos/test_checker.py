"""The checker's own tests: a good story passes, and each way to break it is found by the invariant that is meant."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.chaos.invariants import INVARIANTS, check
from tests.chaos.oplog import Op, ops_of
from tests.chaos.restore import Dump, as_of
from tests.chaos.story import Row, Story

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
TENANT, OTHER, W1, W2, THIRD = (str(UUID(int=n)) for n in range(1, 6))
PLAIN, PACK, CHILD, SECOND, STEP, NEXT, FLOW, KEYED, ASKED, PROBED = (str(UUID(int=n)) for n in range(11, 21))


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()


def job(job_id: str, kind: str, **more: Any) -> Row:
    return {
        "job_id": job_id, "tenant_id": TENANT, "kind": kind, "key": None, "max_attempts": 3, "run_at": at(0),
        "created_at": at(0), "retry_base_s": 1.0, "retry_cap_s": 10.0, "timeout_s": 60.0, "payload": {}, "gate": None,
        "group_key": None, "group_limit": None, "unique_key": None,
    } | more  # fmt: skip


def attempt(job_id: str, n: int, outcome: str, seqs: tuple[int, int], seconds: tuple[float, float], **more: Any) -> Row:
    return {
        "job_id": job_id, "tenant_id": TENANT, "token": n << 22, "attempt": n, "worker_id": W1, "error": None,
        "started_seq": seqs[0], "finished_seq": seqs[1], "started_at": at(seconds[0]), "finished_at": at(seconds[1]),
        "outcome": outcome,
    } | more  # fmt: skip


def outcome(job_id: str, seq: int, seconds: float, n: int = 1, worker: str = "w1.1", **more: Any) -> Row:
    return {
        "job_id": job_id, "tenant_id": TENANT, "state": "succeeded", "seq": seq, "finished_at": at(seconds),
        "result": {"attempt": n, "worker": worker},
    } | more  # fmt: skip


def op(what: str, began: float = 0.0, ended: float = 0.5, **fields: Any) -> Op:
    moment = (NOON + timedelta(seconds=ended)).timestamp()
    return Op(what=what, began=began, ended=ended, ended_at=moment, status="ok", **fields)


def probe(n: int, seconds: float = 0.05, **fields: Any) -> Op:
    """One of the bystander's enqueues, the first at 100 s."""
    due = 100 + n / 10
    args = {"kind": "c.probe", "due": due}
    return op("enqueue", due, due + seconds, tenant="c", args=args, result={"jobs": [PROBED]}, **fields)


def machine(share: float, at: float = 100.0) -> Op:
    return op("machine", at - 0.01, at, tenant="c", result={"share": share})


def fault(kind: str, began: float, ended: float) -> Op:
    return op("fault", began, ended, args={"kind": kind})


ONE = (2, 3)
GROUP = {"group_key": "g", "group_limit": 1}
GOOD = Story(
    tenants={"a": TENANT, "b": OTHER, "c": THIRD},
    tables={
        "job": [
            job(PLAIN, "c.plain", **GROUP), job(SECOND, "c.plain", gate="host:one", **GROUP), job(PACK, "c.pack"),
            job(CHILD, "c.child", payload={"parent": PACK}), job(STEP, "c.leaf"), job(NEXT, "c.sum"),
            job(KEYED, "c.plain", key="k", unique_key="u"), job(ASKED, "c.asked"),
            job(PROBED, "c.probe", tenant_id=THIRD),
        ],
        "attempt": [
            attempt(PLAIN, 1, "errored", (2, 4), (1, 2), error={"message": "attempt 1 of w1.1"}),
            attempt(PLAIN, 2, "lost", (5, 6), (4, 10), worker_id=W2),
            attempt(PLAIN, 3, "succeeded", (7, 8), (11, 12)),
            attempt(SECOND, 1, "succeeded", ONE, (13, 14)), attempt(PACK, 1, "succeeded", ONE, (1, 2)),
            attempt(CHILD, 1, "succeeded", ONE, (3, 4)), attempt(STEP, 1, "succeeded", ONE, (1, 2)),
            attempt(NEXT, 1, "succeeded", ONE, (3, 4)), attempt(KEYED, 1, "succeeded", ONE, (1, 2)),
            attempt(ASKED, 1, "succeeded", ONE, (1, 2)),
            attempt(PROBED, 1, "succeeded", ONE, (1, 2), tenant_id=THIRD),
        ],
        "event": [
            {"job_id": PLAIN, "tenant_id": TENANT, "seq": 3, "type": "progress", "message": "attempt 1 of w1.1"},
        ],
        "outcome": [
            outcome(PLAIN, 8, 12, n=3), outcome(SECOND, 3, 14), outcome(PACK, 3, 2), outcome(CHILD, 3, 4),
            outcome(STEP, 3, 2), outcome(NEXT, 3, 4), outcome(KEYED, 3, 2), outcome(ASKED, 3, 2),
            outcome(PROBED, 3, 2, tenant_id=THIRD),
        ],
        "worker": [
            {"worker_id": W1, "name": "w1.1", "beat_at": at(19), "ended_at": at(20), "lease_s": 3.0},
            {"worker_id": W2, "name": "w2.1", "beat_at": at(6), "ended_at": at(10), "lease_s": 3.0},
        ],
        "effect": [{"job_id": PACK, "attempt": 1, "worker": "w1.1"}, {"job_id": NEXT, "attempt": 1, "worker": "w1.1"}],
        "asked": [{"job_id": ASKED}],
        "flow": [{"flow_id": FLOW, "state": "succeeded"}],
        "edge": [{"flow_id": FLOW, "child": NEXT, "parent": STEP}],
        "lease": [], "ready": [], "audit": [],
    },
    ops=[
        op("enqueue", args={"kind": "c.plain", "group": "g"}, result={"jobs": [PLAIN]}),
        op("enqueue", began=1.0, ended=1.5, args={"kind": "c.plain", "group": "g"}, result={"jobs": [SECOND]}),
        op("enqueue", args={"keys": ["k"], "values": [{"value": 1}]}, result={"jobs": [KEYED]}),
        op("start flow", result={"flow": FLOW}),
        op("enqueue in transaction", args={"rolled_back": False}, result={"jobs": [ASKED]}),
        op("get", args={"job": PACK}, result={"said": "succeeded"}),
        op("cancel", began=1.2, ended=1.3, args={"job": KEYED}, result={"said": "requested"}),
        op("follow", args={"job": PLAIN, "after": 2}, result={"seen": [3, 4]}),
        op("peek", tenant="b", args={"job": PLAIN, "act": "attempts"}, result={"said": "[]"}),
        op("list", result={"jobs": [PLAIN]}),
        op("haunt", args={"tokens": [2 << 22]}, result={"accepted": []}),
        op("stop worker", args={"worker": "w1.1"}, result={"worker": "w1.1", "code": 0}),
        *[probe(n) for n in range(300)], fault("hold locks", 100, 112), machine(0.9),
        op("read back", 100, 100.1, tenant="c", args={"job": PROBED}, result={"seen": True}),
    ],
    sink=[(PLAIN, 1, "w1.1"), (PLAIN, 3, "w1.1"), (SECOND, 1, "w1.1"), (KEYED, 1, "w1.1")],
    told={"jobs queue=default state=queued": 0.0, "orphan_leases": 0.0, "workers": 0.0},
    counted={"w1.1": {"succeeded": 9, "errored": 1}},
)  # fmt: skip

Breaks = Callable[[dict[str, Any]], Any]


def test_a_good_story_breaks_nothing() -> None:
    assert check(GOOD) == {}


def put(table: str, place: int, **values: Any) -> Breaks:
    return lambda story: story["tables"][table][place].update(values)


def add(table: str, *rows: Row) -> Breaks:
    return lambda story: story["tables"].setdefault(table, []).extend(rows)


def drop(table: str, place: int = 0) -> Breaks:
    return lambda story: story["tables"][table].pop(place)


def say(*ops: Op, **fields: Any) -> Breaks:
    """Another operation, or other fields of the story."""
    return lambda story: story.update(fields | {"ops": [*story["ops"], *ops]})


def told(what: str, job_id: str, said: str, **fields: Any) -> Breaks:
    """Another answer about a job."""
    return say(op(what, args={"job": job_id, "act": "get"}, result={"said": said}, **fields))


def both(*breaks: Breaks) -> Breaks:
    return lambda story: [one(story) for one in breaks]


NEW = str(UUID(int=99))
BROKEN: list[tuple[str, str, Breaks]] = [
    ("I1", "an acknowledged job that is not there", say(op("enqueue", args={}, result={"jobs": [NEW]}))),
    ("I1", "a job without an outcome", drop("outcome", 3)),
    ("I1", "two outcomes", add("outcome", outcome(CHILD, 4, 5))),
    ("I1", "a job that still waits", add("ready", {"job_id": CHILD, "attempt": 0})),
    ("I1", "a job that still runs", add("lease", {"job_id": CHILD, "worker_id": W2})),
    ("I1", "a flow that does not end", put("flow", 0, state="running")),
    ("I1", "a caller's row without its job", add("asked", {"job_id": NEW})),
    ("I1", "a job whose caller was rolled back", drop("asked")),
    ("I2", "a success that turns into a failure", put("outcome", 2, state="failed")),
    ("I2", "a terminal state that was seen and is another", told("get", PACK, "dead")),
    ("I3", "two attempts at one time", put("attempt", 2, started_at=at(5))),
    ("I3", "a token that does not grow", put("attempt", 2, token=1)),
    ("I3", "a lease that is taken from a worker that beats", put("worker", 1, beat_at=at(9.9))),
    ("I4", "a result of another attempt", put("outcome", 0, result={"attempt": 2, "worker": "w2.1"})),
    ("I4", "an error of another worker", put("attempt", 0, error={"message": "attempt 1 of w2.1"})),
    ("I4", "a word of another attempt", put("event", 0, message="attempt 2 of w2.1")),
    ("I4", "a row of an attempt that was lost", put("effect", 0, worker="w2.1")),
    ("I4", "a token of a dead worker that is accepted", say(op("haunt", result={"accepted": [1]}))),
    ("I4", "a word outside every attempt", put("event", 0, seq=9)),
    ("I5", "a gap in the attempts", put("attempt", 1, attempt=3)),
    ("I5", "more attempts than allowed", put("job", 0, max_attempts=2)),
    ("I6", "a row twice", add("effect", {"job_id": PACK, "attempt": 1, "worker": "w1.1"})),
    ("I6", "a row that is missing", drop("effect")),
    ("I6", "two children", add("job", job(NEW, "c.child", payload={"parent": PACK}))),
    ("I6", "more effects than attempts", say(sink=[*GOOD.sink, (SECOND, 1, "w1.1")])),
    ("I7", "one key, two jobs", add("job", job(NEW, "c.plain", key="k"))),
    (
        "I7",
        "one key, two payloads",
        say(op("enqueue", args={"keys": ["k"], "values": [{"value": 2}]}, result={"jobs": [KEYED]})),
    ),
    ("I7", "a tick that fired twice", add("job", *[job(n, "c.tick", payload={"tick": "t"}) for n in (NEW, CHILD)])),
    ("I7", "two that wait under a unique key", add("job", job(NEW, "c.unique", unique_key="u"))),
    ("I8", "a start before its time", put("job", 2, run_at=at(5))),
    ("I8", "a retry before its back-off", put("job", 0, retry_base_s=9.0)),
    ("I9", "two of a group at once", put("attempt", 3, started_at=at(11.5))),
    ("I9", "a start before the gate lets it", both(
        put("job", 0, gate="host:one"), put("attempt", 3, started_at=at(11.01), finished_at=at(11.02)))),
    ("I10", "one of a group that overtakes", put("attempt", 3, started_at=at(0.5), finished_at=at(0.6))),
    ("I10", "one that overtakes although it could not be moved", both(
        put("attempt", 3, started_at=at(0.5), finished_at=at(0.6)),
        say(replace(op("reschedule", args={"job": SECOND}), status="fail")))),
    ("I10", "a step that does not wait", put("attempt", 7, started_at=at(1.5))),
    ("I11", "a start after an acknowledged cancel", told("cancel", PACK, "requested")),
    ("I11", "a canceled job that succeeded", told("cancel", PACK, "canceled")),
    ("I12", "a gap in the events", drop("event")),
    ("I12", "a reader who misses one", say(op("follow", args={"job": PLAIN, "after": 2}, result={"seen": [4]}))),
    ("I13", "an attempt of another tenant", put("attempt", 3, tenant_id=OTHER)),
    ("I13", "a tenant who sees another's job", told("peek", PLAIN, "queued", tenant="b")),
    ("I13", "a list with another's job", say(op("list", tenant="b", result={"jobs": [PLAIN]}))),
    ("I14", "a secret in a table", say(leaks=["leasehold.event"])),
    ("I15", "a stopped worker that is not ended", put("worker", 0, ended_at=None)),
    ("I15", "a stopped worker with a lease", add("lease", {"job_id": PLAIN, "worker_id": W1})),
    ("I15", "a worker that does not stop", say(op("stop worker", result={"worker": "w2.1", "code": -9}))),
    ("I16", "a queue that is said to have jobs", say(told=dict(GOOD.told) | {"jobs queue=default state=queued": 1.0})),
    ("I16", "a worker that counted another number", say(counted={"w1.1": {"succeeded": 7, "errored": 1}})),
    ("I17", "enqueues that wait for another tenant", say(*[probe(n, 1.5) for n in range(4)])),
    ("I17", "enqueues that wait during one kind of fault alone", say(*[probe(n, 1.2) for n in range(2)])),
    ("I17", "enqueues that were never answered", say(*[replace(probe(n), status="unknown") for n in range(4)])),
    ("I18", "a list that lacks what was acknowledged", say(
        op("read back", 101, 101.1, tenant="c", args={"job": PROBED}, result={"seen": False}))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "breaks"), [pytest.param(n, b, id=f"{n} {what}") for n, what, b in BROKEN])
def test_a_broken_story_is_found_by_its_invariant(name: str, breaks: Breaks) -> None:
    story = {field: deepcopy(getattr(GOOD, field)) for field in Story.__dataclass_fields__}
    breaks(story)
    assert name in check(Story(**story))


@pytest.mark.parametrize(
    "excuse",
    [fault("restart postgres", 100, 101), fault("kill server", 100, 101), machine(0.0)],
    ids=["no database", "no server", "no room on the machine"],
)
def test_a_slow_enqueue_is_excused_where_it_tells_nothing_of_the_server(excuse: Op) -> None:
    slow = [probe(n, 1.5) for n in range(4)]
    ops = [op for op in GOOD.ops if op.what != "machine" and "due" not in op.args]
    assert "I17" in check(replace(GOOD, ops=[*GOOD.ops, *slow]))
    assert check(replace(GOOD, ops=[*ops, *(probe(n) for n in range(20, 300)), *slow, excuse])) == {}


def test_a_few_enqueues_are_no_measurement() -> None:
    ops = [op for op in GOOD.ops if "due" not in op.args]
    assert check(replace(GOOD, ops=[*ops, *(probe(n, 5.0) for n in range(50))])) == {}


def test_every_invariant_has_a_story_that_breaks_it() -> None:
    assert {name for name, _, _ in BROKEN} == {rule.__name__.upper() for rule in INVARIANTS}


def test_the_documentation_says_the_same_sentences() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "chaos.md").read_text()
    for rule in INVARIANTS:
        sentence = (rule.__doc__ or "").rstrip(".")
        assert f"| {rule.__name__.upper()} | {sentence[0].lower()}{sentence[1:]} |" in page


def test_an_operation_without_an_answer_is_unknown_and_breaks_nothing() -> None:
    [lost] = ops_of([{"op": "1", "phase": "invoke", "mono": 0, "at": 0, "what": "enqueue", "tenant": "a", "args": {}}])
    assert lost.status == "unknown"
    assert check(replace(GOOD, ops=[*GOOD.ops, lost])) == {}


def test_an_effect_after_the_dump_is_not_the_copys_though_its_attempt_has_the_same_number() -> None:
    """An attempt that was given back is not counted: the next one may have its number, and its worker's name."""
    lost = attempt(PLAIN, 1, "lost", (2, 3), (1, 2))
    done = attempt(PLAIN, 2, "succeeded", (4, 5), (3, 4), worker_id=W2)
    workers = [{"worker_id": W1, "name": "w1.1"}, {"worker_id": W2, "name": "copy.1"}]
    copy = Story(tables={"attempt": [lost, done], "worker": workers}, sink=[(PLAIN, 2, "copy.1")])
    original = Story(tables={}, sink=[(PLAIN, 1, "w1.1"), (PLAIN, 1, "w1.1"), (PLAIN, 2, "w1.1")])
    found = as_of(Dump(path=Path(), began=0.0), copy, original)
    assert found.sink == [(PLAIN, 1, "w1.1"), (PLAIN, 2, "copy.1")]


def test_one_that_was_moved_starts_late_in_the_copy_too_whatever_its_client_was_told() -> None:
    """The answer was lost, or came after the dump began: only the history says it."""
    story = {field: deepcopy(getattr(GOOD, field)) for field in Story.__dataclass_fields__}
    put("attempt", 3, started_at=at(0.5), finished_at=at(0.6))(story)
    copy = Story(**story)
    for status in ("unknown", "ok"):
        asked = replace(op("reschedule", 1.0, 99.0, args={"job": PLAIN}), status=status)
        of = replace(GOOD, ops=[*GOOD.ops, asked])
        dump = Dump(path=Path(), began=50.0)
        assert "I10" in check(as_of(dump, copy, of)), "nothing was moved"
        moved = {"job_id": PLAIN, "tenant_id": TENANT, "seq": 2, "type": "rescheduled", "message": None}
        tables = {**copy.tables, "event": [*copy.tables["event"], moved]}
        assert "I10" not in check(as_of(dump, replace(copy, tables=tables), of))


def test_a_fault_that_lasts_longer_than_the_dump_excuses_those_who_met_it() -> None:
    slow = [probe(n, 1.5) for n in range(4)]
    ops = [one for one in GOOD.ops if "due" not in one.args]
    of = replace(GOOD, ops=[*ops, *(probe(n) for n in range(20, 300)), *slow, fault("kill server", 100, 500)])
    assert "I17" not in check(as_of(Dump(path=Path(), began=400.0), GOOD, of))
