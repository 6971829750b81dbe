"""What is typed into the search of jobs: ``kind:shop.refund state:dead tag:vip error:"timed out"``."""

import re
import shlex
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold.errors import BadInput

#: Every qualifier with what it finds.
QUALIFIERS = {
    "kind": "what to do: shop.refund",
    "queue": "the queue",
    "state": "queued, running, dead …",
    "tag": "one of its tags",
    "key": "its idempotency key",
    "error": "a part of the error of failed and dead jobs",
    "payload.x": "payload.order:4711, a value in the payload",
    "fingerprint": "the group on the page of failures",
    "created_after": "2030-01-31 or 2030-01-31T08:00Z",
    "created_before": "the same",
}
_PAYLOAD = re.compile(r"payload(\.[^.:]+)+")
_KIND = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """``job_id`` where an id was typed: there is only one such job."""

    filters: dict[str, Any]
    job_id: UUID | None = None


def parse(text: str) -> Search:
    """A word without a qualifier is an id, a kind, or a part of an error."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise BadInput("a quotation mark is open", hint='error:"timed out"') from None
    filters: dict[str, Any] = {}
    for word in words:
        name, colon, value = word.partition(":")
        if not colon:
            if (job_id := _id(word)) is not None:
                return Search(filters={}, job_id=job_id)
            name, value = ("kind", word) if _KIND.fullmatch(word) else ("error", word)
        if _PAYLOAD.fullmatch(name) and value:
            filters.setdefault("payload", {})[name.removeprefix("payload.")] = value
            continue
        if name not in QUALIFIERS:
            raise BadInput(f"there is no qualifier {name}:", hint=f"known: {', '.join(QUALIFIERS)}")
        if not value:
            raise BadInput(f"{name}: says nothing", hint=f"{name}: {QUALIFIERS[name]}")
        if name in filters:
            raise BadInput(f"{name}: is there twice")
        filters[name] = value
    return Search(filters=filters)


def _id(word: str) -> UUID | None:
    try:
        return UUID(word) if len(word) >= 32 else None
    except ValueError:
        return None
