"""Finished jobs by the million, written by SQL: no worker ever saw them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg

from leasehold.database.connection import BY_HAND, Connection, connect
from leasehold.database.errors import translated
from leasehold.settings import Settings

_STEP = 100_000


async def load(settings: Settings, jobs: int) -> None:
    """Set-wise into job and outcome; then what maintenance does with so many rows in the course of time."""
    statement = (Path(__file__).parent / "history.sql").read_text()
    assert settings.database_url is not None
    async with _owner(settings.database_url) as connection:
        tenants = [row[0] for row in await connection.fetch("select tenant_id from leasehold.tenant")]
        midnight, now = await connection.fetchrow("select date_trunc('day', now(), 'UTC'), now()")
        for first in range(1, jobs + 1, _STEP):
            last = min(jobs, first + _STEP - 1)
            await connection.execute(statement, first, last, jobs, tenants, midnight, now)
        await connection.execute("select leasehold.roll_up_job_counts()")
        await connection.execute("vacuum (analyze) leasehold.job, leasehold.outcome")


@asynccontextmanager
async def _owner(url: str) -> AsyncIterator[Connection]:
    """Somebody who may write the tables. No role that logs in may; whoever made the roles may become their owner."""
    with translated():
        connection = await connect(url, "leasehold-bench", deadline=BY_HAND, settings={"synchronous_commit": "off"})
        try:
            act_as = "set" if connection.get_server_version().major >= 16 else "member"
            may = await connection.fetchval("select pg_has_role(current_user, 'leasehold_owner', $1)", act_as)
            if not may:
                await connection.execute("grant leasehold_owner to current_user")
            try:
                await connection.execute("set role leasehold_owner")
                yield connection
            finally:
                await connection.execute("reset role")
                if not may:
                    await connection.execute("revoke leasehold_owner from current_user")
            # What was written is not written out during the measurement. Not every login may ask for that.
            with suppress(asyncpg.InsufficientPrivilegeError):
                await connection.execute("checkpoint")
        finally:
            await connection.close()
