"""Handlers that ask for jobs themselves."""

from typing import Any

from leasehold import Context, Leasehold, SyncContext
from leasehold.errors import LeaseholdError

app = Leasehold()
Orders = list[dict[str, Any]]


@app.handler("w.ctx", queue="handlers")
async def ctx(ctx: Context, orders: Orders) -> list[dict[str, str]]:
    return [await _asked(ctx, one) for one in orders]


@app.handler("w.isolated", queue="handlers", isolate=True)
async def isolated(ctx: Context, orders: Orders) -> list[dict[str, str]]:
    return [await _asked(ctx, one) for one in orders]


@app.handler("w.sync", queue="handlers")
def sync(ctx: SyncContext, orders: Orders) -> list[dict[str, str]]:
    said = []
    for one in orders:
        try:
            made = ctx.enqueue(one["kind"], one["payload"], key=one["key"], **one["options"])
            said.append({"id": str(made.job_id)})
        except LeaseholdError as problem:
            said.append({"refused": str(problem)})
    return said


@app.handler("w.tx", queue="handlers")
async def tx(ctx: Context, orders: Orders) -> list[dict[str, str]]:
    said = []
    for one in orders:
        try:
            async with ctx.transaction() as tx:
                made = await tx.enqueue(one["kind"], one["payload"], key=one["key"], **one["options"])
            said.append({"id": str(made.job_id)})
        except LeaseholdError as problem:
            said.append({"refused": str(problem)})
    return said


async def _asked(ctx: Context, one: dict[str, Any]) -> dict[str, str]:
    try:
        made = await ctx.enqueue(one["kind"], one["payload"], key=one["key"], **one["options"])
    except LeaseholdError as problem:
        return {"refused": str(problem)}
    return {"id": str(made.job_id)}
