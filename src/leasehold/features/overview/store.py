"""What the overview counts."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leasehold.database.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Minute:
    """Attempts of one kind that ended so within one minute; the times are sums."""

    minute: datetime
    kind: str
    outcome: str
    n: int
    wait_ms: int
    run_ms: int


async def read_stat(db: Database, tenant: UUID | None, minutes: int = 60) -> list[Minute]:
    return [Minute(**row) for row in await db.call("list_job_counts", minutes, tenant=tenant)]
