"""What the workers of a benchmark run: ordinary handlers with typed payloads."""

import asyncio
import time

from pydantic import BaseModel

from leasehold.program.app import Leasehold
from leasehold.program.context import Context

NOOP, PROBE, NAP = "bench.noop", "bench.probe", "bench.nap"

app = Leasehold()


class Noop(BaseModel):
    number: int = 0


class Probe(BaseModel):
    t0: float


class Nap(BaseModel):
    seconds: float


@app.handler(NOOP)
async def noop(ctx: Context, job: Noop) -> None:
    pass


@app.handler(PROBE)
async def probe(ctx: Context, job: Probe) -> float:
    """Seconds since t0: the monotonic clock is the same for all processes of a machine."""
    return time.monotonic() - job.t0


@app.handler(NAP)
async def nap(ctx: Context, job: Nap) -> None:
    await asyncio.sleep(job.seconds)
