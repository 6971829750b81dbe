"""Handlers of a worker that lives in chaos. Whatever they write says which attempt of which worker wrote it."""

import asyncio
import os
from pathlib import Path
from typing import Any

from leasehold import Context, Fail, Item, Leasehold, Snooze, SyncContext, group, step
from tests.faults.apps import append

app = Leasehold()
WORKER = os.environ.get("CHAOS_WORKER", "nobody")
SINK = os.environ.get("CHAOS_SINK", os.devnull)
QUICK: dict[str, Any] = {"retry_base_s": 0.1, "retry_cap_s": 0.5, "max_attempts": 30}
EFFECT = "insert into chaos.effect (job_id, attempt, worker) values ($1, $2, $3)"


def author(ctx: Context | SyncContext) -> dict[str, Any]:
    return {"attempt": ctx.attempt, "worker": WORKER}


def signed(ctx: Context | SyncContext) -> str:
    """The same in words: for progress and for errors."""
    return f"attempt {ctx.attempt} of {WORKER}"


@app.handler("c.plain", **QUICK)
async def plain(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    append(SINK, f"{ctx.job_id} {ctx.attempt} {WORKER}")
    await ctx.progress(50, signed(ctx))
    for _ in range(order.get("words", 0)):  # one that was frozen goes on talking when it wakes up
        await asyncio.sleep(0.2)
        await ctx.progress(60, signed(ctx))
    await asyncio.sleep(order.get("seconds", 0))
    if ctx.attempt <= order.get("errors", 0):
        raise RuntimeError(signed(ctx))
    return author(ctx)


@app.handler("c.doomed", retry_base_s=0.1, retry_cap_s=0.2, attempts=2)
async def doomed(ctx: Context, order: dict[str, Any]) -> None:
    if order["permanent"]:
        raise Fail(signed(ctx))
    raise RuntimeError(signed(ctx))


@app.handler("c.snooze", **QUICK)
async def snooze(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    if _is_first(Path(f"{SINK}.{ctx.job_id}")):
        raise Snooze(signed(ctx), after=0.3)
    return author(ctx)


def _is_first(mark: Path) -> bool:
    if mark.exists():
        return False
    mark.touch()
    return True


@app.handler("c.sync", **QUICK)
def sync(ctx: SyncContext, order: dict[str, Any]) -> dict[str, Any]:
    ctx.progress(10, signed(ctx))
    ctx.wait_cancelled(order.get("seconds", 0))
    return author(ctx)


@app.handler("c.isolated", isolate=True, **QUICK)
async def isolated(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    return author(ctx)


@app.handler("c.poison", retry_base_s=0.1, retry_cap_s=0.2, attempts=2)
async def poison(ctx: Context, order: dict[str, Any]) -> None:
    """Takes its whole worker down, each time."""
    os.abort()


@app.handler("c.limited", **QUICK)
async def limited(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(order.get("seconds", 0))
    return author(ctx)


@app.handler("c.asked", **QUICK)
async def asked(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    """Was enqueued in its caller's own transaction."""
    return author(ctx)


@app.handler("c.unique", **QUICK)
async def unique(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(order.get("seconds", 0))
    return author(ctx)


@app.handler("c.pack", **QUICK)
async def pack(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    """A row of its own, a child and the outcome, in one transaction."""
    async with ctx.transaction() as tx:
        await tx.execute(EFFECT, ctx.job_id, ctx.attempt, WORKER)
        await tx.enqueue("c.child", {"parent": str(ctx.job_id)})
        await asyncio.sleep(order.get("seconds", 0))
        return await tx.complete(author(ctx))


@app.handler("c.child", **QUICK)
async def child(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    return author(ctx)


@app.handler("c.fan", **QUICK)
async def fan(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    async with ctx.transaction() as tx:
        await tx.add(group(step("c.leaf", {"n": n}) for n in range(order["width"])))
        return await tx.complete(author(ctx))


@app.handler("c.leaf", **QUICK)
async def leaf(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0.02)
    return author(ctx)


@app.handler("c.sum", **QUICK)
async def total(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    """Behind the barrier."""
    async with ctx.transaction() as tx:
        await tx.execute(EFFECT, ctx.job_id, ctx.attempt, WORKER)
        return await tx.complete(author(ctx))


@app.handler("c.probe", **QUICK)
async def probe(ctx: Context) -> dict[str, Any]:
    return author(ctx)


@app.handler("c.tick", **QUICK)
async def tick(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    return author(ctx)


@app.handler("c.secret", **QUICK)
async def secret(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    """Tells its secret wherever it can: in progress, in its log, in an error, in its result."""
    value = await ctx.secret("chaos")
    await ctx.progress(1, f"{signed(ctx)} {value}")
    await ctx.log.info("the secret is", value=value)
    if ctx.attempt == 1:
        raise RuntimeError(f"{signed(ctx)} {value}")
    return author(ctx) | {"told": value}


@app.batch("c.batch", size=20, wait=0.05, **QUICK)
async def batch(items: list[Item[dict[str, Any]]]) -> list[Any]:
    return [author(item.ctx) for item in items]
