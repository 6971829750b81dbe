"""Bulk actions: select the jobs that a filter fits, then act on those and no others."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.features.jobs.model import Acted, Selection
from leasehold.job import Enqueued, State


async def count_to_act(db: Database, tenant: UUID, action: str, filters: Mapping[str, Any]) -> int:
    """How many jobs a bulk action would apply to now."""
    return int(
        await db.value("count_matching_action", action, json_codec.encode(filters, what="filter"), tenant=tenant)
    )


async def select_jobs(db: Database, tenant: UUID | None, action: str, filters: Mapping[str, Any]) -> list[Selection]:
    """One selection for the tenant. Without one, as the operator: one for each tenant that has such jobs."""
    rows = await db.call("select_jobs", action, json_codec.encode(filters, what="filter"), tenant=tenant)
    return [
        Selection(
            selection_id=row["selection_id"],
            tenant_id=row["tenant_id"],
            action=row["action"],
            filter=json_codec.decode(row["filter"]),
            count=row["n"],
            selected_at=row["selected_at"],
        )
        for row in rows
    ]


async def begin(
    db: Database, tenant: UUID, selection_id: UUID, reason: str | None = None, *, delay_s: float = 0.0
) -> tuple[Enqueued, int]:
    """The job that acts on the selected jobs after so many seconds, and how many they are."""
    [row] = await db.call("start_selected_action", selection_id, reason, delay_s, tenant=tenant)
    return Enqueued(row["job_id"], State(row["state"]), row["created"]), row["count"]


async def act(db: Database, tenant: UUID, by: UUID, reason: str | None) -> Acted:
    """Act on the next piece of what was selected for the job ``by``."""
    [row] = await db.call("run_selected_action", by, reason, tenant=tenant)
    return Acted(count=row["p_count"], done=row["p_done"], changed=row["p_changed"], rest=row["p_rest"])
