"""What must be true whatever happened: eighteen sentences, each a function from the story to the ways it is not."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil
from typing import Any

from tests.chaos.database import GATES, KIND_LIMIT, SHARED_GATE, TENANT_LIMIT
from tests.chaos.latency import away_spans, latencies, meets, p99
from tests.chaos.story import Row, Story
from tests.faults import history
from tests.faults.history import Expected, Life

_SIGNED = re.compile(r"attempt (\d+) of (\S+)")
_PLACES = ("ready", "deferred", "parked", "blocked", "gated", "lease", "waiting", "place", "dep", "unwanted")
_COUNTED = ("ready", "deferred", "parked", "blocked", "gated", "lease")
_SINKS = "c.plain"
_ENDS = ("succeeded", "failed", "dead", "canceled")
_SLOW_SECONDS = 1.0
#: Of fewer, 1 in 100 is none.
_ENOUGH = 100


def i1(story: Story) -> Iterator[str]:
    """No job is lost: whatever was acknowledged has exactly one outcome, and nothing waits or runs any more."""
    for job_id in story.acknowledged:
        if job_id not in story.lives:
            yield f"{job_id} was acknowledged and is not there"
    flows = {row["flow_id"] for row in story.table("flow") if row["state"] != "running"}
    for op in story.asked("start flow"):
        if op.result["flow"] not in flows:
            yield f"flow {op.result['flow']} was acknowledged and has not ended"
    for job_id, life in story.lives.items():
        if len(life.outcomes) != 1:
            yield f"{job_id} ({life.job['kind']}) has {len(life.outcomes)} outcomes"
    for place in _PLACES:
        for row in story.table(place):
            if row.get("attempt", 0) >= 0:  # else it is the bell of a group, which nobody waits for
                yield f"{row.get('job_id') or row.get('child')} is still in {place}"
    yield from _with_their_callers(story)


def _with_their_callers(story: Story) -> Iterator[str]:
    """What was enqueued in a transaction is there if and only if the caller's own row is."""
    rows = {row["job_id"] for row in story.table("asked")}
    made = {job_id for job_id, life in story.lives.items() if life.job["kind"] == "c.asked"}
    yield from (f"{job_id} is lost, its caller's row is there" for job_id in rows - made)
    yield from (f"{job_id} is there, its caller was rolled back" for job_id in made - rows)
    for op in story.asked("enqueue in transaction"):
        for job_id in op.result["jobs"]:
            if (job_id in made) == op.args["rolled_back"]:
                yield f"{job_id} is {'' if job_id in made else 'not '}there, rolled back: {op.args['rolled_back']}"


def i2(story: Story) -> Iterator[str]:
    """An outcome never changes, but by a retry that was asked for and logged."""
    yield from _each(story, history.last)
    for op in story.asked("get"):
        job_id, seen = op.args["job"], op.result["said"]
        may_change = seen != "succeeded" and job_id in story.lives and story.lives[job_id].retried_at
        if seen in _ENDS and story.states.get(job_id) != seen and not may_change:
            yield f"{job_id} was seen {seen}, and is {story.states.get(job_id)}"


def i3(story: Story) -> Iterator[str]:
    """A job has one lease at a time, tokens grow, and a lease is taken from a silent worker only."""
    yield from _each(story, history.order)
    workers = {row["worker_id"]: row for row in story.table("worker")}
    for row in story.table("attempt"):
        if row["outcome"] == "lost" and not _may_be_lost(story, row, workers.get(row["worker_id"])):
            yield f"{row['job_id']} was taken from {story.names.get(row['worker_id'])}, which was not silent"


def _may_be_lost(story: Story, attempt: Row, worker: Row | None) -> bool:
    if worker is None or worker["ended_at"] is None:
        silent = taken_later = False
    else:
        ended = _time(worker["ended_at"])
        silent = ended - _time(worker["beat_at"]) >= timedelta(seconds=worker["lease_s"])
        # One that its worker had left behind, and that the next pass found.
        taken_later = _time(attempt["finished_at"]) - ended > timedelta(seconds=1)
    allowed = timedelta(seconds=story.lives[attempt["job_id"]].job["timeout_s"])
    return silent or taken_later or _time(attempt["finished_at"]) - _time(attempt["started_at"]) > allowed


