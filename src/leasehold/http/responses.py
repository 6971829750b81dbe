"""Answers: JSON text, strong ETags, pages."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import Header, Request, Response
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from leasehold.errors import Changed
from leasehold.http.types import Listing, Page
from leasehold.json_codec import decode

JSON = "application/json"
_LONG = 64 * 1024
_REVISION = re.compile(r'"([0-9]{1,9})\.[0-9a-f]{32}"', re.ASCII)

IfMatch = Annotated[
    str | None,
    Header(max_length=1000, description="The ETag of the thing as you have seen it; another one now gives 412."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent, before it is: it may be kept under an Idempotency-Key."""

    status: int
    value: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        return answer(self.value, status=self.status, headers=self.headers)


def answer(value: Any, *, as_: Any = None, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a value; with ``as_`` as one of this type: what the type does not have is not sent."""
    return Response(encode(value, as_), status, dict(headers or {}), media_type=JSON)


def tagged(request: Request, value: Any, *, as_: Any = None, revision: int | None = None) -> Response:
    """With a strong ETag: the digest of the very bytes, after the revision of a thing that has one. 304 for whoever has
    them."""
    body = encode(value, as_)
    tag = _tag(body, revision)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, X-API-Key, Accept"}
    asked = {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}
    if tag in asked or "*" in asked:
        return Response(None, 304, headers)
    return Response(body, 200, headers, media_type=JSON)


def refuse_changed(if_match: str | None, value: Any) -> None:
    """Raise unless the caller's ``If-Match`` names this value. Weak tags never match (RFC 9110, 13.1.1)."""
    if if_match is not None and _tag(encode(value), None) not in _tags(if_match) and if_match.strip() != "*":
        raise Changed("it is not what If-Match names any more", hint="look at it again, and decide anew")


def names_revision(if_match: str | None, revision: int | None) -> bool:
    """Whether the caller's ``If-Match`` names this revision; None stands for a thing that is not there."""
    if if_match is None or (if_match.strip() == "*" and revision is not None):
        return True
    return revision in [int(found[1]) for tag in _tags(if_match) if (found := _REVISION.fullmatch(tag))]


def _tags(header: str) -> set[str]:
    return {part.strip() for part in header.split(",")}


def _tag(body: bytes, revision: int | None) -> str:
    digest = hashlib.sha256(body).hexdigest()[:32]
    return f'"{digest}"' if revision is None else f'"{revision}.{digest}"'


def answer_all(found: Sequence[Any], *, of: Any) -> Response:
    """All of a kind, where they are few."""
    return answer(Listing(data=list(found)), as_=Listing[of])


def page(request: Request, found: Sequence[Any], *, limit: int, last: str, of: Any) -> Response:
    """A page made of one row more than asked for: that one only tells that there are more."""
    data, more = list(found[:limit]), len(found) > limit
    cursor = encode_cursor(getattr(data[-1], last)) if more else None
    headers = {}
    if cursor:
        headers["Link"] = f'<{request.url.path}?{_with_cursor(request, cursor)}>; rel="next"'
    return answer(Page(data=data, next_cursor=cursor, has_more=more), as_=Page[of], headers=headers)


def page_by_name(request: Request, found: Sequence[Any], *, limit: int, of: Any, name: str = "name") -> Response:
    """The same for what is listed by name: names are known to whoever may list them, so they are the cursors."""
    data, more = list(found[:limit]), len(found) > limit
    last = getattr(data[-1], name) if more else None
    headers = {"Link": f'<{request.url.path}?limit={limit}&cursor={last}>; rel="next"'} if more else {}
    return answer(Page(data=data, next_cursor=last, has_more=more), as_=Page[of], headers=headers)


def encode_cursor(last: UUID) -> str:
    return base64.urlsafe_b64encode(last.bytes).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> UUID | None:
    if cursor is None:
        return None
    return UUID(bytes=base64.urlsafe_b64decode(cursor + "=="))


def plain(value: Any, *, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A value of ours as an object, one level deep: what is in it is JSON already."""
    names = getattr(value, "_fields", None) or [f.name for f in fields(value)]
    return {name: getattr(value, name) for name in names if name not in without}


class JsonText:
    """JSON as PostgreSQL wrote it: it goes into an answer as it is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def read_json(text: str | None) -> Any:
    """The value of JSON that PostgreSQL kept. A long text is not read: that may take longer than others can wait."""
    return JsonText(text) if text and len(text) > _LONG else decode(text)


def encode(value: Any, as_: Any = None) -> bytes:
    """The JSON of a value as its type, or ``as_``, describes it."""
    kept: list[str] = []
    mark = ""

    def plainly(part: Any) -> Any:
        nonlocal mark
        if not isinstance(part, JsonText):
            return _plain(part)
        mark = mark or uuid4().hex
        kept.append(part.text)
        return mark

    type_: Any = as_ or (type(value) if is_dataclass(value) else Any)
    try:
        body = _adapter(type_).dump_json(value, fallback=plainly)
    except PydanticSerializationError:  # PostgreSQL keeps JSON that is nested deeper, and text that is not UTF-8
        kept.clear()
        text = json.dumps(_finite(value), default=plainly, ensure_ascii=False, separators=(",", ":"))
        body = text.encode("utf-8", "backslashreplace")
    if kept:
        around = body.split(f'"{mark}"'.encode())
        texts = [text.encode("utf-8", "backslashreplace") for text in kept]
        body = b"".join(part for pair in zip(around, [*texts, b""], strict=True) for part in pair)
    return body


@cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    return plain(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def _with_cursor(request: Request, cursor: str) -> str:
    return str(request.url.include_query_params(cursor=cursor).query)
