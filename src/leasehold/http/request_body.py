"""Bodies: read up to a bound, JSON only, and refused where two programs could read them differently.

What is bounded, and why so: docs/design/large-bodies.md.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from leasehold.http.client_address import client_address
from leasehold.http.large_bodies import LARGE_BYTES, Room
from leasehold.http.problems import Problem
from leasehold.http.services import services_of

P = ParamSpec("P")
T = TypeVar("T")
#: What reads the body's type, if it has one.
Adapter = Callable[[], TypeAdapter[Any] | None]

#: How deeply arrays and objects may stand in each other.
DEPTH = 64
#: How many values and names the JSON of a body may have.
MOST_VALUES = 100_000
#: Bytes of a body, where a route does not say that it takes large ones.
MOST_BYTES = 256 * 1024
#: So much of a body comes within ``LEASEHOLD_REQUEST_SECONDS``, or its end.
BYTES_IN_TIME = 512 * 1024
#: What is done with a body of so many bytes is quick, whatever it is.
_QUICK_BYTES = 16 * 1024
#: A body of so many bytes cannot have more faults than are quickly told.
_FEW_FAULTS_BYTES = 4 * 1024
_MOST_FAULTS = 100
#: Bytes in which values are counted at a time: between two pieces other threads have their turn.
_PIECE = 256 * 1024
_COUNTED = bytes(set(range(256)) - set(b'",[{'))


class StrictRequest(Request):
    """A request whose body is read by our rules. The framework asks it for ``body`` and ``json``."""

    def __init__(self, scope: Scope, receive: Receive, *, most: int, adapter: Adapter) -> None:
        super().__init__(scope, receive)
        self._most = most
        self._adapter = adapter
        self._text: bytes | None = None

    async def body(self) -> bytes:
        """Whether there is one: the framework would keep it for as long as the request takes."""
        if self._text is None:
            self._text = await read_body(self, self._most)
            if self._text and not _is_json(self.headers.get("content-type", "")):
                raise Problem("unsupported_media_type", "the body is not application/json")
        return b"JSON" if self._text else b""

    async def json(self) -> Any:
        text, self._text = self._text or b"", b""
        is_kept = "idempotency-key" in self.headers
        if len(text) > LARGE_BYTES:
            work = services_of(self).large.work
            value, self.state.body_digest = await work(_understood, text, self._adapter, is_kept=is_kept)
        else:
            value, self.state.body_digest = _understood(text, self._adapter, is_kept=is_kept)
        return value


async def read_body(request: Request, most: int) -> bytes:
    """The bytes of the body, if they are not more than this, and come in time."""
    said = request.headers.get("content-length", "")
    expected = int(said[:20]) if said.isdecimal() else most
    if said and expected > most:
        raise _too_large(most)
    seconds = services_of(request).settings.request_seconds
    parts, size, owed = [], 0, BYTES_IN_TIME
    try:
        async with asyncio.timeout(seconds) as deadline:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise _too_large(most)
                parts.append(part)
                if size > LARGE_BYTES and not hasattr(request.state, "room"):
                    deadline.reschedule(None)  # it is we who are not ready
                    request.state.room = await _room(request, max(expected, size))
                    owed = 0
                if size >= owed:
                    owed = size + BYTES_IN_TIME
                    deadline.reschedule(asyncio.get_running_loop().time() + seconds)
    except TimeoutError:
        raise _too_slow() from None
    except ClientDisconnect:  # nobody reads this answer
        raise Problem("bad_request", "the connection ended before the body") from None
    request.state.body_bytes = size
    return b"".join(parts)


async def off_loop(request: Request, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives; beside the event loop if the body of the request could make it slow."""
    if is_quick(request):
        return function(*args, **kwargs)
    return await beside(request, function, *args, **kwargs)


def is_quick(request: Request) -> bool:
    """Whether the body of the request is so small that nothing takes long that is done with it."""
    return getattr(request.state, "body_bytes", 0) <= _QUICK_BYTES


async def beside(request: Request, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives, beside the event loop: for what is slow with a small body, too."""
    return await services_of(request).large.work(function, *args, **kwargs)


def release_room(request: Request) -> None:
    """The body of this request is in work no more. At the end of a request this happens by itself."""
    room: Room | None = getattr(request.state, "room", None)
    if room:
        room.release()


def parse(body: bytes) -> Any:
    """The value of a JSON text."""
    if len(body) > LARGE_BYTES:
        refuse_many_values(body)
    try:
        # A number of many digits takes long; where they are read by a function, other threads have a turn between them.
        whole = _whole if len(body) > LARGE_BYTES else None
        value = json.loads(body.decode(), object_pairs_hook=_object, parse_int=whole, parse_constant=_no_constant)
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


def refuse_many_values(text: bytes) -> None:
    """Refuse JSON of more values than are quickly read. It need not be JSON."""
    if text.count(b",") + text.count(b"[") + text.count(b"{") < MOST_VALUES:
        return  # a comma or a bracket before each, but for the first
    if _values(text) > MOST_VALUES:
        raise Problem(
            "too_large",
            f"the body has more than {MOST_VALUES} values",
            hint="send fewer at a time, or as one text",
        )


def _values(text: bytes) -> int:
    """How many there are at most: commas and brackets outside of texts. Counting ends where there are too many."""
    count, at, is_inside = 1, 0, False
    while at < len(text) and count <= MOST_VALUES:
        piece = text[at : at + _PIECE]
        at += len(piece)
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and at < len(text):  # half an escape
            piece, at = piece + text[at : at + 1], at + 1
        piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        for outside in (parts := piece.translate(None, _COUNTED).split(b'"'))[int(is_inside) :: 2]:
            count += len(outside)
        is_inside ^= len(parts) % 2 == 0
    return count


def _understood(text: bytes, adapter: Adapter, *, is_kept: bool) -> tuple[Any, bytes]:
    """The value of a body, of its type if that is right, and a digest for whoever keeps the answer."""
    value = parse(text)
    digest = _digest(value, in_turns=len(text) > LARGE_BYTES) if is_kept else b""
    type_ = adapter() if len(text) > _FEW_FAULTS_BYTES else None
    if type_ is None:
        return value, digest
    try:
        return type_.validate_python(value, from_attributes=True), digest
    except ValidationError as problem:
        # To tell of a fault takes longer than to find it. The framework tells of a few.
        if problem.error_count() > _MOST_FAULTS:
            raise Problem("invalid", f"the body has {problem.error_count()} faults, too many to tell") from None
        return value, digest


def _digest(value: Any, *, in_turns: bool) -> bytes:
    """The same for the same value, however it was written."""
    if not in_turns:
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
    found = hashlib.sha256()
    for part in json.JSONEncoder(sort_keys=True).iterencode(value):
        found.update(part.encode())
    return found.digest()


async def _room(request: Request, size: int) -> Room:
    caller = getattr(request.state, "caller", None)
    owner = str(caller.tenant_id or caller.key_id) if caller else client_address(request)
    return await services_of(request).large.room(owner, size)


def _whole(digits: str) -> int:
    return int(digits)


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