def i4(story: Story) -> Iterator[str]:
    """Every end, result, word and row that was accepted came from the attempt that held the lease."""
    yield from _each(story, history.speech)
    for job_id, life in story.lives.items():
        for attempt in life.attempts:
            author = (attempt["attempt"], story.names.get(attempt["worker_id"]))
            for what, claimed in _claims(life, attempt):
                if claimed != author:
                    yield f"{job_id}: {what} of {author} was written by {claimed}"
    yield from (f"the dead were heard: {op.result['accepted']}" for op in story.asked("haunt") if op.result["accepted"])
    succeeded = {
        row["job_id"]: (row["attempt"], story.names.get(row["worker_id"]))
        for row in story.table("attempt")
        if row["outcome"] == "succeeded"
    }
    for row in story.table("effect"):
        if succeeded.get(row["job_id"]) != (row["attempt"], row["worker"]):
            yield f"{row['job_id']}: a row was written by {row['attempt'], row['worker']}, who did not succeed"


def _claims(life: Life, attempt: Row) -> Iterator[tuple[str, tuple[int, str]]]:
    """What an attempt left, and who says to have written it."""
    if author := _SIGNED.search(str((attempt["error"] or {}).get("message", ""))):
        yield "the error", (int(author[1]), author[2])
    for event in life.events:
        author = _SIGNED.search(event["message"] or "")
        if author and attempt["started_seq"] < event["seq"] < attempt["finished_seq"]:
            yield "a word", (int(author[1]), author[2])
    for outcome in life.outcomes:
        result = outcome["result"]
        if attempt["outcome"] == "succeeded" and isinstance(result, dict) and "worker" in result:
            yield "the result", (result["attempt"], result["worker"])


def i5(story: Story) -> Iterator[str]:
    """Attempts are numbered from 1 without a gap, and are no more than the job may have."""
    yield from _each(story, history.numbers)


def i6(story: Story) -> Iterator[str]:
    """What is written with an outcome is there once; other effects at most once for each attempt."""
    rows = Counter(row["job_id"] for row in story.table("effect"))
    children = Counter(life.job["payload"]["parent"] for life in story.lives.values() if life.job["kind"] == "c.child")
    effects = Counter(job_id for job_id, _, _ in story.sink)
    for job_id, life in story.lives.items():
        kind, done = life.job["kind"], story.states.get(job_id) == "succeeded"
        if kind in ("c.pack", "c.sum") and rows[job_id] != done:
            yield f"{job_id} ({kind}, {story.states.get(job_id)}) has {rows[job_id]} rows"
        if kind == "c.pack" and children[job_id] != done:
            yield f"{job_id} has {children[job_id]} children"
        if kind == _SINKS and not done <= effects[job_id] <= len(life.attempts):
            yield f"{job_id} had {effects[job_id]} effects in {len(life.attempts)} attempts"


def i7(story: Story) -> Iterator[str]:
    """One key is one job, another payload is refused, a tick fires once, and of a unique key one job waits."""
    used = Counter((r["tenant_id"], r["kind"], r["key"]) for r in story.table("job") if r["key"] is not None)
    yield from (f"{n} jobs have the key {key}" for (_, _, key), n in used.items() if n > 1)
    answers: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for op in story.asked("enqueue"):
        if op.args.get("keys"):
            answers[op.tenant, op.args["keys"][0]].add((op.result["jobs"][0], str(op.args["values"][0])))
    yield from (f"key {key} was answered with {found}" for (_, key), found in answers.items() if len(found) > 1)
    ticks = Counter((r["tenant_id"], r["payload"]["tick"]) for r in story.table("job") if r["kind"] == "c.tick")
    yield from (f"tick {tick} has {n} jobs" for (_, tick), n in ticks.items() if n > 1)
    waits = [_wait(life) for life in story.lives.values() if life.job["unique_key"] and not life.retried_at]
    yield from _too_many(waits, lambda _: 1, "wait")


