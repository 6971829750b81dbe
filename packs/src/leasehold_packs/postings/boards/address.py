"""Where a board is, what is asked of it, and what it answers. Pure."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from leasehold.errors import LeaseholdError
from leasehold_packs.postings.html_text import short
from leasehold_packs.postings.posting import Posting


class Unreadable(LeaseholdError):
    """What a board answered is not what such boards answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A board of one company. ``base`` is where its machine-readable list lives, without a slash at the end."""

    board: str
    slug: str
    base: str

    @property
    def quoted(self) -> str:
        return quote(self.slug, safe="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    url: str
    method: str = "GET"
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of a list. ``more`` says that there is another one."""

    postings: list[Posting]
    more: bool = False
    company: str | None = None


class Board(Protocol):
    """How one system of boards is asked and read. ``details`` says that its list lacks the text."""

    details: bool

    def recognise(self, host: str, path: list[str]) -> Address | None:
        """The board that an address in a browser belongs to."""

    def list_request(self, address: Address, page: int) -> Request: ...

    def read_list(self, body: bytes, address: Address, page: int) -> Listing: ...

    def detail_request(self, address: Address, posting: Posting) -> Request: ...

    def read_detail(self, body: bytes, address: Address, posting: Posting) -> Posting: ...


def read_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"the answer is no JSON: {problem}", hint="look at the address in a browser") from None


def items(value: Any, name: str | None = None) -> list[dict[str, Any]]:
    """The list under a name, or the value itself; what is no list of objects cannot be read."""
    found = value.get(name) if name is not None and isinstance(value, dict) else value if name is None else None
    if not isinstance(found, list):
        raise Unreadable(f"the answer has no list {name or ''}".rstrip(), hint="the board may be gone, or not public")
    return [item for item in found if isinstance(item, dict)]


def part(value: Any, *names: str) -> Any:
    """What is under these names, or None as soon as one is missing."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def places(*values: Any) -> tuple[str, ...]:
    """Places in their order, each once; empty ones are left out."""
    return tuple(dict.fromkeys(found for value in values if (found := short(value))))


def joined(*values: Any) -> str | None:
    """``Berlin, Germany`` of its parts."""
    return ", ".join(dict.fromkeys(places(*values))) or None


def each(found: list[dict[str, Any]], read: Callable[[dict[str, Any]], Posting | None]) -> list[Posting]:
    """One posting for each that can be read; a list in which none can is not a list of postings."""
    read_ones = [posting for item in found if (posting := read(item)) is not None]
    if found and not read_ones:
        raise Unreadable("no entry of the list has an id and a title", hint="the board answers in an unknown shape")
    return read_ones
