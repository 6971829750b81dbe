"""A run as server-sent events, one ``patch`` for all that has changed since the last look."""

from functools import partial
from uuid import UUID

from leasehold import Access, web
from leasehold_packs.postings import store_runs
from leasehold_packs.runs import stream
from leasehold_packs.runs.snapshot import Snapshot

#: Seconds between two looks.
LOOK_SECONDS = 1.0


async def respond(tenant: web.Tenant, run_id: UUID, last_event_id: str | None) -> web.Response:
    read = partial(snapshot, tenant, run_id)
    return await stream.respond(tenant, read, last_event_id, noun="run", every_s=LOOK_SECONDS)


async def snapshot(access: Access, run_id: UUID, after: int | None) -> Snapshot:
    async with access.transaction() as tx:
        found = await store_runs.run_changes(tx, run_id, after=after or 0)
    return Snapshot(
        seq=found.seq,
        is_running=found.state == "running",
        state=found,
        end={"state": found.state, "reason": found.reason},
        patches=[(found.seq, found)] if after is not None and found.seq > after else [],
    )
