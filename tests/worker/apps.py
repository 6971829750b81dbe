"""Handlers for workers that are real processes: each has a fault."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from leasehold.program.app import Leasehold
from leasehold.program.context import Context, SyncContext
from leasehold.program.outcomes import Fail

app = Leasehold()


@app.handler("t.fine")
async def fine(ctx: Context) -> int:
    return os.getpid()


@app.handler("t.loaded")
async def loaded(ctx: Context) -> list[str]:
    return sorted(sys.modules)


@app.handler("i.results", isolate=True)
async def results(ctx: Context) -> dict[str, Any]:
    """What an isolated step hears of its parents."""
    return await ctx.results()


@app.handler("t.slow")
async def slow(ctx: Context) -> str:
    await ctx.progress(1)
    await asyncio.sleep(60)
    return "slow"


@app.handler("t.block")
async def block(ctx: Context, seconds: float) -> str:
    """Blocks the event loop."""
    await ctx.progress(1)
    time.sleep(seconds)  # noqa: ASYNC251 – that is the fault
    return "blocked"


@app.handler("t.hang")
def hang(ctx: SyncContext, seconds: float) -> str:
    """Hangs in a thread."""
    ctx.progress(1)
    time.sleep(seconds)
    return "hung"


@app.handler("t.stubborn")
async def stubborn(ctx: Context) -> None:
    """Does not let itself be cancelled."""
    await ctx.progress(1)
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


@app.handler("t.abort", retry_base_s=0.05, retry_cap_s=0.1)
async def abort(ctx: Context) -> None:
    os.abort()


@app.handler("t.effect")
async def effect(ctx: Context, folder: str) -> str:
    """Has its effect once, by the job's id, and dies between the effect and its report, at first."""
    sink = Path(folder) / str(ctx.job_id)
    try:
        sink.touch(exist_ok=False)
    except FileExistsError:
        return "was done"
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


# -- in a process of their own ----------------------------------------------------------------------------------


@app.handler("i.fine", isolate=True)
async def isolated(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    await ctx.progress(50, "half")
    await ctx.log.info("from inside", pid=os.getpid())
    await ctx.extend(1000)
    return {"pid": os.getpid(), "order": order, "attempt": ctx.attempt, "kind": ctx.kind, "job": str(ctx.job_id)}


@app.handler("i.sync", isolate=True, memory_mb=512)
def isolated_sync(ctx: SyncContext, order: dict[str, Any]) -> str:
    ctx.progress(50)
    ctx.log.info("from inside")
    print("what a handler prints does not disturb the pipe")
    return "sync"


@app.handler("i.greedy", isolate=True, memory_mb=64, attempts=1)
def greedy(ctx: SyncContext) -> int:
    return len(bytearray(1 << 30))


@app.handler("i.die", isolate=True, attempts=1)
async def die(ctx: Context, how: str) -> None:
    match how:
        case "exit":
            os._exit(3)
        case "segfault":
            ctypes.string_at(0)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "abort":
            os.abort()
        case "fail":
            raise Fail("on purpose")
        case "raise":
            raise ValueError("an error inside")
        case "system exit":
            raise SystemExit(9)
        case "spin":
            while True:
                pass


@app.handler("i.wait", isolate=True, attempts=1)
async def wait(ctx: Context) -> str:
    await ctx.progress(1)
    await ctx.wait_cancelled()
    return "left by itself"
