"""Schedules against a model in plain Python: random timings, policies, pauses, edits, jumps of the clock, late callers.

The model finds ticks by looking at every minute. The machine is also run against planted mutants, and must find them.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from leasehold.database.database import Role
from leasehold.errors import BadInput, Conflict
from leasehold.features.schedules import store as schedules
from leasehold.features.schedules.model import Due
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cluster
from tests.features.schedules.steps import end_all
from tests.stateful import Machine, finds, on_a_database, play

T = TypeVar("T")
START = datetime(2027, 6, 1, 12, 0, 30, tzinfo=UTC)  # half a minute after any tick: the run's own seconds do not matter
MINUTE = timedelta(minutes=1)
NAMES = st.sampled_from(["a", "b"])
#: Overlap and catch-up.
POLICIES = st.sampled_from([("skip", "none"), ("skip", "one"), ("queue", "none"), ("queue", "one"), ("queue", "all")])
#: A timing, and how a minute is known that fits it.
TIMINGS: dict[str, tuple[dict[str, Any], Any]] = {
    "hourly": ({"cron": "@hourly"}, lambda m: m.minute == 0),
    "quarters": ({"cron": "*/15 * * * *"}, lambda m: m.minute % 15 == 0),
    "two hours": ({"cron": "5 13,16 * * *"}, lambda m: m.minute == 5 and m.hour in (13, 16)),
    "kathmandu": ({"cron": "0 18 * * *", "zone": "Asia/Kathmandu"}, lambda m: (m.hour, m.minute) == (12, 15)),
    "every seven": ({"every": 420}, lambda m: int(m.timestamp()) % 420 == 0),
}


@dataclass(slots=True)
class Model:
    timing: str
    overlap: str
    catch_up: str
    most: int
    next_at: datetime
    last_at: datetime | None = None
    paused: bool = False
    revision: int = 1
    live: bool = False  # its last job has not ended
    jobs: list[str] = field(default_factory=list)  # the ticks that have one, and "now" for those of people


def first_after(timing: str, moment: datetime) -> datetime:
    minute = moment.replace(second=0, microsecond=0) + MINUTE
    while not TIMINGS[timing][1](minute):
        minute += MINUTE
    return minute


class Ticking(Machine):
    client: ClassVar[Client]

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.models: dict[str, Model] = {}
        self.stale: list[tuple[Due, datetime]] = []

    @initialize(timing=st.sampled_from(list(TIMINGS)), policy=POLICIES, most=st.integers(1, 4))
    def start(self, timing: str, policy: tuple[str, str], most: int) -> None:
        self.change(
            "truncate leasehold.schedule, leasehold.tick, leasehold.ready, leasehold.deferred, leasehold.lease,"
            " leasehold.job, leasehold.outcome, leasehold.attempt_row, leasehold.worker; update leasehold_test.clock"
            f" set offset_s = extract(epoch from timestamptz '{START.isoformat()}' - clock_timestamp())"
        )
        self.put("a", timing, policy, most)

    # -- what people do ---------------------------------------------------------------------------------------------

    @rule(
        name=NAMES,
        timing=st.sampled_from(list(TIMINGS)),
        policy=POLICIES,
        most=st.integers(1, 4),
    )
    def put(self, name: str, timing: str, policy: tuple[str, str], most: int) -> None:
        overlap, catch_up = policy
        self.run(
            self.client.schedules.put(
                name,
                "t.work",
                tick_as="tick",
                overlap=overlap,
                catch_up=catch_up,
                catch_up_max=most,
                **TIMINGS[timing][0],
            )
        )
        known = self.models.get(name)
        if known is None:
            self.models[name] = Model(timing, overlap, catch_up, most, first_after(timing, self.now))
            return
        if known.timing != timing:
            known.timing, known.next_at = timing, self._next(known, timing)
        known.overlap, known.catch_up, known.most = overlap, catch_up, most
        known.revision += 1

    def _next(self, model: Model, timing: str) -> datetime:
        return first_after(timing, max(self.now, model.last_at or self.now))

    @rule(name=NAMES, payload=st.integers(0, 9))
    def edit_the_payload(self, name: str, payload: int) -> None:
        if model := self.models.get(name):
            self.run(self.client.schedules.edit(name, payload={"n": payload}))
            model.revision += 1

    @rule(name=NAMES)
    def pause(self, name: str) -> None:
        if model := self.models.get(name):
            self.run(self.client.schedules.pause(name))
            model.revision += not model.paused
            model.paused = True

    @rule(name=NAMES)
    def resume(self, name: str) -> None:
        if model := self.models.get(name):
            self.run(self.client.schedules.resume(name))
            if model.paused:
                model.paused, model.revision, model.next_at = False, model.revision + 1, self._next(model, model.timing)

    @rule(name=NAMES)
    def run_now(self, name: str) -> None:
        if model := self.models.get(name):
            if model.live and model.overlap == "skip":
                with pytest.raises(Conflict):
                    self.run(self.client.schedules.run(name))
            else:
                self.run(self.client.schedules.run(name))
                model.live = True
                model.jobs.append("now")

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        if self.models.pop(name, None):
            self.run(self.client.schedules.delete(name))
            self.change(f"delete from leasehold.job where tags @> array['schedule:{name}']")

    @rule()
    def all_jobs_end(self) -> None:
        self.run(end_all(self.db))
        for model in self.models.values():
            model.live = False

    # -- what workers do --------------------------------------------------------------------------------------------

    @rule(minutes=st.sampled_from([1, 1, 7, 15, 60, 300, 2000]))
    def pass_time(self, minutes: int) -> None:
        self.now += minutes * MINUTE
        self.change(f"update leasehold_test.clock set offset_s = offset_s + {minutes * 60}")

    @rule(minutes=st.sampled_from([1, 20, 600]))
    def the_clock_goes_back(self, minutes: int) -> None:
        self.pass_time(-minutes)

    @rule()
    def fire(self) -> None:
        for due in self.run(schedules.due_schedules(self.db)):
            self._fire(due, self.now)

    @rule(minutes=st.sampled_from([1, 15, 50, 300]))
    def pass_time_and_fire(self, minutes: int) -> None:
        self.pass_time(minutes)
        self.fire()

    @rule(minutes=st.sampled_from([15, 60, 1500]))
    def tick_after_tick(self, minutes: int) -> None:
        """No job ends in between."""
        self.pass_time_and_fire(minutes)
        self.pass_time_and_fire(minutes)

    @rule()
    def look_and_stop(self) -> None:
        """A worker sees what is due, and is stopped before it acts."""
        self.stale += [(due, self.now) for due in self.run(schedules.due_schedules(self.db))]

    @rule()
    def go_on(self) -> None:
        for due, seen in self.stale:
            self._fire(due, seen)
        self.stale.clear()

    @rule(minutes=st.sampled_from([15, 60]), meanwhile=st.sampled_from(["fire", "edit"]))
    def overtaken(self, minutes: int, meanwhile: str) -> None:
        """The road to a second job for one tick: somebody acts between a worker's look and what it does about it."""
        self.pass_time(minutes)
        self.look_and_stop()
        if meanwhile == "fire":
            self.fire()
        else:
            for name in self.models:
                self.edit_the_payload(name, 1)
        self.go_on()
        self.fire()

    def _fire(self, due: Due, seen: datetime) -> None:
        model = self.models.get(due.name)
        current = model and (model.revision, model.next_at, model.paused) == (due.revision, due.next_at, False)
        if not (model and current and self._is_same(due)):
            assert self.run(schedules.fire_schedule(self.db, due)) == 0, "who is late changes nothing"
            return
        ticks = [model.next_at]
        while (tick := first_after(model.timing, ticks[-1])) <= seen:
            ticks.append(tick)
        if ticks[-1] > self.now:  # the clock went back meanwhile
            with pytest.raises(BadInput):
                self.run(schedules.fire_schedule(self.db, due))
            return
        assert self.run(schedules.fire_schedule(self.db, due)) == self._fire_model(model, ticks)
        model.last_at, model.next_at = ticks[-1], first_after(model.timing, seen)

    def _is_same(self, due: Due) -> bool:
        """Not one that was deleted, and made again under its name."""
        return self.run(self.client.schedules.get(due.name)).schedule_id == due.schedule_id

    def _fire_model(self, model: Model, ticks: list[datetime]) -> int:
        if model.catch_up == "all":
            chosen = ticks[-model.most :]
        else:
            on_time = self.now - ticks[-1] <= MINUTE
            chosen = ticks[-1:] if model.catch_up == "one" or on_time else []
        if model.overlap == "skip" and model.live:
            chosen = []
        model.live = model.live or bool(chosen)
        model.jobs += [f"{tick:%Y-%m-%dT%H:%M:%SZ}" for tick in chosen]
        return len(chosen)

    # -- after every step -------------------------------------------------------------------------------------------

    @invariant()
    def the_database_agrees(self) -> None:
        found = {info.name: info for info in self.run(self.client.schedules.list())}
        assert found.keys() == self.models.keys()
        for name, model in self.models.items():
            info = found[name]
            standing = (info.next_at, info.last_at, info.paused, info.revision)
            assert standing == (model.next_at, model.last_at, model.paused, model.revision)
            rows = self.run(
                self.back_door.call(
                    "look",
                    f"select payload ->> 'tick' as tick from leasehold.job where tags @> array['schedule:{name}']"
                    " order by job_id",
                )
            )
            ticks = [json.loads(row[0])["tick"] for row in rows]
            assert sorted(t for t in ticks if t[-3:] == "00Z") == sorted(j for j in model.jobs if j != "now")
            assert len(ticks) == len(model.jobs)


