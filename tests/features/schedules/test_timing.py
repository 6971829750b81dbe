"""When schedules tick, without a database: cron lines, periods, zones, and the hours that clocks lose and repeat."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.durations import HINT
from leasehold.errors import BadInput
from leasehold.features.schedules.timing import ALIASES, Schedule, Timing

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo"]
LINES = [
    "* * * * *", "*/15 * * * *", "30 2 * * *", "0 2,3 * * *", "0,30 1-3 * * *", "*/20 2 * * *", "0 0 * * MON-FRI",
    "15 1 L * *", "0 12 29 2 *", "0 9 * * 1#1", "59 23 31 12 *", *ALIASES,
]  # fmt: skip

#: Moments within a day of a change of clocks somewhere.
AROUND_CHANGES = st.builds(
    lambda day, seconds: datetime.fromisoformat(day) + timedelta(seconds=seconds),
    st.sampled_from(["2026-03-08", "2026-03-29", "2026-04-04", "2026-10-03", "2026-10-25", "2026-11-01"]),
    st.integers(-86400, 2 * 86400),
)


def local(zone: str, *parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=ZoneInfo(zone), fold=fold)  # type: ignore[arg-type,misc]


def ticks(timing: Timing, after: datetime, count: int) -> list[datetime]:
    return list(islice(timing.ticks(after), count))


@pytest.mark.parametrize(
    ("zone", "day", "before", "after"),
    [
        ("Europe/Berlin", (2026, 10, 25), "+02:00", "+01:00"),
        ("America/New_York", (2026, 11, 1), "-04:00", "-05:00"),
    ],
)
def test_an_hour_that_comes_twice_has_one_tick_of_a_fixed_hour_and_all_of_an_open_one(
    zone: str, day: tuple[int, int, int], before: str, after: str
) -> None:
    hour = 2 if zone == "Europe/Berlin" else 1
    midnight = local(zone, *day)
    nightly = ticks(Timing(cron=f"30 {hour} * * *", zone=zone), midnight, 2)
    assert nightly[0] == datetime.fromisoformat(f"{midnight:%Y-%m-%d}T0{hour}:30:00{before}")
    assert nightly[1].astimezone(ZoneInfo(zone)).date() == midnight.date() + timedelta(days=1)
    often = ticks(Timing(cron="*/30 * * * *", zone=zone), midnight, 8)
    assert {later - earlier for earlier, later in pairwise(often)} == {timedelta(minutes=30)}
    again = datetime.fromisoformat(f"{midnight:%Y-%m-%d}T0{hour}:30:00{after}")
    assert again in often
    assert again not in nightly


@pytest.mark.parametrize(("zone", "day"), [("Europe/Berlin", (2026, 3, 29)), ("America/New_York", (2026, 3, 8))])
def test_an_hour_that_is_left_out_ticks_when_it_would_have_ended(zone: str, day: tuple[int, int, int]) -> None:
    found = ticks(Timing(cron="30 2 * * *", zone=zone), local(zone, *day), 2)
    assert found == [local(zone, *day, 3), local(zone, day[0], day[1], day[2] + 1, 2, 30)]
    assert ticks(Timing(cron="0,30 2,3 * * *", zone=zone), local(zone, *day), 2) == [
        local(zone, *day, 3),
        local(zone, *day, 3, 30),
    ]


@given(
    line=st.sampled_from(LINES),
    zone=st.sampled_from(ZONES),
    start=AROUND_CHANGES | st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001
    part=st.floats(0, 0.999),
)
@settings(deadline=None, max_examples=300)
def test_where_one_begins_to_look_does_not_change_what_comes(
    line: str, zone: str, start: datetime, part: float
) -> None:
    """What makes it safe that workers compute ticks from the row alone: each moment has one next tick."""
    timing = Timing(cron=line, zone=zone)
    first, second, third = ticks(timing, start.replace(tzinfo=UTC), 3)
    assert start.replace(tzinfo=UTC) < first < second < third
    between = first + (second - first) * part
    assert timing.next_after(between) == second
    assert timing.due(first, third, 1000) == [first, second, third]
    assert timing.due(first, third, 1) == [first, third]


@given(
    every=st.integers(1, 10**6),
    starts=st.none() | st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001
    after=st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001
)
def test_periods_are_counted_from_the_start(every: int, starts: datetime | None, after: datetime) -> None:
    begins = starts.replace(tzinfo=UTC) if starts else None
    moment = after.replace(tzinfo=UTC)
    first, second = ticks(Timing(every_s=every, starts_at=begins), moment, 2)
    assert second - first == timedelta(seconds=every)
    assert first > moment or first == begins
    assert first - moment <= timedelta(seconds=every) or first == begins
    assert (first - (begins or datetime(1970, 1, 1, tzinfo=UTC))) % timedelta(seconds=every) == timedelta(0)


def test_what_was_missed_for_years_is_found_at_once() -> None:
    first, now = datetime(2000, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)
    every_minute = Timing(cron="* * * * *").due(first, now, 3)
    assert every_minute == [first, *(datetime(2026, 1, 1, tzinfo=UTC) - timedelta(minutes=n) for n in (2, 1, 0))]
    assert Timing(every_s=1).due(first, now, 2) == [first, now - timedelta(seconds=1), now]
    assert len(Timing(cron="@yearly").due(first, now, 1000)) == 27


def test_no_tick_comes_before_the_start_or_after_the_end() -> None:
    begins, ends = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    for timing in (
        Timing(cron="@daily", starts_at=begins, ends_at=ends),
        Timing(every_s=86400, starts_at=begins, ends_at=ends),
    ):
        found = ticks(timing, datetime(2025, 6, 1, tzinfo=UTC), 9)
        assert found == [begins, begins + timedelta(days=1), ends]
        assert timing.next_after(ends) is None


def test_a_schedule_that_ticks_once_does_so_once() -> None:
    at = local("Europe/Berlin", 2026, 12, 24, 18)
    assert ticks(Timing(at=at), datetime(2026, 1, 1, tzinfo=UTC), 5) == [at]
    assert Timing(at=at).next_after(at) is None


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (Timing(cron="0 3 * * *", zone="Europe/Berlin"), "At 03:00 every day (Europe/Berlin)"),
        (Timing(cron="@HOURLY"), "At the start of every hour (UTC)"),
        (
            Timing(cron="*/15 9-17 * * MON-FRI"),
            "Every 15th minute from 09:00 through 17:59 on Monday through Friday (UTC)",
        ),
        (Timing(every_s=1), "Every second"),
        (Timing(every_s=90), "Every 90 seconds"),
        (Timing(every_s=300), "Every 5 minutes"),
        (Timing(every_s=3600), "Every hour"),
        (Timing(every_s=172800), "Every 2 days"),
        (
            Timing(at=datetime(2026, 12, 24, 17, tzinfo=UTC), zone="Europe/Berlin"),
            "Once, at 2026-12-24 18:00:00 (Europe/Berlin)",
        ),
    ],
)
def test_a_timing_is_said_in_english(timing: Timing, words: str) -> None:
    assert timing.words() == words


AT = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "problem", "hint"),
    [
        ({}, "has one of cron, every and at", "every=300"),
        ({"cron": "@daily", "every": 60}, "has one of cron, every and at", "every=300"),
        ({"cron": "0 0 31 2 *"}, "'0 0 31 2 *': bad day-of-month", "minute hour day month weekday"),
        ({"cron": "0 0 30 2 *"}, "'0 0 30 2 *': bad day-of-month", "minute hour day month weekday"),
        ({"cron": "61 * * * *"}, "bad minute", "@daily"),
        ({"cron": "31 2"}, "does not have five fields", "@daily"),
        ({"cron": "0 0 3 * * *"}, "does not have five fields", "@daily"),  # seconds: every is for them
        ({"cron": "@reboot"}, "does not have five fields", "@daily"),
        ({"cron": ""}, "does not have five fields", "@daily"),
        ({"cron": "1," * 200 + "1 * * * *"}, "does not have five fields", "@daily"),
        ({"cron": "* * * * *", "zone": "Mars/Olympus"}, "no time zone 'Mars/Olympus'", "Europe/Berlin"),
        ({"cron": "* * * * *", "zone": "../../etc/passwd"}, "no time zone", "Europe/Berlin"),
        ({"cron": "* * * * *", "zone": "Europe"}, "no time zone 'Europe'", "Europe/Berlin"),
        ({"cron": "* * * * *", "zone": ""}, "no time zone ''", "Europe/Berlin"),
        ({"every": 0}, "not between 1 second and 366 days", None),
        ({"every": 10**9}, "not between 1 second and 366 days", None),
        ({"every": 0.5}, "every 0.5 is not a whole number of seconds", None),
        ({"every": float("inf")}, "every=inf is not a duration", HINT),
        ({"every": True}, "every=True is not a duration", HINT),
        ({"at": datetime(2030, 1, 1)}, "at 2030-01-01T00:00:00 has no time zone", "tzinfo=UTC"),  # noqa: DTZ001
        ({"every": 60, "starts_at": datetime(2030, 1, 1)}, "starts_at 2030-01-01T00:00:00 has no", "UTC"),  # noqa: DTZ001
        ({"at": datetime(2500, 1, 1, tzinfo=UTC)}, "is not between 1970 and 2200", None),
        ({"every": 60, "starts_at": AT, "ends_at": AT}, "is not after starts_at", None),
        ({"every": 60, "jitter": 61}, "jitter of 61 seconds is longer than the 60 between two ticks", "at most 60"),
        ({"cron": "0,5 * * * *", "jitter": 301}, "longer than the 300 between two ticks", "at most 300"),
        ({"every": 60, "jitter": -1}, "not between 0 and one day", None),
        ({"at": AT, "jitter": 86401}, "not between 0 and one day", None),
        ({"every": 60, "overlap": "both"}, "overlap cannot be 'both'", "skip, queue, cancel_old"),
        ({"every": 60, "catch_up": "some"}, "catch_up cannot be 'some'", "none, one, all"),
        ({"every": 60, "catch_up": "all", "overlap": "skip"}, "catch_up all makes several", "overlap=queue"),
        ({"every": 60, "catch_up": "all", "catch_up_max": 10**6}, "not a whole number from 1 to 1000", None),
        ({"every": 60, "catch_up_max": 0}, "not a whole number from 1 to 1000", None),
        ({"every": 60, "payload": [1], "tick_as": "day"}, "the payload, which is not a mapping", None),
        ({"every": 60, "name": "Night ly"}, "cannot be called 'Night ly'", "lower-case letters"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_with_the_way_out(
    given: dict[str, Any], problem: str, hint: str | None
) -> None:
    with pytest.raises(BadInput) as refused:
        Schedule(**{"name": "s", "kind": "t.work"} | given)
    assert problem in str(refused.value)
    assert hint is None or hint in (refused.value.hint or "")


def test_words_that_are_not_its_own_are_options_of_its_jobs() -> None:
    schedule = Schedule.of("s", "t.work", {"n": 1}, every=timedelta(minutes=5), jitter=30.0, queue="q", priority=1)
    assert schedule.options == {"queue": "q", "priority": 1}
    assert schedule.definition() | {"every_s": 300, "jitter_s": 30} == schedule.definition()


@given(
    line=st.lists(st.text("0123456789*,-/#LWMONSUJA ", max_size=6), min_size=4, max_size=6).map(" ".join) | st.text(),
    zone=st.sampled_from([*ZONES, "Nowhere/Else"]) | st.text(max_size=20),
    name=st.just("s") | st.text(max_size=70),
)
@settings(deadline=None, max_examples=500)
def test_whatever_is_written_is_a_schedule_or_is_refused(line: str, zone: str, name: str) -> None:
    try:
        schedule = Schedule(name=name, kind="t.work", cron=line, zone=zone)
    except BadInput:
        return
    now = datetime.now(UTC)
    found = ticks(schedule.timing, now, 3)
    assert found == sorted(set(found))
    assert schedule.timing.words()
