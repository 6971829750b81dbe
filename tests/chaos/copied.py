"""The app of a worker on a restored copy: there is no server, so it runs what others run over HTTP as well."""

from typing import Any

from leasehold import Context
from tests.chaos.app import QUICK, app, author, signed
from tests.chaos.remote_worker import KIND, QUEUE

__all__ = ["app"]


@app.handler(KIND, queue=QUEUE, **QUICK)
async def remote(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    await ctx.progress(50, signed(ctx))
    return author(ctx)
