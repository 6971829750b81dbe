"""Schedules: what they are, when they tick, and how that is said in English. No database here.

A tick is a moment at which a schedule makes a job. Which ticks are fired is decided in SQL; here they are computed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice, pairwise
from typing import Any, Self
from uuid import UUID

from cronsim import CronSim, CronSimError

from leasehold.durations import Duration, seconds_of
from leasehold.errors import BadInput
from leasehold.job_options import plain
from leasehold.time_zones import zone_of

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END = datetime(2200, 1, 1, tzinfo=UTC)
_CRON_LENGTH = 200
_LONGEST_PERIOD = 366 * 86400
_LONGEST_JITTER = 86400
_MOST_CAUGHT_UP = 1000
#: Ticks that are looked at to find the shortest time between two.
_LOOK_AHEAD = 50


class Overlap(StrEnum):
    """What a tick does while the schedule's last job has not ended."""

    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_OLD = "cancel_old"


class CatchUp(StrEnum):
    """Which ticks that passed while no worker was there are made up for."""

    NONE = "none"
    ONE = "one"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a schedule ticks: by a cron line, every so many seconds, or once."""

    cron: str | None = None
    every_s: int | None = None
    at: datetime | None = None
    zone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    def check(self, now: datetime) -> None:
        """Raise BadInput for a timing that cannot be."""
        if sum(given is not None for given in (self.cron, self.every_s, self.at)) != 1:
            raise BadInput(
                "a schedule has one of cron, every and at",
                hint='cron="0 3 * * *", every=300 or at=datetime(…, tzinfo=UTC)',
            )
        zone_of(self.zone)
        for name in ("at", "starts_at", "ends_at"):
            _check_moment(name, getattr(self, name))
        if self.starts_at and self.ends_at and self.starts_at >= self.ends_at:
            raise BadInput(f"ends_at {self.ends_at.isoformat()} is not after starts_at {self.starts_at.isoformat()}")
        if self.every_s is not None and not 1 <= self.every_s <= _LONGEST_PERIOD:
            raise BadInput(f"every {self.every_s} seconds is not between 1 second and 366 days")
        if self.cron is not None:
            self._check_cron(now)

    def ticks(self, after: datetime) -> Iterator[datetime]:
        """All ticks after a moment, in UTC."""
        start = after if self.starts_at is None else max(after, self.starts_at - timedelta(microseconds=1))
        for tick in self._ticks(start):
            if self.ends_at is not None and tick > self.ends_at:
                return
            yield tick

    def following(self, tick: datetime | None, count: int) -> list[datetime]:
        """So many ticks from this one on. With jitter, a job starts within so many seconds after its tick."""
        return [] if tick is None else [tick, *islice(self.ticks(tick), count - 1)]

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self.ticks(moment), None)

    def due(self, first: datetime, now: datetime, most: int) -> list[datetime]:
        """Ticks that have come: ``first``, which the database waits for, and the newest up to ``most`` after it."""
        span = timedelta(seconds=(self.every_s or 60) * most)
        while True:
            start = max(first, now - span)
            newest = self._until(start, now)[-most:]
            if start == first or len(newest) == most:
                return [first, *newest]
            span *= 4

    def shortest_gap(self, now: datetime) -> timedelta | None:
        """The least time between two of the ticks to come; None for a schedule that ticks once."""
        if self.every_s is not None:
            return timedelta(seconds=self.every_s)
        gaps = (later - earlier for earlier, later in pairwise(islice(self.ticks(now), _LOOK_AHEAD)))
        return min(gaps, default=None)

    def words(self) -> str:
        """In English: ``At 03:00 every day (Europe/Berlin)``."""
        if self.every_s is not None:
            return f"Every {_duration(self.every_s)}"
        if self.at is not None:
            return f"Once, at {self.at.astimezone(zone_of(self.zone)):%Y-%m-%d %H:%M:%S} ({self.zone})"
        return f"{self._sim(_EPOCH).explain()} ({self.zone})"

    def _until(self, after: datetime, now: datetime) -> list[datetime]:
        found = []
        for tick in self.ticks(after):
            if tick > now:
                break
            found.append(tick)
        return found

    def _ticks(self, after: datetime) -> Iterator[datetime]:
        if self.at is not None:
            yield from [self.at.astimezone(UTC)] if self.at > after else []
        elif self.every_s is not None:
            yield from self._every(after, timedelta(seconds=self.every_s))
        else:
            yield from self._cron(after)

    def _every(self, after: datetime, period: timedelta) -> Iterator[datetime]:
        """Counted from the start, else from 1970: what is every 300 seconds is at :00, :05, :10 and so on."""
        anchor = (self.starts_at or _EPOCH).astimezone(UTC)
        tick = anchor + max(0, (after - anchor) // period + 1) * period
        while tick < _END:
            yield tick
            tick += period

    def _cron(self, after: datetime) -> Iterator[datetime]:
        last = after
        for local in self._sim(after.astimezone(zone_of(self.zone))):
            tick = local.astimezone(UTC)
            # In the hour that comes twice, a line with a fixed hour is looked for by the clock on the wall, and what is
            # found may be its first coming, which has passed.
            if tick > last:
                yield tick
                last = tick

    def _sim(self, moment: datetime) -> CronSim:
        assert self.cron is not None
        return CronSim(ALIASES.get(self.cron.lower(), self.cron), moment)

    def _check_cron(self, now: datetime) -> None:
        assert self.cron is not None
        hint = f"minute hour day month weekday, such as 0 3 * * *; or one of {', '.join(ALIASES)}"
        line = ALIASES.get(self.cron.lower(), self.cron)
        if len(line) > _CRON_LENGTH or len(line.split()) != 5:
            raise BadInput(f"cron line {self.cron[:_CRON_LENGTH]!r} does not have five fields", hint=hint)
        try:
            comes = next(self._cron(now), None)
        except CronSimError as problem:
            raise BadInput(f"cron line {self.cron!r}: {str(problem).lower()}", hint=hint) from None
        if comes is None:
            raise BadInput(f"cron line {self.cron!r} never comes: no such date within 50 years", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as a person or a program asks for it.

    ``every`` and ``jitter`` are durations. ``overlap`` is skip, queue or cancel_old; ``catch_up`` none,
    one or all (then of the newest ``catch_up_max``). ``tick_as`` names the member of the payload that gets the tick.
    ``tenant`` is for schedules declared in code: a name or an id, by default that of LEASEHOLD_TENANT.
    """

    name: str
    kind: str
    payload: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    cron: str | None = None
    every: Duration | None = None
    at: datetime | None = None
    zone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    jitter: Duration = 0
    overlap: str | None = None
    catch_up: str = CatchUp.ONE
    catch_up_max: int = 100
    tick_as: str | None = None
    tenant: str | UUID | None = None

    @classmethod
    def of(cls, name: str, kind: str, payload: Any = None, **given: Any) -> Self:
        """The same with the options of its jobs (queue, priority, attempts, …) among the other words."""
        known = {one.name for one in fields(cls)} - {"options"}
        options = plain({word: value for word, value in given.items() if word not in known})
        own = {word: value for word, value in given.items() if word in known}
        return cls(name=name, kind=kind, payload=payload, options=options, **own)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadInput(
                f"a schedule cannot be called {self.name!r}",
                hint="lower-case letters, digits, _ . - and at most 63 characters",
            )
        now = datetime.now(UTC)
        self.timing.check(now)
        _check_choice("overlap", self.overlap, Overlap)
        _check_choice("catch_up", self.catch_up, CatchUp)
        if self.tick_as is not None and not isinstance(self.payload, Mapping | None):
            raise BadInput("tick_as puts the tick into the payload, which is not a mapping")
        if self.catch_up == CatchUp.ALL and self.overlap not in (None, Overlap.QUEUE):
            raise BadInput(
                f"catch_up all makes several jobs at once, and overlap {self.overlap} would leave one of them",
                hint="overlap=queue, or catch_up=one",
            )
        if not _is_whole(self.catch_up_max) or not 1 <= self.catch_up_max <= _MOST_CAUGHT_UP:
            raise BadInput(f"catch_up_max {self.catch_up_max!r} is not a whole number from 1 to {_MOST_CAUGHT_UP}")
        self._check_jitter(now)

    @property
    def timing(self) -> Timing:
        return Timing(
            cron=self.cron,
            every_s=None if self.every is None else _seconds("every", self.every),
            at=self.at,
            zone=self.zone,
            starts_at=self.starts_at,
            ends_at=self.ends_at,
        )

    @property
    def jitter_s(self) -> int:
        return _seconds("jitter", self.jitter)

    def definition(self) -> dict[str, Any]:
        """As SQL's put_schedule takes it."""
        timing = self.timing
        return {
            "kind": self.kind,
            "payload": {} if self.payload is None else self.payload,
            "options": plain(self.options),
            "tick_as": self.tick_as,
            "cron": timing.cron,
            "every_s": timing.every_s,
            "at": timing.at and timing.at.isoformat(),
            "zone": timing.zone,
            "starts_at": timing.starts_at and timing.starts_at.isoformat(),
            "ends_at": timing.ends_at and timing.ends_at.isoformat(),
            "jitter_s": self.jitter_s,
            "overlap": self.overlap,
            "catch_up": str(self.catch_up),
            "catch_up_max": self.catch_up_max,
        }

    def _check_jitter(self, now: datetime) -> None:
        jitter = timedelta(seconds=self.jitter_s)
        if not 0 <= self.jitter_s <= _LONGEST_JITTER:
            raise BadInput(f"jitter of {self.jitter_s} seconds is not between 0 and one day")
        gap = self.timing.shortest_gap(now) if jitter else None
        if gap is not None and jitter > gap:
            raise BadInput(
                f"jitter of {self.jitter_s} seconds is longer than the {gap.total_seconds():g} between two ticks",
                hint=f"at most {gap.total_seconds():g}",
            )


def _check_moment(name: str, moment: datetime | None) -> None:
    if moment is None:
        return
    if moment.tzinfo is None:
        raise BadInput(f"{name} {moment.isoformat()} has no time zone", hint="datetime(…, tzinfo=UTC)")
    if not _EPOCH <= moment < _END:
        raise BadInput(f"{name} {moment.isoformat()} is not between 1970 and 2200")


def _check_choice(name: str, value: str | None, choices: type[StrEnum]) -> None:
    if value is not None and value not in list(choices):
        raise BadInput(f"{name} cannot be {value!r}", hint=f"one of: {', '.join(choices)}")


def _seconds(name: str, given: Duration) -> int:
    seconds = seconds_of(given, name)
    if seconds != seconds // 1:
        raise BadInput(f"{name} {given!r} is not a whole number of seconds")
    return int(seconds)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _duration(seconds: int) -> str:
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % length == 0:
            return unit if seconds == length else f"{seconds // length} {unit}s"
    return "second" if seconds == 1 else f"{seconds} seconds"