def _wait(life: Life) -> tuple[str, datetime, datetime]:
    """From its enqueue to its first start, or to its end if it never started."""
    job = life.job
    end = life.attempts[0]["started_at"] if life.attempts else _end(life)
    return f"{job['tenant_id']} {job['unique_key']}", _time(job["created_at"]), _time(end)


def _end(life: Life) -> str:
    return str(life.outcomes[0]["finished_at"]) if life.outcomes else "9999-01-01T00:00:00+00:00"


def i8(story: Story) -> Iterator[str]:
    """Nothing starts before its time, and no retry before its back-off."""
    yield from _each(story, history.on_time)


def i9(story: Story) -> Iterator[str]:
    """No limit is passed at any instant: of a group, a kind, a tenant; nor the rate of a gate."""
    limits: dict[str, int] = {}
    runs: list[tuple[str, datetime, datetime]] = []
    gates: dict[str, list[datetime]] = defaultdict(list)
    for life in story.lives.values():
        job = life.job
        for attempt in life.attempts:
            times = _time(attempt["started_at"]), _time(attempt["finished_at"])
            for name, limit in _limits_of(job, story):
                limits[name] = limit
                runs.append((name, *times))
            if job["gate"]:
                shared = job["gate"] == SHARED_GATE
                gates[job["gate"] if shared else f"{job['gate']} {job['tenant_id']}"].append(times[0])
    yield from _too_many(runs, limits.__getitem__, "run")
    for gate, starts in gates.items():
        yield from _too_fast(gate, sorted(starts))


def _limits_of(job: Row, story: Story) -> Iterator[tuple[str, int]]:
    if job["group_key"]:
        yield f"group {job['group_key']} of {job['tenant_id']}", job["group_limit"]
    if job["kind"] == KIND_LIMIT[0]:
        yield f"kind {job['kind']}", KIND_LIMIT[1]
    if job["tenant_id"] == story.tenants.get(TENANT_LIMIT[0]):
        yield f"tenant {job['tenant_id']}", TENANT_LIMIT[1]


def _too_many(spans: Iterable[tuple[str, datetime, datetime]], limit: Callable[[str], int], what: str) -> Iterator[str]:
    moments: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for name, begin, end in spans:
        moments[name] += [(begin, 1), (end, -1)]
    for name, changes in moments.items():
        now = 0
        for at, change in sorted(changes):  # ends before starts: what starts in the moment of an end follows it
            now += change
            if now > limit(name):
                yield f"{now} of {name} {what} at {at}, {limit(name)} may"


def _too_fast(gate: str, starts: list[datetime]) -> Iterator[str]:
    """Every start conforms to GCRA."""
    rate, burst = GATES[gate.split()[0]]
    slot = timedelta(microseconds=ceil(1_000_000 / rate))
    free_at = datetime.min.replace(tzinfo=starts[0].tzinfo) + timedelta(days=2)
    for at in starts:
        if at < free_at:
            yield f"gate {gate}: a start {(free_at - at).microseconds} µs too early at {at}"
        free_at = max(free_at, at - (burst - 1) * slot) + slot


def i10(story: Story) -> Iterator[str]:
    """Jobs of a group start in the order of their enqueues, and a step of a flow after all that it waits for."""
    # What happened, not what a client was told: a call that was cut off may have moved its job.
    moved = {row["job_id"] for row in story.table("event") if row["type"] in ("rescheduled", "retried")}
    groups: dict[tuple[str, str], list[tuple[float, float, str, datetime]]] = defaultdict(list)
    for op in story.asked("enqueue"):
        if op.args.get("group"):
            for job_id in op.result["jobs"]:
                life = story.lives.get(job_id)
                if life and life.attempts and job_id not in moved:
                    first = _time(life.attempts[0]["started_at"])
                    groups[op.tenant, op.args["group"]].append((op.began, op.ended, job_id, first))
    for (_, group), jobs in groups.items():
        yield from (f"group {group}: {sentence}" for sentence in _overtaken(jobs))
    yield from _too_early(story)


