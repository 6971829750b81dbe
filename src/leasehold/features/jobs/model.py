"""Jobs as pages find and count them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Jobs that match; ``looked_to`` is where to look on, None when everything was looked at."""

    jobs: list[UUID]
    looked_to: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failed and dead jobs that have their error in common."""

    fingerprint: str
    kind: str
    type: str | None
    message: str | None
    n: int
    dead: int
    tenants: int
    first_at: datetime
    last_at: datetime
    newest: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    job_id: UUID
    kind: str
    queue: str
    waits_since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The jobs that a bulk action applied to at one moment. They can be acted on for an hour."""

    selection_id: UUID
    action: Literal["retry", "cancel", "delete"]
    filter: dict[str, str]
    count: int
    selected_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Selected):
    """The same of one tenant: all jobs that the action applied to, and none that came later."""

    tenant_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """How far a bulk action is. ``changed`` jobs were in another state since they were selected, or gone."""

    count: int
    done: int
    changed: int
    rest: bool
