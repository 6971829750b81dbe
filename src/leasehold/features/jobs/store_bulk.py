"""Bulk actions: select the jobs that a filter fits, then act on those and no others."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import payload
from leasehold.engine.database import Database
from leasehold.job import Enqueued, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The jobs of one tenant that an action applied to at one moment: all of them, and none that came later."""

    selection_id: UUID
    tenant_id: UUID
    action: str
    filter: dict[str, Any]
    count: int
    selected_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """How far a bulk action is. ``changed`` jobs were in another state since they were selected, or gone."""

    count: int
    done: int
    changed: int
    rest: bool


async def count_to_act(db: Database, tenant: UUID, action: str, filters: Mapping[str, Any]) -> int:
    """How many jobs a bulk action would apply to now."""
    return int(await db.value("count_to_act", action, payload.encode(filters, what="filter"), tenant=tenant))


async def select_jobs(db: Database, tenant: UUID | None, action: str, filters: Mapping[str, Any]) -> list[Selection]:
    """One selection for the tenant. Without one, as the operator: one for each tenant that has such jobs."""
    rows = await db.call("select_jobs", action, payload.encode(filters, what="filter"), tenant=tenant)
    return [
        Selection(
            selection_id=row["selection_id"],
            tenant_id=row["tenant_id"],
            action=row["action"],
            filter=payload.decode(row["filter"]),
            count=row["n"],
            selected_at=row["selected_at"],
        )
        for row in rows
    ]


async def begin(
    db: Database, tenant: UUID, selection_id: UUID, reason: str | None = None, *, delay_s: float = 0.0
) -> tuple[Enqueued, int]:
    """The job that acts on the selected jobs after so many seconds, and how many they are."""
    [row] = await db.call("begin_selected", selection_id, reason, delay_s, tenant=tenant)
    return Enqueued(row["job_id"], State(row["state"]), row["created"]), row["count"]


async def act(db: Database, tenant: UUID, by: UUID, reason: str | None) -> Acted:
    """Act on the next piece of what was selected for the job ``by``."""
    [row] = await db.call("act_on_selected", by, reason, tenant=tenant)
    return Acted(count=row["p_count"], done=row["p_done"], changed=row["p_changed"], rest=row["p_rest"])
