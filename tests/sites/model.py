"""A site before it is written down: pages, answers, kinds of fault and their innocent twins."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.sites.site_draft import SiteDraft

HEADERS = {
    "Strict-Transport-Security": "max-age=31536000",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Server": "nginx",
}


@dataclass(frozen=True)
class Element:
    """An element; the writer decides on quotes, case, order and end tags."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    inner: tuple["Element | str", ...] = ()


@dataclass(frozen=True)
class Raw:
    """Markup that the writer leaves as it is."""

    text: str


Piece = Element | Raw


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_s: float = 0.0


@dataclass(kw_only=True)
class Draft:
    """One page: plants change it, and the writer turns it into bytes."""

    url: str
    language: str
    code: str  # in the title, the description and the text: no other page has it
    titles: list[str]
    descriptions: list[str]
    lang: str | None
    canonicals: list[str]
    h1: list[tuple[Element | str, ...]]
    sections: list[tuple[int, str, list[str]]]  # level of the heading, heading, paragraphs
    links: list[Element] = field(default_factory=list)
    images: list[Element] = field(default_factory=list)
    head: list[Piece] = field(default_factory=list)
    first_in_head: list[Piece] = field(default_factory=list)
    body: list[Piece] = field(default_factory=list)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    viewport: str | None = "width=device-width, initial-scale=1"
    robots: str | None = None
    charset_in_head: bool = True
    charset_in_header: bool = True
    declared: str | None = None  # where it is not the encoding
    encoding: str = "utf-8"
    has_doctype: bool = True
    comment_first: str = ""
    media_type: str = "text/html"
    headers: dict[str, str] = field(default_factory=lambda: dict(HEADERS))
    delay_s: float = 0.0
    style: int = 0  # what the writer's choices are drawn from

    def add_link(self, href: str, *words: "Element | str", **attributes: str) -> None:
        self.links.append(Element("a", {"href": href, **attributes}, words))


Plant = Callable[[Draft, "SiteDraft", random.Random], None]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of fault. A page has one of a slot at most; "" has its page to itself."""

    name: str
    what: str
    reference: str
    plant: Plant
    slot: str = ""
    is_heavy: bool = False
    of_site: bool = False


@dataclass(frozen=True, kw_only=True)
class Twin:
    """What looks like a fault of that kind and is none."""

    name: str
    of: str
    what: str
    plant: Plant


KINDS: dict[str, Kind] = {}
TWINS: dict[str, Twin] = {}


def kind(
    what: str, reference: str, *, slot: str = "", is_heavy: bool = False, of_site: bool = False
) -> Callable[[Plant], Plant]:
    def add(plant: Plant) -> Plant:
        name = plant.__name__
        assert name not in KINDS
        KINDS[name] = Kind(
            name=name,
            what=what,
            reference=reference,
            plant=plant,
            slot=slot,
            is_heavy=is_heavy,
            of_site=of_site,
        )
        return plant

    return add


def twin(of: str, what: str) -> Callable[[Plant], Plant]:
    def add(plant: Plant) -> Plant:
        name = plant.__name__
        assert name not in TWINS
        TWINS[name] = Twin(name=name, of=of, what=what, plant=plant)
        return plant

    return add
