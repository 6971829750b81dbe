"""Gates as their tenants see them, and jobs that wait at them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate as its tenant sees it. ``rule`` names the rule that holds: its own, or its class's.

    Of a class, and of a gate that all tenants share, no state is told.
    """

    gate: str
    shared: bool
    rule: str | None
    rate: int | None
    per_s: float | None
    burst: int | None
    failures: int | None
    ratio: float | None
    window_s: float | None
    cooldown_s: float | None
    probes: int | None
    state: Literal["closed", "open", "half-open"] | None
    next_at: datetime | None
    failed: int | None
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Jobs that wait for the same: ``what`` is group, gate or limit (of what their tenant runs at once)."""

    what: str
    tenant_id: UUID
    name: str | None
    waiting: int  # up to MOST_WAITING
    first_job: UUID
    running: int | None
    at_once: int | None
    held_by: UUID | None  # the job that failed and keeps its group waiting for a person
    state: str | None
    next_at: datetime | None
