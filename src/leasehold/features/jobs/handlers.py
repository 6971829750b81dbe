"""``jobs.act``: retry, cancel or delete the jobs that were selected for it, as a job of its own; ``jobs.ping``."""

from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from leasehold.database.actor import ActorDatabase
from leasehold.errors import NotFound
from leasehold.features.jobs import store_bulk
from leasehold.features.jobs.model import Acted
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Cancel, Fail

KIND = "jobs.act"
PING = "jobs.ping"

app = Leasehold()


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Order:
    """What was confirmed. The selection is found by the job's id; here it is for people to read."""

    action: Literal["retry", "cancel", "delete"]
    filter: dict[str, Any]
    reason: str | None = None
    selection: UUID | None = None
    count: int | None = None


@app.handler(KIND, timeout=6 * 3600, version=2)
async def act(ctx: Context, order: Order) -> dict[str, int]:
    """Act on the jobs that were selected for this one, and on no others."""
    db = ActorDatabase(ctx.link.db, f"job {ctx.job_id}")
    while not ctx.cancelled:
        try:
            acted = await store_bulk.act(db, ctx.tenant_id, ctx.job_id, order.reason)
        except NotFound as problem:
            raise Fail(f"{problem}; {problem.hint}") from None
        # An attempt that has lost its lease ends here: its successor goes on with the next piece.
        await ctx.progress(100 * (acted.done + acted.changed) / max(acted.count, 1), _words(acted))
        if not acted.rest:
            return {"selected": acted.count, "done": acted.done, "changed": acted.changed}
    raise Cancel(f"stopped: {_words(acted)}")


@act.upcast(1)
def _without_selection(order: Any) -> Any:
    return order


def _words(acted: Acted) -> str:
    """``20 of 25 jobs; 2 had changed since they were selected``"""
    changed = f"; {acted.changed} had changed since they were selected" if acted.changed else ""
    return f"{acted.done} of {acted.count} jobs{changed}"


@app.handler(PING)
async def ping(ctx: Context) -> str:
    """Answer; `leasehold up` proves with it that work really flows."""
    return "pong"