def _overtaken(jobs: list[tuple[float, float, str, datetime]]) -> Iterator[str]:
    """Walk through enqueues by their begin; whoever was acknowledged by then must have started before."""
    acknowledged = sorted(jobs, key=lambda job: job[1])
    place, latest = 0, ("", datetime.min.replace(tzinfo=jobs[0][3].tzinfo))
    for began, _, job_id, started in sorted(jobs):
        while acknowledged[place][1] < began:
            if acknowledged[place][3] > latest[1]:
                latest = acknowledged[place][2], acknowledged[place][3]
            place += 1
        if started < latest[1]:
            yield f"{job_id} started before {latest[0]}"
    by_call: dict[float, list[tuple[str, datetime]]] = defaultdict(list)
    for began, _, job_id, started in jobs:
        by_call[began].append((job_id, started))
    for call in by_call.values():
        for (earlier, its), (later, other) in pairwise(call):
            if other < its:
                yield f"{later} started before {earlier}"


def _too_early(story: Story) -> Iterator[str]:
    for row in story.table("edge"):
        parent, child = story.lives.get(row["parent"]), story.lives.get(row["child"])
        if parent and child and child.attempts and _time(child.attempts[0]["started_at"]) < _time(_end(parent)):
            yield f"step {row['child']} started before {row['parent']} had ended"


def i11(story: Story) -> Iterator[str]:
    """A job does not start after its cancel was acknowledged; one that ran ends once, canceled or by itself."""
    for op in story.asked("cancel"):
        life, state = story.lives.get(op.args["job"]), story.states.get(op.args["job"])
        if life is None or life.retried_at:
            continue
        allowed = {"canceled": ("canceled",), "requested": ("canceled", "succeeded", "failed")}
        if state not in allowed.get(op.result["said"], _ENDS):
            yield f"{op.args['job']}: its cancel was answered with {op.result['said']}, and it is {state}"
        if op.result["said"] in allowed:
            late = [a for a in life.attempts if _time(a["started_at"]).timestamp() > op.ended_at]
            if late:
                yield f"{op.args['job']} started at {late[0]['started_at']}, after its cancel was acknowledged"


def i12(story: Story) -> Iterator[str]:
    """The events of a job have no gap and no double, also for one who reads them piece by piece."""
    yield from _each(story, history.gaps)
    for op in story.asked("follow"):
        seen = op.result["seen"]
        if seen != list(range(op.args["after"] + 1, op.args["after"] + 1 + len(seen))):
            yield f"{op.args['job']}: after {op.args['after']} came {seen}"


def i13(story: Story) -> Iterator[str]:
    """No tenant sees, changes or gets anything of another."""
    yield from _each(story, history.owner)
    for op in story.asked("peek"):
        if op.result["said"] != "[]":  # of what is not there, there are no attempts either
            yield f"{op.args['act']} of {op.args['job']} was answered to tenant {op.tenant}"
    owners = {job_id: life.job["tenant_id"] for job_id, life in story.lives.items()}
    for op in story.asked("list") + story.asked("enqueue"):
        for job_id in op.result["jobs"]:
            if owners.get(job_id, story.tenants[op.tenant]) != story.tenants[op.tenant]:
                yield f"{op.what} of tenant {op.tenant} was answered with {job_id}"


def i14(story: Story) -> Iterator[str]:
    """No secret stands in a log or in a table."""
    yield from (f"a secret stands in {place}" for place in story.leaks)


