"""Handlers whose every attempt is counted in a file."""

import asyncio
import os
from typing import Any

from leasehold import Context, Leasehold

app = Leasehold()


@app.handler("c.work", queue="work", max_attempts=1)
async def work(ctx: Context, order: dict[str, Any]) -> str:
    _append(order["sink"], str(ctx.job_id))
    await asyncio.sleep(order.get("seconds", 0))
    async with ctx.transaction() as tx:
        return await tx.complete(str(ctx.tenant_id))


def _append(path: str, line: str) -> None:
    """In one write, so that lines of several processes do not mix."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0) as sink:
        sink.write(f"{line}\n".encode())
