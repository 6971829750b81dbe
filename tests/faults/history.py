"""The history checker: reads all tables after a drain and says what could not have happened.

``violations`` is pure: a history and what the test knows go in, sentences come out. What has no line here (limits,
order in a group, secrets, metrics) is checked where it belongs.

    I1   every acknowledged job is there and has exactly one outcome; nothing waits or runs any more
    I2   an outcome is the last thing that happened to its job; only a logged retry comes after a terminal attempt
    I3   attempts of one job follow one another, and their tokens grow
    I4   what a handler said stands inside its attempt
    I5   attempts are numbered from 1 without a gap, and are no more than the job may have
    I6   an effect that is written with its outcome is there once; others no more often than attempts
    I7   one key of one tenant and kind is one job
    I8   nothing starts before its time, and no retry before its back-off
    I11  a job whose cancel was acknowledged ends canceled
    I12  the numbers of a job's events have no gap and no double
    I13  every row of a job belongs to the tenant that asked for it
    I15  a worker that was stopped holds no lease and is marked as ended
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from tests.cell import Cell

Row = dict[str, Any]

#: A claim reads the clock before it looks for rows, so it may stamp a start just before the end it
#: follows.
SLACK = timedelta(seconds=0.5)
_TABLES = ("job", "attempt", "outcome", "event", "lease", "ready", "deferred", "parked", "blocked", "worker", "audit")
_TERMINAL = ("succeeded", "failed", "canceled")
_UNCOUNTED = ("snoozed", "released")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a test knows that the tables do not tell."""

    acknowledged: Mapping[UUID, UUID]  # job -> the tenant that enqueued it
    maybe: bool = False  # some enqueues had an unknown outcome: jobs that nobody acknowledged may be there
    canceled: Sequence[UUID] = ()  # the cancel was acknowledged with "canceled"
    stopped: Sequence[str] = ()  # names of workers that were stopped in good order
    effects: Sequence[UUID] | None = None  # job ids in a sink outside the database: at least once
    once: Sequence[UUID] | None = None  # job ids written in the transaction of their outcome: exactly once
    own_backoff: bool = True  # errors are retried after the job's own back-off


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All rows, by table."""

    job: Sequence[Row] = ()
    attempt: Sequence[Row] = ()
    outcome: Sequence[Row] = ()
    event: Sequence[Row] = ()
    lease: Sequence[Row] = ()
    ready: Sequence[Row] = ()
    deferred: Sequence[Row] = ()
    parked: Sequence[Row] = ()
    blocked: Sequence[Row] = ()
    worker: Sequence[Row] = ()
    audit: Sequence[Row] = ()


@dataclass(slots=True, kw_only=True)
class Life:
    """The rows of one job, attempts and events in the order of their numbers."""

    job: Row
    attempts: list[Row] = field(default_factory=list)
    outcomes: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    logged_retries: int = 0

    @property
    def retried_at(self) -> list[int]:
        return [event["seq"] for event in self.events if event["type"] == "retried"]


async def check(cell: Cell, expected: Expected) -> History:
    """Read the tables and fail with every sentence that is not true of them."""
    history = await read(cell)
    found = violations(history, expected)
    assert not found, f"{len(found)} violations:\n" + "\n".join(found[:20])
    return history


async def read(cell: Cell) -> History:
    """Attempts in the order they were started; a table gives no order of its own."""
    tables = {table: await cell.look(f"select * from leasehold.{table}") for table in _TABLES}
    tables["attempt"].sort(key=lambda row: row["started_seq"])
    return History(**tables)


def violations(history: History, expected: Expected) -> list[str]:
    lives = lives_of(history)
    found = [*_drained(history, lives, expected), *_keys(history), *_effects(history, lives, expected)]
    found += _stopped(history, expected)
    for job_id, life in lives.items():
        for rule in (last, order, speech, numbers, on_time, gaps, owner):
            found += [f"{job_id}: {sentence}" for sentence in rule(life, expected)]
    return found


def lives_of(history: History) -> dict[str, Life]:
    lives = {row["job_id"]: Life(job=row) for row in history.job}
    for row in sorted(history.attempt, key=lambda row: row["started_seq"]):
        lives[row["job_id"]].attempts.append(row)
    for row in history.outcome:
        lives[row["job_id"]].outcomes.append(row)
    for row in sorted(history.event, key=lambda row: row["seq"]):
        if row["job_id"] in lives:  # those of a flow stand under the flow's id
            lives[row["job_id"]].events.append(row)
    for row in history.audit:
        if row["action"] == "job.retry":
            lives[row["target"]].logged_retries += 1
    return lives


# -- all jobs -------------------------------------------------------------------------------------------------------


def _drained(history: History, lives: Mapping[str, Life], expected: Expected) -> Iterator[str]:
    for wanted in expected.acknowledged:
        if str(wanted) not in lives:
            yield f"I1 {wanted}: was acknowledged and is not there"
    for job_id, life in lives.items():
        if len(life.outcomes) != 1:
            yield f"I1 {job_id}: has {len(life.outcomes)} outcomes"
        if not expected.maybe and UUID(job_id) not in expected.acknowledged:
            yield f"I1 {job_id}: is there, and nobody was told so"
    for table in ("ready", "deferred", "parked", "blocked", "lease"):
        for row in getattr(history, table):
            if row.get("attempt", 0) < 0:  # the bell of a group, which nobody waits for
                continue
            yield f"I1 {row['job_id']}: is still in {table}"
    states = {row["job_id"]: row["state"] for row in history.outcome}
    for canceled in expected.canceled:
        if states.get(str(canceled)) != "canceled":
            yield f"I11 {canceled}: its cancel was acknowledged, and it is {states.get(str(canceled))}"


def _keys(history: History) -> Iterator[str]:
    used = Counter((row["tenant_id"], row["kind"], row["key"]) for row in history.job if row["key"] is not None)
    for (_, kind, key), n in used.items():
        if n > 1:
            yield f"I7 {n} jobs of {kind} have the key {key}"


def _effects(history: History, lives: Mapping[str, Life], expected: Expected) -> Iterator[str]:
    succeeded = {row["job_id"] for row in history.outcome if row["state"] == "succeeded"}
    if expected.once is not None:
        once = Counter(map(str, expected.once))
        for job_id in succeeded | set(once):
            if once[job_id] != (job_id in succeeded):
                yield f"I6 {job_id}: has {once[job_id]} effects that were written with its outcome"
    if expected.effects is not None:
        several = Counter(map(str, expected.effects))
        for job_id in succeeded | set(several):
            if not (job_id in succeeded) <= several[job_id] <= len(lives[job_id].attempts):
                yield f"I6 {job_id}: has {several[job_id]} effects of {len(lives[job_id].attempts)} attempts"


def _stopped(history: History, expected: Expected) -> Iterator[str]:
    gone = {row["worker_id"] for row in history.worker if row["name"] in expected.stopped}
    for row in history.worker:
        if row["worker_id"] in gone and row["ended_at"] is None:
            yield f"I15 worker {row['name']} was stopped and is not marked as ended"
    for row in history.lease:
        if row["worker_id"] in gone:
            yield f"I15 worker {row['worker_id']} was stopped and holds a lease of {row['job_id']}"


# -- one job --------------------------------------------------------------------------------------------------------


def last(life: Life, _: Expected) -> Iterator[str]:
    for earlier, later in pairwise(life.attempts):
        between = range(earlier["finished_seq"], later["started_seq"])
        if earlier["outcome"] in _TERMINAL and not any(seq in between for seq in life.retried_at):
            yield f"I2 attempt {later['attempt']} came after {earlier['outcome']}, and nobody retried it"
        if earlier["outcome"] == "succeeded":
            yield f"I2 attempt {later['attempt']} came after a success"
    if len(life.retried_at) != life.logged_retries:
        yield f"I2 {len(life.retried_at)} retries happened, {life.logged_retries} were logged"
    for outcome in life.outcomes:
        newest = max(_seqs(life))
        if outcome["seq"] != newest:
            yield f"I2 the outcome has number {outcome['seq']}, and something later has {newest}"
        for attempt in life.attempts:
            if attempt["finished_seq"] == outcome["seq"] and not _agree(attempt, outcome):
                yield f"I2 the job is {outcome['state']}, its last attempt {attempt['outcome']}"


def _agree(attempt: Row, outcome: Row) -> bool:
    if attempt["outcome"] in _TERMINAL:
        return bool(outcome["state"] == attempt["outcome"])
    return outcome["state"] in (("canceled",) if attempt["outcome"] in _UNCOUNTED else ("dead", "canceled"))


def order(life: Life, _: Expected) -> Iterator[str]:
    for earlier, later in pairwise(life.attempts):
        if later["token"] <= earlier["token"]:
            yield f"I3 token {later['token']} came after {earlier['token']}"
        if later["started_seq"] <= earlier["finished_seq"] or _at(later, "started") < _at(earlier, "finished") - SLACK:
            yield f"I3 attempt {later['attempt']} started before attempt {earlier['attempt']} had ended"
    for attempt in life.attempts:
        if _at(attempt, "finished") < _at(attempt, "started"):
            yield f"I3 attempt {attempt['attempt']} ended before it started"


def speech(life: Life, _: Expected) -> Iterator[str]:
    for event in life.events:
        if event["type"] in ("retried", "rescheduled", *_TERMINAL, "dead"):
            continue
        if not any(one["started_seq"] < event["seq"] < one["finished_seq"] for one in life.attempts):
            yield f"I4 event {event['seq']} ({event['type']}) was said outside every attempt"


def numbers(life: Life, _: Expected) -> Iterator[str]:
    counted, most, retries = 0, life.job["max_attempts"], list(life.retried_at)
    for attempt in life.attempts:
        while retries and retries[0] < attempt["started_seq"]:
            retries.pop(0)
            most = counted + life.job["max_attempts"]
        if attempt["attempt"] != counted + 1:
            yield f"I5 attempt {attempt['attempt']} came after {counted} that counted"
        if attempt["attempt"] > most:
            yield f"I5 attempt {attempt['attempt']} of at most {most}"
        if attempt["outcome"] not in _UNCOUNTED:
            counted = attempt["attempt"]


def on_time(life: Life, expected: Expected) -> Iterator[str]:
    job = life.job
    moved = [event for event in life.events if event["type"] == "rescheduled"]
    if life.attempts:
        first = life.attempts[0]
        before = [event["data"]["run_at"] for event in moved if event["seq"] < first["started_seq"]]
        retried = any(seq < first["started_seq"] for seq in life.retried_at)
        if not retried and _at(first, "started") < datetime.fromisoformat([job["run_at"], *before][-1]) - SLACK:
            yield "I8 it started before its time"
    if not expected.own_backoff:
        return
    for earlier, later in pairwise(life.attempts):
        if earlier["outcome"] == "errored" and not life.retried_at and not moved:
            longest = min(job["retry_cap_s"], job["retry_base_s"] * 2.0 ** min(earlier["attempt"] - 1, 60))
            waited = (_at(later, "started") - _at(earlier, "finished")).total_seconds()
            if waited < longest / 2 - 0.01:
                yield f"I8 attempt {later['attempt']} came after {waited:.3f} s, its back-off is {longest / 2:.3f} s"


def gaps(life: Life, _: Expected) -> Iterator[str]:
    numbers = Counter(_seqs(life))
    numbers -= Counter(
        outcome["seq"] for outcome in life.outcomes if any(a["finished_seq"] == outcome["seq"] for a in life.attempts)
    )
    if sorted(numbers.elements()) != list(range(1, max(numbers) + 1)):
        yield f"I12 its events are numbered {sorted(numbers.elements())}"


def owner(life: Life, expected: Expected) -> Iterator[str]:
    job_id = UUID(life.job["job_id"])
    tenants = {row["tenant_id"] for row in (life.job, *life.attempts, *life.outcomes, *life.events)}
    if job_id in expected.acknowledged:
        tenants.add(str(expected.acknowledged[job_id]))
    if len(tenants) > 1:
        yield f"I13 its rows belong to {len(tenants)} tenants"


def _seqs(life: Life) -> list[int]:
    ends = [row[name] for row in life.attempts for name in ("started_seq", "finished_seq")]
    return [1, *ends, *(row["seq"] for row in life.events), *(row["seq"] for row in life.outcomes)]


def _at(attempt: Row, which: str) -> datetime:
    return datetime.fromisoformat(attempt[f"{which}_at"])
