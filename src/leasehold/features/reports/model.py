"""What a report is to hold: the payload of ``report.generate`` and the body of ``POST /v1/reports``."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

#: The named reports, each with its columns in their order.
COLUMNS = {
    "activity": ("day", "kind", "outcome", "attempts", "mean_wait_ms", "mean_run_ms"),
    "jobs": ("job_id", "kind", "queue", "state", "attempts", "created_at", "started_at", "finished_at", "error"),
    "attempts": ("job_id", "kind", "attempt", "outcome", "started_at", "finished_at", "run_ms", "error"),
    "deliveries": (
        "delivery_id", "endpoint_id", "type", "subject_id", "state", "attempts", "status", "created_at", "ended_at",
        "reason",
    ),
}  # fmt: skip
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_FILTERS = {"activity": {"kind", "queue"}, "jobs": {"kind", "queue", "state"}, "attempts": {"kind", "queue", "state"}}
_MAX_COLUMNS = 100

Word = Annotated[str, Field(min_length=1, max_length=255)]


class Chart(BaseModel):
    """Bars over the lines that were handed in: one for each value of ``x``, as high as the sum of the columns ``y``."""

    model_config = ConfigDict(extra="forbid")

    x: Word
    y: list[Word] = Field(min_length=1, max_length=8)


class ReportOrder(BaseModel):
    """Either a named report over the tenant's own rows, of the last ``days`` or from ``since`` to ``until``.

    Or ``data`` that is handed in, one object for each line."""

    model_config = ConfigDict(extra="forbid")

    report: Literal["activity", "jobs", "attempts", "deliveries"] | None = None
    data: list[dict[str, Any]] | None = None
    columns: list[Word] | None = Field(None, max_length=_MAX_COLUMNS, description="Of data; by default all, as found.")
    chart: Chart | None = Field(None, description="Of data; in HTML only.")
    format: Literal["html", "csv", "json", "xlsx"] = "html"
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    days: Annotated[float, Field(gt=0, le=3660)] = 7.0
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    kind: Word | None = None
    queue: Word | None = None
    state: Word | None = None
    keep_days: Annotated[float, Field(gt=0, le=3660)] = 30.0

    @model_validator(mode="after")
    def _check(self) -> "ReportOrder":
        if (self.report is None) == (self.data is None):
            raise ValueError("a report has either the name of a report or data")
        if self.data is None and (self.columns or self.chart):
            raise ValueError("columns and chart are for data")
        known = _FILTERS.get(self.report or "", {"state"} if self.report else set())
        if wrong := sorted(self.filters.keys() - known):
            raise ValueError(f"{self.name} has no filter {wrong[0]}; known: {', '.join(sorted(known)) or 'none'}")
        if self.since and self.until and self.since >= self.until:
            raise ValueError("since is not before until")
        return self

    @property
    def name(self) -> str:
        return self.report or "data"

    @property
    def heading(self) -> str:
        return self.title or self.name.capitalize()

    @property
    def filters(self) -> dict[str, str]:
        given = {"kind": self.kind, "queue": self.queue, "state": self.state}
        return {name: value for name, value in given.items() if value is not None}

    def period(self, now: datetime) -> tuple[datetime, datetime]:
        """From when to when."""
        until = self.until or now
        return self.since or until - timedelta(days=self.days), until

    def all_columns(self) -> tuple[str, ...]:
        if self.report:
            return COLUMNS[self.report]
        found = self.columns or list(dict.fromkeys(name for line in self.data or [] for name in line))
        return tuple(found[:_MAX_COLUMNS])


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a job of kind ``report.generate`` made, or one of a pack. ``lines`` are those of its table."""

    report_id: UUID
    name: str
    title: str
    format: Literal["html", "csv", "json", "xlsx", "zip"]
    media_type: str
    sha256: str
    size: int
    lines: int
    created_at: datetime
    expires_at: datetime
