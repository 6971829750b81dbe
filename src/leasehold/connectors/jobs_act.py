"""``jobs.act``: retry, cancel or delete every job of the tenant that fits a filter, as a job of its own."""

from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leasehold.app import Leasehold
from leasehold.context import Context
from leasehold.engine import jobs
from leasehold.engine.scope import Acting
from leasehold.errors import BadInput
from leasehold.outcomes import Cancel, Fail

KIND = "jobs.act"
#: Jobs that one transaction acts on.
PIECE = 500

app = Leasehold()


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Order:
    """What to do to which jobs. ``filter`` is that of the list of jobs, and never empty."""

    action: Literal["retry", "cancel", "delete"]
    filter: dict[str, Any] = Field(min_length=1)
    reason: str | None = None


@app.handler(KIND, timeout=6 * 3600)
async def act(ctx: Context, order: Order) -> dict[str, int]:
    """Act on all jobs that fit a filter and are older than this one."""
    try:
        return {"done": await _act(ctx, order)}
    except BadInput as problem:
        raise Fail(str(problem)) from None


async def _act(ctx: Context, order: Order) -> int:
    db = Acting(ctx.link.db, f"job {ctx.job_id}")
    total = await jobs.count_to_act(db, ctx.tenant_id, order.action, order.filter)
    done, seen = 0, 0
    before: UUID | None = None
    while not ctx.cancelled:
        n, before = await jobs.act_on_jobs(
            db,
            ctx.tenant_id,
            ctx.job_id,
            order.action,
            order.filter,
            before=before,
            limit=PIECE,
            reason=order.reason,
        )
        done, seen = done + n, seen + PIECE
        # An attempt that has lost its lease ends here: its successor passes over what is done.
        await ctx.progress(min(100 * seen / max(total, 1), 100), f"{done} jobs")
        if before is None:
            return done
    raise Cancel(f"stopped after {done} jobs")
