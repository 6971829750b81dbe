"""A Python worker beside a TypeScript one: `python -m tests.typescript.mixed URL KEY NAME QUEUE LEASE_S`.

Its handlers are those of sdk/typescript/test/programs/mixed.ts, word for word: what becomes of their jobs is compared.
"""

import asyncio
import sys
from typing import Any
from uuid import UUID

from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze
from leasehold.remote import Context, Worker


class Broken(Exception):
    """An error that a handler did not expect."""


def main(url: str, key: str, name: str, queue: str, lease_s: str) -> None:
    worker = Worker(url, key, queues=[queue], name=name, slots=20, lease_s=float(lease_s))
    snoozed: set[UUID] = set()

    @worker.handler("t.mixed")
    async def mixed(ctx: Context, given: dict[str, Any]) -> Any:
        n, what = given["n"], given["what"]
        if what == "speaks":
            await ctx.progress(50, "half of it")
            await ctx.log.info("did it", n=n, password="correct horse")
        elif what == "retries" and ctx.attempt == 1:
            raise Retry("not yet", after=0.01)
        elif what == "snoozes" and ctx.job_id not in snoozed:
            snoozed.add(ctx.job_id)
            raise Snooze("later", after=0.01)
        elif what == "breaks":
            raise Broken(f"number {n} is broken")
        elif what == "fails":
            raise Fail("bad card")
        elif what == "cancels":
            raise Cancel("gone")
        elif what == "returns NaN":
            return float("nan")
        elif what == "takes too long":
            await asyncio.Event().wait()
        return {"n": n, "what": what}

    @worker.handler("t.slow")
    async def slow(ctx: Context, given: dict[str, Any]) -> str:
        await ctx.progress(1, f"started by {name}")
        if given["stuck_in"] == name:
            await asyncio.Event().wait()
        return f"by {name}"

    worker.main(log_level="debug")


if __name__ == "__main__":
    main(*sys.argv[1:])
