"""A run as server-sent events: ``state`` with everything, then ``patch`` with what has changed, then ``end``.

The id of a message is the number of the run that it leads to. Changes of a run are numbered under a lock, so whoever
comes back with a number gets everything after it, once.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from leasehold import web
from leasehold_packs.postings import requests

#: Seconds between two looks.
LOOK_SECONDS = 1.0
#: A stream ends after so long; browsers come back by themselves, and go on where they were.
LONGEST_SECONDS = 60.0


async def follow(tenant: Any, run_id: UUID, last_event_id: str | None) -> AsyncGenerator[web.Message, None]:
    """The messages of one stream. Each look is a short transaction of its own."""
    after, told = _number(last_event_id), await _look(tenant, run_id, 0)
    if after is None or after > told["seq"]:
        if last_event_id:
            yield _message("reset", told["seq"], {"reason": "the last message is not one of this run"})
        yield _message("state", told["seq"], told)
        after = told["seq"]
    passed = 0.0
    while True:
        told = await _look(tenant, run_id, after)
        if told["seq"] > after:
            after = told["seq"]
            yield _message("patch", after, told)
        if told["state"] != "running":
            yield _message("end", after, {"state": told["state"], "reason": told["reason"]})
            return
        if passed >= LONGEST_SECONDS:
            return
        await asyncio.sleep(LOOK_SECONDS)
        passed += LOOK_SECONDS


async def is_over(tenant: Any, run_id: UUID, last_event_id: str | None) -> bool:
    """Whether a reader has seen the end: then it need not come back."""
    told = await _look(tenant, run_id, 0)
    return bool(told["state"] != "running" and _number(last_event_id) == told["seq"])


async def _look(tenant: Any, run_id: UUID, after: int) -> dict[str, Any]:
    async with tenant.transaction() as tx:
        return await requests.run_items(tx, run_id, after=after)


def _message(event: str, position: int, data: dict[str, Any]) -> web.Message:
    return web.Message(event=event, id=position, data=to_jsonable_python(data))


def _number(last_event_id: str | None) -> int | None:
    text = (last_event_id or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
