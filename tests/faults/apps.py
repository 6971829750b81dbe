"""Handlers for workers that are real processes and meet faults. ``sink`` is a file that every effect appends to."""

import asyncio
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

from leasehold.features.flows.model import group, step
from leasehold.program.app import Leasehold
from leasehold.program.context import Context

app = Leasehold()


@app.handler("f.work", retry_base_s=0.05, retry_cap_s=0.2, attempts=20)
async def work(ctx: Context, order: dict[str, Any]) -> str:
    """Has its effect once for each attempt, and takes a while."""
    append(order["sink"], f"{ctx.job_id} {ctx.attempt}")
    await ctx.progress(50, "half")
    await asyncio.sleep(order.get("seconds", 0))
    if ctx.attempt <= order.get("errors", 0):
        raise RuntimeError("on purpose")
    return str(ctx.tenant_id)


@app.handler("f.grouped", retry_base_s=0.02, retry_cap_s=0.05, attempts=50)
async def grouped(ctx: Context, order: dict[str, Any]) -> None:
    """Takes a while. The first time it may raise, or kill its process with all that runs there."""
    await asyncio.sleep(order["seconds"])
    if order["fate"] != "fine" and _is_first(Path(order["marks"]) / str(ctx.job_id)):
        if order["fate"] == "dies":
            _die()
        raise RuntimeError("on purpose")


@app.handler("f.watched", attempts=5)
async def watched(ctx: Context, order: dict[str, Any]) -> int:
    """Writes down when it began and when it was stopped, by the clock that all processes of a machine share."""
    append(order["sink"], f"began {ctx.attempt} {time.monotonic()}")
    if ctx.attempt > 1:
        return ctx.attempt
    try:
        await asyncio.sleep(60)
    finally:
        append(order["sink"], f"stopped {ctx.attempt} {time.monotonic()}")
    return 0


@app.handler("f.pack", retry_base_s=0.05, retry_cap_s=0.1, attempts=20)
async def pack(ctx: Context, order: dict[str, Any]) -> str:
    """Rows of its own, a child and the outcome, in one transaction."""
    async with ctx.transaction() as tx:
        await tx.execute(EFFECT, ctx.job_id, 1)
        await tx.enqueue("f.child", {"parent": str(ctx.job_id)})
        return await tx.complete("packed")


@app.handler("f.holds", retry_base_s=0.05, retry_cap_s=0.2, attempts=20)
async def holds(ctx: Context, order: dict[str, Any]) -> str:
    """Holds its transaction open for a while, and goes on with it."""
    async with ctx.transaction() as tx:
        await tx.execute("select 1")
        append(order["sink"], f"{ctx.job_id} {ctx.attempt}")
        await asyncio.sleep(order["seconds"])
        await tx.execute("select 2")
        return await tx.complete("held")


@app.handler("f.child", attempts=100)
async def child(ctx: Context, order: dict[str, Any]) -> str:
    return str(order["parent"])


@app.handler("f.fan", retry_base_s=0.05, retry_cap_s=0.1, attempts=100)
async def fan(ctx: Context, order: dict[str, Any]) -> int:
    """Finds so many leaves, and adds them to its flow as it ends."""
    async with ctx.transaction() as tx:
        seconds = order["seconds"]
        await tx.add(group(step("f.leaf", {"n": n, "seconds": seconds}) for n in range(order["width"])))
        return await tx.complete(order["width"])


@app.handler("f.leaf", retry_base_s=0.02, retry_cap_s=0.05, attempts=100)
async def leaf(ctx: Context, order: dict[str, Any]) -> int:
    await asyncio.sleep(random.uniform(0, order["seconds"]))
    return int(order["n"])


@app.handler("f.sum", retry_base_s=0.05, retry_cap_s=0.1, attempts=100)
async def total(ctx: Context, order: dict[str, Any]) -> int:
    """Behind the barrier: a row of its own for each time that it completes, with how many leaves it has heard of."""
    heard = {parent.result for parent in await ctx.parents() if parent.kind == "f.leaf" and parent.state == "succeeded"}
    async with ctx.transaction() as tx:
        await tx.execute(EFFECT, ctx.job_id, len(heard))
        return await tx.complete(len(heard))


#: Points at which f.crash dies. The one at COMMIT is a moment, not a statement.
POINTS = (
    "before", "begun", "first row", "second row", "first child", "second child", "completed", "at commit", "committed",
)  # fmt: skip


@app.handler("f.crash", retry_base_s=0.05, retry_cap_s=0.1, attempts=100)
async def crash(ctx: Context, order: dict[str, Any]) -> str:
    """The same in more steps; once in its life it kills its process at the point that its payload names."""

    def reached(point: str) -> None:
        if point == order["point"] and _is_first(Path(order["marks"]) / str(ctx.job_id)):
            if point == "at commit":
                threading.Timer(order["seconds"], _die).start()
            else:
                _die()

    reached("before")
    async with ctx.transaction() as tx:
        reached("begun")
        await tx.execute(EFFECT, ctx.job_id, 1)
        reached("first row")
        await tx.execute(EFFECT, ctx.job_id, 2)
        reached("second row")
        await tx.enqueue("f.child", {"parent": str(ctx.job_id)})
        reached("first child")
        await tx.enqueue("f.child", {"parent": str(ctx.job_id)})
        reached("second child")
        result = await tx.complete("crashed once")
        reached("completed")
        reached("at commit")
    reached("committed")
    return result


EFFECT = "insert into leasehold_test.effect (job_id, part) values ($1, $2)"
#: The table of the pack, for ``cell.change``. Without a key: a row that is written twice shall be
#: seen twice.
TABLE = """
create table leasehold_test.effect (job_id uuid not null, part integer not null);
grant select, insert on leasehold_test.effect to leasehold_worker;
"""


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def append(sink: str, line: str) -> None:
    """One write to the end: lines of several processes do not mix."""
    descriptor = os.open(Path(sink), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)
