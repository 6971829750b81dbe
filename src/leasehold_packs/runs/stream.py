"""A run of a pack as server-sent events: ``state`` with everything, then ``patch`` for what changes, then ``end``.

The id of a message is the number of the newest change that its reader then knows, and the end has an id of its own:
``web.Position``. Changes of a run are numbered under a lock, so a reader that comes back with a number gets everything
after it, once.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from leasehold import web

#: A stream ends after so long; browsers come back by themselves, and go on where they were.
LONGEST_SECONDS = 60.0


class Looked(NamedTuple):
    """A run at one moment."""

    seq: int  # of its newest change
    running: bool
    state: dict[str, Any]
    end: dict[str, Any]
    patches: Sequence[tuple[int, dict[str, Any]]]  # what has changed, each with the number that it leads to


#: Looks at a run, and at its changes after a number; after None, at none of them. A transaction of its own.
Look = Callable[[int | None], Awaitable[Looked]]


async def follow(
    look: Look, last_event_id: str | None, *, what: str, every_s: float
) -> AsyncGenerator[web.Message, None]:
    """The messages of one stream."""
    last, run = web.Position.parse(last_event_id), await look(None)
    if last is None or last.seq > run.seq:
        if last_event_id:
            yield _message("reset", run.seq, {"reason": f"the last message is not one of this {what}"})
        yield _message("state", run.seq, run.state)
        last = web.Position(run.seq)
    after = last.seq
    passed = 0.0
    while True:
        run = await look(after)
        for after, patch in run.patches:
            yield _message("patch", after, patch)
        if not run.running and after >= run.seq:
            yield _message("end", str(web.Position(after, has_ended=True)), run.end)
            return
        if passed >= LONGEST_SECONDS:
            return
        await asyncio.sleep(every_s)
        passed += every_s


async def is_over(look: Look, last_event_id: str | None) -> bool:
    """Whether a reader has seen the end: then it need not come back."""
    run = await look(None)
    return not run.running and web.Position.parse(last_event_id) == web.Position(run.seq, has_ended=True)


def _message(event: str, position: int | str, data: dict[str, Any]) -> web.Message:
    return web.Message(event=event, id=position, data=to_jsonable_python(data))
