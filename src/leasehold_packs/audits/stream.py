"""An audit as server-sent events, one ``patch`` for each of its events."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold_packs.audits import service
from leasehold_packs.runs import stream

#: Seconds between two looks.
LOOK_SECONDS = 0.5


def follow(tenant: Any, run_id: UUID, last_event_id: str | None) -> AsyncGenerator[web.Message, None]:
    return stream.follow(partial(_look, tenant, run_id), last_event_id, what="audit", every_s=LOOK_SECONDS)


async def is_over(tenant: Any, run_id: UUID, last_event_id: str | None) -> bool:
    return await stream.is_over(partial(_look, tenant, run_id), last_event_id)


async def _look(tenant: Any, run_id: UUID, after: int | None) -> stream.Looked:
    """The run, and then its events: an end that is seen has all its events with it."""
    async with tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        events = []
        if after is not None and run["seq"] > after:
            events = await service.list_events(tx, run_id, after=after)
    told = {name: value for name, value in run.items() if name not in ("options", "report")}
    return stream.Looked(
        seq=run["seq"],
        running=run["state"] == "running",
        state=told,
        end=told,
        patches=[(event["seq"], event) for event in events],
    )
