"""A run as server-sent events: ``state`` with everything, then ``patch`` for what changes, then ``end``.

The id of a message is the number of the newest change that its reader then knows, and the end has an id of its own:
``web.Position``. Changes of a run are numbered under a lock, so a reader that comes back with a number gets everything
after it, once.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from pydantic_core import to_jsonable_python

from leasehold import web
from leasehold_packs.runs.snapshot import Data, Read

#: A stream ends after this many seconds; browsers come back by themselves, and go on where they were.
LONGEST_SECONDS = 60.0
#: How the document of the API describes such a route.
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "The stream"},
    204: {"description": "The end was seen: the browser need not come back"},
}


async def respond(
    tenant: web.Tenant, read: Read, last_event_id: str | None, *, noun: str, every_s: float
) -> web.Response:
    """The stream of a run; 204 for a reader that has seen its end."""
    run = await read(None)
    if not run.is_running and web.Position.parse(last_event_id) == web.Position(run.seq, has_ended=True):
        return web.Response(None, 204)
    return web.stream(tenant, follow(read, last_event_id, noun=noun, every_s=every_s))


async def follow(
    read: Read, last_event_id: str | None, *, noun: str, every_s: float
) -> AsyncGenerator[web.Message, None]:
    """The messages of one stream."""
    last, run = web.Position.parse(last_event_id), await read(None)
    if last is None or last.seq > run.seq:
        if last_event_id:
            yield _message("reset", run.seq, {"reason": f"the last message is not one of this {noun}"})
        yield _message("state", run.seq, run.state)
        last = web.Position(run.seq)
    after = last.seq
    passed = 0.0
    while True:
        run = await read(after)
        for after, patch in run.patches:
            yield _message("patch", after, patch)
        if not run.is_running and after >= run.seq:
            yield _message("end", str(web.Position(after, has_ended=True)), run.end)
            return
        if passed >= LONGEST_SECONDS:
            return
        await asyncio.sleep(every_s)
        passed += every_s


def _message(event: str, position: int | str, data: Data) -> web.Message:
    return web.Message(event=event, id=position, data=to_jsonable_python(data))
