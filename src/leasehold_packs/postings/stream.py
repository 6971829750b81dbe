"""A run as server-sent events, one ``patch`` for all that has changed since the last look."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold_packs.postings import service
from leasehold_packs.runs import stream

#: Seconds between two looks.
LOOK_SECONDS = 1.0


def follow(tenant: Any, run_id: UUID, last_event_id: str | None) -> AsyncGenerator[web.Message, None]:
    return stream.follow(partial(_look, tenant, run_id), last_event_id, what="run", every_s=LOOK_SECONDS)


async def is_over(tenant: Any, run_id: UUID, last_event_id: str | None) -> bool:
    return await stream.is_over(partial(_look, tenant, run_id), last_event_id)


async def _look(tenant: Any, run_id: UUID, after: int | None) -> stream.Looked:
    async with tenant.transaction() as tx:
        told = await service.run_items(tx, run_id, after=after or 0)
    return stream.Looked(
        seq=told["seq"],
        running=told["state"] == "running",
        state=told,
        end={"state": told["state"], "reason": told["reason"]},
        patches=[(told["seq"], told)] if after is not None and told["seq"] > after else [],
    )
