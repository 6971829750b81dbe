"""Kinds to try things with: ``leasehold run demo.hello --follow``."""

import asyncio
from dataclasses import dataclass

from leasehold.features.demo import shop_handlers
from leasehold.program.app import Leasehold
from leasehold.program.context import Context

app = Leasehold()
app.include(shop_handlers.app)


@dataclass(frozen=True, slots=True)
class Hello:
    name: str = "world"
    steps: int = 5


@dataclass(frozen=True, slots=True)
class Slow:
    seconds: float = 10.0


@app.handler("demo.hello")
async def hello(ctx: Context, order: Hello) -> str:
    """Greet in a few steps, with progress."""
    for step in range(1, order.steps + 1):
        await asyncio.sleep(0.1)
        await ctx.progress(100 * step / order.steps, f"step {step} of {order.steps}")
    return f"Hello, {order.name}!"


@app.handler("demo.fail", attempts=3, retry_base_s=0.2)
async def fail(ctx: Context) -> None:
    """Fail every time, so that retries and the dead state can be seen."""
    raise RuntimeError(f"attempt {ctx.attempt} of {ctx.max_attempts} failed on purpose")


@app.handler("demo.slow")
async def slow(ctx: Context, order: Slow) -> float:
    """Take a while, with progress ten times a second."""
    steps = max(1, round(order.seconds * 10))
    for step in range(1, steps + 1):
        await asyncio.sleep(0.1)
        await ctx.progress(100 * step / steps)
    return order.seconds
