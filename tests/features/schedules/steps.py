"""What the tests of schedules do over and over: set the clock, fire, look at ticks and jobs."""

from datetime import UTC, datetime
from typing import Any

from leasehold.database.database import Database
from leasehold.engine import jobs, leases
from leasehold.job import AttemptOutcome, Job
from leasehold.program.client import Client
from tests.cell import Cell


async def set_clock(cell: Cell, moment: datetime) -> None:
    """Let the database's clock show this moment, and run on from there."""
    await cell.change(
        "update leasehold_test.clock"
        f" set offset_s = extract(epoch from timestamptz '{moment.isoformat()}' - clock_timestamp())"
    )


async def made(client: Client, name: str) -> list[Job]:
    """The jobs of a schedule, the oldest first."""
    return (await client.list_jobs(tag=f"schedule:{name}", limit=1000))[::-1]


async def outcomes(client: Client, name: str) -> list[tuple[str, str]]:
    """The newest ticks by their hour and minute in UTC, and what became of them; the oldest first."""
    ticks = await client.schedules.ticks(name)
    return [(f"{tick.tick_at.astimezone(UTC):%H:%M}", tick.outcome) for tick in reversed(ticks)]


async def end_all(db: Database, outcome: str = "succeeded") -> int:
    """Claim and end what is queued, as a worker would."""
    worker = await leases.register_worker(
        db, name="w", version="0", queues=["default"], kinds={}, slots=1000, lease_s=60.0
    )
    grants = await jobs.claim(db, worker, ["default"], 1000)
    ended: list[Any] = [AttemptOutcome(token=grant.token, outcome=outcome) for grant in grants]
    await jobs.finish(db, ended)
    return len(grants)
