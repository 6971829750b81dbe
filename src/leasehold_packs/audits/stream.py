"""A run as server-sent events: ``state`` with the run, then ``patch`` for each event, then ``end``.

The id of a message is the number of the newest event that its reader then knows. Events of a run are numbered under a
lock, so whoever comes back with a number gets everything after it, once.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from leasehold import web
from leasehold_packs.audits import requests

#: Seconds between two looks.
LOOK_SECONDS = 0.5
#: A stream ends after so long; browsers come back by themselves, and go on where they were.
LONGEST_SECONDS = 60.0


async def follow(tenant: Any, run_id: UUID, last_event_id: str | None) -> AsyncGenerator[web.Message, None]:
    """The messages of one stream. Each look is a short transaction of its own."""
    after = number(last_event_id)
    run, _ = await _look(tenant, run_id, 0)
    if after is None or after > run["seq"]:
        if last_event_id:
            yield _message("reset", run["seq"], {"reason": "the last message is not one of this audit"})
        yield _message("state", run["seq"], run)
        after = run["seq"]
    passed = 0.0
    while True:
        run, events = await _look(tenant, run_id, after)
        for event in events:
            after = event["seq"]
            yield _message("patch", after, event)
        if run["state"] != "running" and after >= run["seq"]:
            yield _message("end", after, run)
            return
        if passed >= LONGEST_SECONDS:
            return
        await asyncio.sleep(LOOK_SECONDS)
        passed += LOOK_SECONDS


async def is_over(tenant: Any, run_id: UUID, last_event_id: str | None) -> bool:
    """Whether a reader has seen the end: then it need not come back."""
    run, _ = await _look(tenant, run_id, 0)
    return bool(run["state"] != "running" and number(last_event_id) == run["seq"])


async def _look(tenant: Any, run_id: UUID, after: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The run, and then its events: an end that is seen has all its events with it."""
    async with tenant.transaction() as tx:
        run = await requests.get_run(tx, run_id)
        events = await requests.list_events(tx, run_id, after=after) if run["seq"] > after else []
    return {name: value for name, value in run.items() if name not in ("options", "report")}, events


def _message(event: str, position: int, data: dict[str, Any]) -> web.Message:
    return web.Message(event=event, id=position, data=to_jsonable_python(data))


def number(last_event_id: str | None) -> int | None:
    text = (last_event_id or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
