"""``/``: how things are."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_json
from leasehold.engine import leases, tenants
from leasehold.features.flows.store import list_approvals
from leasehold.features.jobs import store as engine
from leasehold.features.limits.store import see_lines
from leasehold.features.overview.store import Minute, read_stat
from leasehold.job import Job

pages = Pages(NavigationEntry(path="/", title="Overview", key="o"))
_MINUTES = 60
_KINDS = 8
_NEWEST = 8
#: Failures and jobs in line that are looked at here: their own pages look at more.
_GLANCE = 200
#: Approvals are counted up to here.
_MANY = 20
_GOOD = "succeeded"
#: What the newest minutes in stat may be behind.
_LAG = timedelta(minutes=3)
#: Attempts that ended without a fault of theirs.
_NEITHER = {"snoozed", "released", "canceled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    kind: str
    n: int
    bad: int
    wait_s: float
    run_s: float


@pages.get("/", "jobs:read", "operator", live=True)
async def overview(look: Look) -> Page:
    viewer = look.viewer
    db, tenant = viewer.db, viewer.tenant
    # None needs another's answer, and each is a round trip: together they take as long as the slowest.
    stat, newest, counts, oldest = await asyncio.gather(
        read_stat(db, tenant, _MINUTES),
        _newest(look),
        engine.count_states(db, tenant),
        engine.oldest_waiting(db, tenant),
    )
    failures, approvals, lines = await asyncio.gather(
        engine.list_failures(db, tenant, most=_GLANCE),
        list_approvals(db, tenant, limit=_MANY),
        see_lines(db, tenant, most=_GLANCE),
    )
    alive = queues = None
    if viewer.is_operator:
        alive = [one for one in await leases.list_workers(look.services.operator) if one.ended_at is None]
        queues = await tenants.list_queues(look.services.operator, bound=1)
    return look.show(
        "overview.html",
        live=True,
        counts=counts,
        bound=engine.BOUND,
        succeeded=sum(one.n for one in stat if one.outcome == _GOOD),
        nothing=not newest,
        newest=newest,
        tenant_names=look.viewer.tenant_names,
        kinds=_kinds(stat),
        oldest=oldest,
        failures=failures,
        approvals=len(approvals),
        many=_MANY,
        lines=lines,
        breakers=[line.name for line in lines if line.state in ("open", "half-open")],
        workers=alive,
        slots=sum(one.slots for one in alive or ()),
        running_slots=sum(one.running for one in alive or ()),
        queues=queues,
        paused=[queue.queue for queue in queues or () if queue.paused],
        **_charts(stat),
    )


async def _newest(look: Look) -> Sequence[Job]:
    found = await engine.find_jobs(look.viewer.db, look.viewer.tenant, {}, limit=_NEWEST)
    return await engine.see_jobs(look.viewer.db, look.viewer.tenant, found.jobs)


def _kinds(stat: list[Minute]) -> list[Kind]:
    by_kind: dict[str, list[Minute]] = defaultdict(list)
    for one in stat:
        by_kind[one.kind].append(one)
    made = [
        Kind(
            kind=kind,
            n=(n := sum(one.n for one in some)),
            bad=sum(one.n for one in some if _is_bad(one)),
            wait_s=sum(one.wait_ms for one in some) / n / 1000,
            run_s=sum(one.run_ms for one in some) / n / 1000,
        )
        for kind, some in by_kind.items()
    ]
    return sorted(made, key=lambda one: (-one.bad, -one.n, one.kind))[:_KINDS]


def _is_bad(one: Minute) -> bool:
    return one.outcome != _GOOD and one.outcome not in _NEITHER


def _charts(stat: list[Minute]) -> dict[str, object]:
    """Series by minute and the same as tables, up to the last whole minute, or the last that was rolled up."""
    whole = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=1)
    rolled_up = max((one.minute for one in stat), default=whole)
    last = rolled_up if whole - rolled_up <= _LAG else whole
    axis = [last - timedelta(minutes=back) for back in range(_MINUTES - 1, -1, -1)]
    by_minute: dict[datetime, list[Minute]] = defaultdict(list)
    for one in stat:
        by_minute[one.minute].append(one)
    good = [sum(one.n for one in by_minute[at] if one.outcome == _GOOD) for at in axis]
    bad = [sum(one.n for one in by_minute[at] if _is_bad(one)) for at in axis]
    wait = [_mean(by_minute[at], "wait_ms") for at in axis]
    run = [_mean(by_minute[at], "run_ms") for at in axis]
    x = [int(at.timestamp()) for at in axis]
    clock = [at.strftime("%H:%M") for at in axis]
    return {
        "ended_chart": as_json(
            {
                "x": x,
                "series": [
                    {"label": "succeeded", "values": good, "colour": "green-line", "fill": "green-soft"},
                    {"label": "not", "values": bad, "colour": "red-line"},
                ],
            }
        ),
        "times_chart": as_json(
            {
                "x": x,
                "unit": "s",
                "series": [
                    {"label": "waiting", "values": wait, "colour": "amber-line"},
                    {"label": "running", "values": run, "colour": "blue-line"},
                ],
            }
        ),
        "ended_rows": list(zip(clock, good, bad, strict=True))[::-1],
        "times_rows": [(at, _said(a), _said(b)) for at, a, b in zip(clock, wait, run, strict=True)][::-1],
    }


def _mean(some: list[Minute], what: str) -> float | None:
    """In seconds, of those that ran to an end; None where there were none."""
    n = sum(one.n for one in some)
    return round(sum(getattr(one, what) for one in some) / n / 1000, 3) if n else None


def _said(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
