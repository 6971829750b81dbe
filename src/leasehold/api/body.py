"""Bodies: read up to a bound, JSON only, and refused where two programs could read them differently."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from leasehold.api.problems import Problem
from leasehold.api.services import services_of

#: How deeply arrays and objects may stand in each other.
DEPTH = 64
#: So much of a body comes within ``LEASEHOLD_REQUEST_SECONDS``, or its end.
BYTES_IN_TIME = 512 * 1024


class StrictRequest(Request):
    """A request whose body is read by our rules. The framework asks it for ``body`` and ``json``."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            self._body = await read_body(self, services_of(self).settings.max_body_bytes)
            if self._body and not _is_json(self.headers.get("content-type", "")):
                raise Problem("unsupported_media_type", "the body is not application/json")
        return self._body

    async def json(self) -> Any:
        value = parse(await self.body())
        self.state.body = value
        return value


async def read_body(request: Request, most: int) -> bytes:
    """The bytes of the body, if they are not more than this, and come in time."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > most:
        raise _too_large(most)
    seconds = services_of(request).settings.request_seconds
    parts, size, owed = [], 0, BYTES_IN_TIME
    try:
        async with asyncio.timeout(seconds) as deadline:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                if size >= owed:
                    owed = size + BYTES_IN_TIME
                    deadline.reschedule(asyncio.get_running_loop().time() + seconds)
                parts.append(part)
    except TimeoutError:
        raise _too_slow() from None
    except ClientDisconnect:  # nobody reads this answer
        raise Problem("bad_request", "the connection ended before the body") from None
    return b"".join(parts)


def parse(body: bytes) -> Any:
    """The value of a JSON text."""
    try:
        value = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise Problem("bad_json", "the body is not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as problem:
        raise Problem("bad_json", f"the body is not JSON: {_place(problem)}") from None
    # Few brackets cannot be deep: most bodies are not walked.
    if body.count(b"[") + body.count(b"{") > DEPTH and _depth(value) > DEPTH:
        raise _too_deep()
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Problem("bad_json", "an object of the body says one name twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _place(problem: ValueError) -> str:
    """Where, and what was wrong, without the text itself."""
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg} at line {problem.lineno}, column {problem.colno}"
    return str(problem) if "is no JSON" in str(problem) else "a number has too many digits"


def _depth(value: Any) -> int:
    """With a stack of its own: the value may be nested more deeply than Python calls."""
    deepest, stack = 0, [(value, 0)]
    while stack:
        part, depth = stack.pop()
        if isinstance(part, dict | list):
            deepest = max(deepest, depth + 1)
            stack += [(child, depth + 1) for child in (part.values() if isinstance(part, dict) else part)]
    return deepest


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _too_large(most: int) -> Problem:
    return Problem("too_large", f"the body has more than {most} bytes", hint="store it elsewhere and send a reference")


def _too_slow() -> Problem:
    return Problem(
        "request_timeout",
        "the body did not come in time",
        hint=f"send the whole request at once: at least {BYTES_IN_TIME // 1024} KiB at a time, or the end",
        headers={"Connection": "close"},
    )


def _too_deep() -> Problem:
    return Problem("bad_json", f"arrays and objects of the body stand in each other more than {DEPTH} deep")
