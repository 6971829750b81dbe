"""``report.generate``: a report over the tenant's own rows, or over data that is handed in, kept for a while."""

from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from pydantic.dataclasses import dataclass

from leasehold.features.reports import store as reports
from leasehold.features.reports.chart import bars
from leasehold.features.reports.formats import Heading, Line, pieces
from leasehold.features.reports.model import MEDIA_TYPES, ReportOrder
from leasehold.program.app import Leasehold
from leasehold.program.context import Context

#: Bars of one chart.
_MAX_BARS = 400

app = Leasehold()


@dataclass(frozen=True, slots=True)
class Made:
    """The report's id is that of its job."""

    report_id: str
    format: str
    lines: int
    size: int
    sha256: str
    expires_at: datetime


class Counted:
    """Lines that are counted as they pass."""

    def __init__(self, lines: AsyncIterator[Line]) -> None:
        self._lines = lines
        self.n = 0

    async def __aiter__(self) -> AsyncIterator[Line]:
        async for line in self._lines:
            self.n += 1
            yield line


@app.handler("report.generate", priority=3, attempts=3, timeout=1800)
async def generate(ctx: Context, order: ReportOrder) -> Made:
    """Make a report, keep it, and tell endpoints that want to know: report.ready."""
    heading, lines = await _asked(ctx, order)
    counted = Counted(lines)
    async with ctx.bodies.writer(MEDIA_TYPES[order.format], days=order.keep_days) as out:
        async for piece in pieces(order.format, heading, aiter(counted)):
            await out.write(piece)
    expires_at = await reports.put_report(
        ctx.link.db,
        ctx.tenant_id,
        ctx.job_id,
        name=order.name,
        title=order.heading,
        format_=order.format,
        body=out.body,
        lines=counted.n,
        days=order.keep_days,
    )
    made = Made(str(ctx.job_id), order.format, counted.n, out.body.size, out.body.sha256, expires_at)
    about = {"report_id": made.report_id, "title": order.heading, "format": order.format, "lines": made.lines}
    await ctx.emit("report.ready", "report", made.report_id, about | {"expires_at": expires_at.isoformat()})
    return made


async def _asked(ctx: Context, order: ReportOrder) -> tuple[Heading, AsyncIterator[Line]]:
    now = (await reports.now(ctx.link.db)).astimezone(UTC)
    facts = {"generated_at": f"{now:%Y-%m-%d %H:%M} UTC"}
    columns = order.all_columns()
    if order.data is not None:
        chart = _chart(order.data, order.chart.x, order.chart.y, order.heading) if order.chart else None
        return Heading(title=order.heading, columns=columns, facts=facts, chart=chart), _each(order.data)
    since, until = period = order.period(now)
    facts |= {"from": f"{since:%Y-%m-%d %H:%M} UTC", "to": f"{until:%Y-%m-%d %H:%M} UTC"} | order.filters
    lines = reports.lines(ctx.link.db, ctx.tenant_id, order.name, period, order.filters)
    chart = None
    if order.report == "activity":  # few lines: days times kinds times outcomes
        found = [line async for line in lines]
        chart, lines = _activity_chart(found), _each(found)
    return Heading(title=order.heading, columns=columns, facts=facts, chart=chart), lines


async def _each(lines: list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    for line in lines:
        yield line


def _activity_chart(lines: list[dict[str, Any]]) -> str | None:
    """Attempts by day and outcome."""
    outcomes = sorted({line["outcome"] for line in lines}, key=lambda name: (name != "succeeded", name))
    by_outcome = [{"day": line["day"], line["outcome"]: line["attempts"]} for line in lines]
    return _chart(by_outcome, "day", outcomes, "Attempts by day") if lines else None


def _chart(lines: list[dict[str, Any]], x: str, y: list[str], title: str) -> str:
    sums: dict[str, dict[str, float]] = {name: defaultdict(float) for name in y}
    labels = list(dict.fromkeys(str(line.get(x, "")) for line in lines))[:_MAX_BARS]
    for line in lines:
        for name in y:
            value = line.get(name)
            if isinstance(value, int | float):
                sums[name][str(line.get(x, ""))] += max(float(value), 0.0)
    return bars(labels, {name: [sums[name][label] for label in labels] for name in y}, title=title)