@contextmanager
def machine(cluster: Cluster) -> Iterator[type[Ticking]]:
    with on_a_database(cluster, Ticking) as ticking:
        api = ticking.cell.database(Role.API)
        ticking.loop.run_until_complete(api.__aenter__())
        ticking.client = Client(Backend(Settings(), api), ticking.cell.tenant_a)
        try:
            yield ticking
        finally:
            ticking.loop.run_until_complete(api.__aexit__(None, None, None))


@pytest.mark.long
def test_random_lives_of_schedules_agree_with_the_model(cluster: Cluster) -> None:
    with machine(cluster) as ticking:
        play(ticking, 60)


MUTANTS = {
    "a caller whose tick is not the next one": ("fire_schedule.sql", "and s.next_at = p_ticks[1]", ""),
    "a caller that computed from another revision": ("fire_schedule.sql", "and s.revision = p_revision", ""),
    "a late tick that counts as on time": ("fire_schedule.sql", "interval '1 minute'", "interval '1 day'"),
    "an overlap that is not looked at": (
        "insert_scheduled_job.sql",
        "if v_live and p_schedule.overlap = 'skip'",
        "if false",
    ),
    "an edit of the payload that drops a due tick": ("write_schedule.sql", "p_next_at := p_old.next_at;", "null;"),
}


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_a_planted_mutant(cluster: Cluster, mutant: str) -> None:
    name, before, after = MUTANTS[mutant]
    with machine(cluster) as ticking:
        finds(ticking, f"functions/{name}", [(before, after)])