def i15(story: Story) -> Iterator[str]:
    """A worker that was stopped in good order holds no lease and is marked as ended."""
    stopped = {op.result["worker"]: op.result["code"] for op in story.asked("stop worker")}
    yield from (f"{name} was asked to stop, and ended with {code}" for name, code in stopped.items() if code != 0)
    for row in story.table("worker"):
        if row["name"] in stopped and row["ended_at"] is None:
            yield f"{row['name']} was stopped and is not marked as ended"
    for row in story.table("lease"):
        if story.names.get(row["worker_id"]) in stopped:
            yield f"{story.names[row['worker_id']]} was stopped and holds a lease of {row['job_id']}"
    at = {row["worker_id"]: row["ended_at"] for row in story.table("worker") if row["name"] in stopped}
    for row in story.table("attempt"):
        if row["outcome"] == "lost" and row["worker_id"] in at and _later(row["finished_at"], at[row["worker_id"]]):
            yield f"{story.names[row['worker_id']]} was stopped, and {row['job_id']} was lost afterwards"


def _later(one: str, other: str | None) -> bool:
    return other is not None and _time(one) > _time(other) + timedelta(seconds=0.5)


def i16(story: Story) -> Iterator[str]:
    """Metrics say what the tables say."""
    if not story.told:
        return
    told = sum(value for name, value in story.told.items() if name.startswith("jobs "))
    there = sum(row.get("attempt", 0) >= 0 for place in _COUNTED for row in story.table(place))
    if told != there:
        yield f"jobs is {told:g} over all queues and states, {there} wait or run"
    orphans = story.told["orphan_leases"]
    if orphans != len(story.table("lease")):
        yield f"orphan_leases is {orphans:g}, there are {len(story.table('lease'))} leases"
    alive = sum(row["ended_at"] is None for row in story.table("worker"))
    if story.told["workers"] != alive:
        yield f"workers is {story.told['workers']:g}, {alive} are alive"
    ids: dict[str, set[str]] = defaultdict(set)
    for worker_id, name in story.names.items():
        ids[name].add(worker_id)
    for worker, counted in story.counted.items():
        # What a worker gives back or loses is ended by others too, and not its to count. One that
        # was declared lost
        # forgets what it was not answered: it may have counted less, never more.
        lost = len(ids[worker]) > 1
        rows = Counter(row["outcome"] for row in story.table("attempt") if row["worker_id"] in ids[worker])
        for outcome in ("succeeded", "failed", "errored", "snoozed"):
            if counted.get(outcome, 0) > rows[outcome] or (counted.get(outcome, 0) < rows[outcome] and not lost):
                yield f"{worker} counted {counted.get(outcome, 0):g} attempts {outcome}, there are {rows[outcome]}"


def i17(story: Story) -> Iterator[str]:
    """Another tenant's plain enqueue takes at most 1 s at p99, through every fault that leaves the database there."""
    for when, seconds in latencies(story).items():
        if len(seconds) >= _ENOUGH and p99(seconds) > _SLOW_SECONDS:
            slowest = f"{p99(seconds):.2f} s, the slowest {seconds[-1]:.2f} s"
            yield f"{when}: 1 in 100 of {len(seconds)} enqueues took {slowest}"


def i18(story: Story) -> Iterator[str]:
    """A list shows what its server has acknowledged before, also where a replica answers."""
    away = away_spans(story)
    for op in story.asked("read back"):
        if not op.result["seen"] and not meets(op, away):
            yield f"{op.args['job']} was acknowledged, and the list that was read next did not have it"


INVARIANTS = (i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17, i18)


def check(story: Story) -> dict[str, list[str]]:
    """What is broken, by invariant: ``{"I3": ["…", …]}``; empty if all holds."""
    found = {rule.__name__.upper(): list(rule(story)) for rule in INVARIANTS}
    return {name: sentences for name, sentences in found.items() if sentences}


def _each(story: Story, rule: Callable[[Life, Expected], Iterator[str]]) -> Iterator[str]:
    for job_id, life in story.lives.items():
        yield from (f"{job_id} ({life.job['kind']}): {sentence[3:].strip()}" for sentence in rule(life, story.expected))


def _time(text: Any) -> datetime:
    return datetime.fromisoformat(str(text))
