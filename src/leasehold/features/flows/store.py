"""Flows: start them, look at them, stop them, and answer what they wait for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Literal
from uuid import UUID

import asyncpg

from leasehold import json_codec
from leasehold.database.actor import ActorDatabase
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.engine.progress import Head
from leasehold.features.flows.model import (
    Approval,
    Flow,
    FlowInfo,
    FlowState,
    FoundFlows,
    Parent,
    Piece,
    Prepare,
    StepInfo,
    flow_of,
    plain_prepare,
)
from leasehold.job import Event

_FOLLOW_SECONDS = 0.1
Canceled = FlowState | Literal["requested"]


class Flows:
    """The flows of one tenant: ``client.flows``."""

    def __init__(self, db: Database, tenant_id: UUID, announce: Callable[[], None]) -> None:
        self._db = db
        self._tenant = tenant_id
        self._announce = announce

    async def start(self, flow: Flow | Piece, *, name: str = "flow", prepare: Prepare = plain_prepare) -> UUID:
        """All its steps, or none; the flow's id."""
        built = flow_of(flow, name)
        flow_id = await start_flow(self._db, self._tenant, built, prepare)
        self._announce()
        return flow_id

    async def get(self, flow_id: UUID, *, counted: bool = True) -> FlowInfo:
        """Counting its steps takes a look at each of them."""
        return FlowInfo.from_row((await self._db.call("get_flow", flow_id, counted, tenant=self._tenant))[0])

    async def list(
        self, *, state: str | None = None, name: str | None = None, before: UUID | None = None, limit: int = 50
    ) -> list[FlowInfo]:
        """Newest first; the next page is before the last id of this one."""
        rows = await self._db.call("list_flows", state, name, before, limit, tenant=self._tenant)
        return [FlowInfo.from_row(row) for row in rows]

    async def steps(self, flow_id: UUID, *, after: UUID | None = None, limit: int = 1000) -> Sequence[StepInfo]:
        """In the order they were written; the next page is after the last job of this one."""
        rows = await self._db.call("list_steps", flow_id, after, limit, tenant=self._tenant)
        return [StepInfo.from_row(row) for row in rows]

    async def cancel(self, flow_id: UUID, reason: str | None = None) -> Canceled:
        """``canceled``; ``requested`` while something still runs; or how it had ended before."""
        became: Canceled = await self._db.value("cancel_flow", flow_id, reason, tenant=self._tenant)
        return became

    async def retry(self, flow_id: UUID) -> int:
        """Go on from what did not succeed; how many steps that are."""
        count = int(await self._db.value("retry_flow", flow_id, tenant=self._tenant))
        self._announce()
        return count

    async def events(self, flow_id: UUID, *, after: int = 0) -> Sequence[Event]:
        await self.get(flow_id, counted=False)
        return await jobs.events_since(self._db, self._tenant, flow_id, after)

    async def follow(self, flow_id: UUID) -> AsyncIterator[Event]:
        """Every event of a flow from its first to its end, as they come."""
        after, state = 0, "running"
        while True:
            for event in await self.events(flow_id, after=after):
                after, state = event.seq, event.type
                yield event
                if (
                    state in ("succeeded", "failed", "canceled")
                    and (await self.get(flow_id, counted=False)).state == state
                ):
                    return
            await asyncio.sleep(_FOLLOW_SECONDS)

    async def wait(self, flow_id: UUID, *, timeout: float | None = None) -> FlowInfo:
        """The flow when it has ended. Raises TimeoutError when that takes longer than ``timeout`` seconds."""
        async with asyncio.timeout(timeout):
            while True:
                if (await self.get(flow_id, counted=False)).state != "running":
                    return await self.get(flow_id)
                await asyncio.sleep(_FOLLOW_SECONDS)

    async def approvals(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Approval]:
        """What waits for a person, the oldest first."""
        rows = await self._db.call("list_approvals", after, limit, tenant=self._tenant)
        return [Approval.from_row(row) for row in rows]

    async def approve(self, job_id: UUID, note: str | None = None, *, actor: str | None = None) -> None:
        """Let the flow go on. The actor is who decided; without one it is the login of the database."""
        await self._as(actor).value("approve", job_id, note, tenant=self._tenant)
        self._announce()

    async def reject(self, job_id: UUID, note: str | None = None, *, actor: str | None = None) -> None:
        """Let the step fail; what becomes of those that wait for it is theirs to say."""
        await self._as(actor).value("reject", job_id, note, tenant=self._tenant)
        self._announce()

    async def send_signal(self, signal: str, key: str | UUID, value: Any = None) -> bool:
        """Whether a step has taken it already; otherwise it is kept for the first that waits for it."""
        text = json_codec.encode({} if value is None else value, what="signal")
        taken = bool(await self._db.value("send_signal", signal, str(key), text, tenant=self._tenant))
        self._announce()
        return taken

    def _as(self, actor: str | None) -> Database:
        return self._db if actor is None else ActorDatabase(self._db, actor)


# -- one function for each of SQL's that others need ------------------------------------------------------------------


async def start_flow(db: Database, tenant: UUID, flow: Flow, prepare: Prepare) -> UUID:
    asked = (flow.name, flow.asked(prepare), json_codec.encode(flow.options, what="options"))
    rows = await db.call("start_flow", *asked, tenant=tenant)
    started: UUID = rows[0][0]
    return started


async def add_steps(
    db: Database,
    token: int,
    part: Flow | Piece,
    prepare: Prepare,
    connection: asyncpg.Connection | None = None,
) -> None:
    """Under the token of a running step, in the transaction that ends it."""
    await db.call("add_steps", token, flow_of(part).asked(prepare, all_named=False), connection=connection)


async def list_parents(db: Database, token: int) -> list[Parent]:
    return [Parent.from_row(row) for row in await db.call("list_parents", token)]


async def flow_of_job(db: Database, tenant: UUID, job_id: UUID) -> UUID | None:
    """The flow that a job is a step of."""
    rows = await db.call("flow_of_job", job_id, tenant=tenant)
    return rows[0][0] if rows else None


async def flow_heads(db: Database, flows: Sequence[UUID]) -> dict[UUID, Head]:
    """How far flows are; a flow that is gone is not among them."""
    rows = await db.call("flow_progress", flows)
    return {flow_id: Head(seq=seq, ended=ended) for flow_id, seq, ended in rows}


async def tend_flows(db: Database) -> int:
    return int(await db.value("advance_flows"))


async def purge_flows(db: Database, *, history_days: int, limit: int = 100) -> int:
    return int(await db.value_long("purge_flows", history_days, limit))


async def find_flows(
    db: Database, tenant: UUID | None, state: str | None = None, *, before: UUID | None = None, limit: int = 50
) -> FoundFlows:
    rows = await db.call("find_flows", state, before, limit, tenant=tenant)
    return FoundFlows(**rows[0]) if rows else FoundFlows(flows=[], looked_to=None)


async def see_flows(db: Database, tenant: UUID | None, flows: Sequence[UUID]) -> list[FlowInfo]:
    """Without counts."""
    return [FlowInfo.from_row(row) for row in await db.call("list_flows_operator", flows, tenant=tenant)]


async def list_approvals(
    db: Database, tenant: UUID | None, *, after: UUID | None = None, limit: int = 50
) -> list[Approval]:
    """What waits for a person, the oldest first."""
    return [Approval.from_row(row) for row in await db.call("list_approvals", after, limit, tenant=tenant)]
