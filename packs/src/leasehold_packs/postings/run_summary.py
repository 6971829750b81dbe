"""What the steps of a run have to say, merged: written in the transactions of the steps, read by run."""

from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from leasehold import Transaction

if TYPE_CHECKING:
    from leasehold import web

#: The steps of a run, as their lines are tagged.
Part = Literal["list", "detail", "settle", "finish"]


async def write(
    tx: Transaction,
    tenant: UUID,
    run_id: UUID,
    source_id: UUID | None,
    part: Part,
    message: str,
    *,
    level: str = "info",
) -> None:
    await tx.execute(
        "insert into leasehold_postings.run_log (tenant_id, run_id, source_id, part, level, message)"
        " values ($1, $2, $3, $4, $5, $6)",
        tenant, run_id, source_id, part, level, message,
    )  # fmt: skip


async def read(
    tx: "web.Transaction", run_id: UUID, *, groups: list[Part] | None, after: int, limit: int
) -> list[dict[str, Any]]:
    """The oldest first; ``source`` says whose line it is."""
    rows = await tx.fetch(
        "select log_id, 'postings.' || part as source, source_id, level, message, at from leasehold_postings.run_log"
        " where run_id = $1 and log_id > $2 and ($3::text[] is null or part = any($3)) order by log_id limit $4",
        run_id, after, groups, limit,
    )  # fmt: skip
    return [dict(row) for row in rows]
