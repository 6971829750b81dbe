"""A run at one moment, and what has changed since another: what streams and commands that wait look at."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

#: What is shown of a run: a dataclass, or an object of JSON.
Data = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one moment."""

    seq: int  # of its newest change
    is_running: bool
    state: Data
    end: Data
    patches: Sequence[tuple[int, Data]] = ()  # what has changed, each with the number that it leads to


#: Reads a run, and its changes after a number; after None, none of them. Each call has a transaction of its own.
Read = Callable[[int | None], Awaitable[Snapshot]]


async def wait(read: Read, *, every_s: float, on_patch: Callable[[Data], None] | None = None) -> None:
    """Until a run has ended, and all its changes were passed to ``on_patch``."""
    after = 0
    while True:
        run = await read(after)
        for seq, patch in run.patches:
            after = seq
            if on_patch is not None:
                on_patch(patch)
        if not run.is_running and after >= run.seq:
            return
        await asyncio.sleep(every_s)
