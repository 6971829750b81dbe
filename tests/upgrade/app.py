"""Handlers that programs of every release can run."""

import asyncio
from typing import Any

from leasehold.program.app import Leasehold
from leasehold.program.context import Context

app = Leasehold()
#: In the test's schema. Without a key: a row that is written twice shall be seen twice.
TABLE = """
create table leasehold_test.effect (job_id uuid not null);
grant select, insert on leasehold_test.effect to leasehold_worker;
"""


@app.handler("u.once", retry_base_s=0.05, retry_cap_s=0.2, attempts=20)
async def once(ctx: Context, order: dict[str, Any]) -> str:
    """Writes its row in the transaction of its outcome."""
    await ctx.progress(50, "half")
    await asyncio.sleep(0.01)
    if ctx.attempt <= order.get("errors", 0):
        raise RuntimeError("on purpose")
    async with ctx.transaction() as tx:
        await tx.execute("insert into leasehold_test.effect (job_id) values ($1)", ctx.job_id)
        return await tx.complete("done")
