"""``python -m tests.chaos.remote_worker NAME URL``: a worker over HTTP, for the jobs of its queue of every tenant."""

import asyncio
import os
import sys
from typing import Any

from leasehold.remote import Context, Worker
from tests.chaos.plan import LEASE_SECONDS

QUEUE = "remote"
KIND = "c.remote"


def main(name: str, url: str) -> None:
    worker = Worker(
        url,
        os.environ["CHAOS_KEY"],
        queues=[QUEUE],
        slots=4,
        name=name,
        lease_s=LEASE_SECONDS,
        grace_s=5.0,
        cancel_grace_s=0.5,
    )

    @worker.handler(KIND)
    async def work(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
        """Signs whatever it says, as the handlers of ``tests.chaos.app``."""
        signed = f"attempt {ctx.attempt} of {name}"
        await ctx.progress(50, signed)
        for _ in range(order.get("words", 0)):
            await asyncio.sleep(0.2)
            await ctx.progress(60, signed)
        if ctx.attempt <= order.get("errors", 0):
            raise RuntimeError(signed)
        return {"attempt": ctx.attempt, "worker": name}

    worker.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
