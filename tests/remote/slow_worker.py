"""A remote worker as a program of its own: it says ``started`` and never ends a job of its own accord."""

import asyncio
import sys

from leasehold.remote import Context, Worker


def main(url: str, key: str, kind: str) -> None:
    worker = Worker(url, key, name="remote", slots=3, lease_s=2.0)

    @worker.handler(kind)
    async def slow(ctx: Context) -> str:
        await ctx.progress(1, "started")
        await asyncio.Event().wait()
        return "by the remote worker"

    worker.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
