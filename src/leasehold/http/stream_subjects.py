"""What can be followed: a job or a flow. Both have numbered events and an end."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import jobs, progress
from leasehold.engine.progress import Head
from leasehold.features.flows.model import FlowInfo
from leasehold.features.flows.store import Flows
from leasehold.http.responses import read_json
from leasehold.job import Job

_ENDED = frozenset({"succeeded", "failed", "dead", "canceled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """``own`` raises NotFound for another tenant's; ``get`` may take longer, as it tells everything."""

    word: str
    heads: Callable[[Database, Sequence[UUID]], Awaitable[dict[UUID, Head]]]
    own: Callable[[Database, UUID, UUID], Awaitable[Job | FlowInfo]]
    get: Callable[[Database, UUID, UUID], Awaitable[Job | FlowInfo]]


def has_ended(one: Job | FlowInfo) -> bool:
    return one.state in _ENDED


async def _job(db: Database, tenant: UUID, job_id: UUID) -> Job:
    return await jobs.get_job(db, tenant, job_id, read_json)


async def _flow(db: Database, tenant: UUID, flow_id: UUID) -> FlowInfo:
    return await Flows(db, tenant, lambda: None).get(flow_id)


async def _uncounted_flow(db: Database, tenant: UUID, flow_id: UUID) -> FlowInfo:
    return await Flows(db, tenant, lambda: None).get(flow_id, counted=False)


JOB = Subject(word="job", heads=progress.job_heads, own=_job, get=_job)
FLOW = Subject(word="flow", heads=progress.flow_heads, own=_uncounted_flow, get=_flow)
