"""From a draft to bytes: attributes in any order, any quotes, end tags where needed."""

import random
from html import escape

from tests.sites.model import Answer, Draft, Element, Piece, Raw

VOID = {"meta", "link", "img", "br", "hr", "input", "base", "source"}
_MAY_STAY_OPEN = {"p", "li"}
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/")


class _Style:
    """The habits of whoever wrote the page."""

    def __init__(self, seed: int) -> None:
        dice = random.Random(seed)
        self.dice = dice
        self.upper = dice.random() < 0.2
        self.quote = dice.choice('""\'')
        self.bare = dice.random() < 0.25
        self.slash = dice.choice(("", "", " /"))
        self.between = dice.choice(("\n", "\n", "", "\n    "))
        self.inside = dice.choice((" ", " ", "  ", "\n"))
        self.leaves_open = dice.random() < 0.3
        self.leaves_out = dice.random() < 0.25  # the tags of head and body

    def name(self, name: str) -> str:
        return name.upper() if self.upper else name

    def write(self, piece: Piece | str) -> str:
        if isinstance(piece, str):
            return escape(piece, quote=False)
        if isinstance(piece, Raw):
            return piece.text
        name = self.name(piece.name)
        begin = f"<{name}{self._attributes(piece.attributes)}"
        if piece.name in VOID:
            return f"{begin}{self.slash}>"
        # What a script says is no text.
        inner = "".join(
            one if piece.name in ("script", "style") and isinstance(one, str) else self.write(one)
            for one in piece.inner
        )
        end = "" if self.leaves_open and piece.name in _MAY_STAY_OPEN else f"</{name}>"
        return f"{begin}>{inner}{end}"

    def _attributes(self, given: dict[str, str | None]) -> str:
        names = list(given)
        self.dice.shuffle(names)
        return "".join(
            f"{self.inside}{self.name(name)}{self._value(given[name])}" for name in names
        )

    def _value(self, value: str | None) -> str:
        if value is None:
            return ""
        if self.bare and value and set(value) <= _BARE and not value.endswith("/"):
            return f"={value}"
        quoted = value.replace("&", "&amp;").replace("<", "&lt;")
        escaped = quoted.replace(self.quote, "&quot;" if self.quote == '"' else "&#39;")
        return f"={self.quote}{escaped}{self.quote}"


def answer_of(page: Draft) -> Answer:
    body = document(page).encode(page.encoding, "xmlcharrefreplace")
    declared = page.declared or page.encoding
    content_type = (
        f"{page.media_type}; charset={declared}" if page.charset_in_header else page.media_type
    )
    return Answer(
        headers={"Content-Type": content_type, **page.headers}, body=body, delay_s=page.delay_s
    )


def document(page: Draft) -> str:
    style = _Style(page.style)
    head, body = (
        [style.write(one) for one in _head(page, style)],
        [style.write(one) for one in _body(page)],
    )
    doctype = (
        style.dice.choice(("<!doctype html>", "<!DOCTYPE html>", "<!DOCTYPE HTML>"))
        if page.has_doctype
        else ""
    )
    html = Element("html", {} if page.lang is None else {"lang": page.lang})
    begin = style.write(html).partition("</")[0]
    tags = (
        [""] * 3
        if style.leaves_out
        else [f"<{style.name('head')}>", f"</{style.name('head')}>", style.name("body")]
    )
    opened = f"<{tags[2]}>" if tags[2] else ""
    pieces = [page.comment_first, doctype, begin, tags[0], *head, tags[1], opened, *body]
    if opened:
        pieces += [f"</{style.name('body')}>", f"</{style.name('html')}>"]
    return style.between.join(piece for piece in pieces if piece) + "\n"


def _head(page: Draft, style: _Style) -> list[Piece]:
    first: list[Piece] = [*page.first_in_head]
    if page.charset_in_head:
        first.append(Element("meta", {"charset": page.declared or page.encoding}))
    rest: list[Piece] = [Element("title", {}, (title,)) for title in page.titles]
    rest += [Element("meta", {"name": "description", "content": one}) for one in page.descriptions]
    rest += [Element("link", {"rel": "canonical", "href": href}) for href in page.canonicals]
    rest += [
        Element("link", {"rel": "alternate", "hreflang": to, "href": href})
        for to, href in page.alternates
    ]
    if page.viewport is not None:
        rest.append(Element("meta", {"name": "viewport", "content": page.viewport}))
    if page.robots is not None:
        rest.append(Element("meta", {"name": "robots", "content": page.robots}))
    rest += page.head
    style.dice.shuffle(rest)
    return first + rest


def _body(page: Draft) -> list[Piece]:
    links, images = list(page.links), list(page.images)
    made: list[Piece] = [Element("h1", {}, inner) for inner in page.h1[:1]]
    made += [Element("p", {}, (image,)) for image in images]
    for level, words, paragraphs in page.sections:
        made.append(Element(f"h{level}", {}, (words,)))
        made += [Element("p", {}, (text,)) for text in paragraphs]
    made += [Element("h1", {}, inner) for inner in page.h1[1:]]
    made.append(Element("ul", {}, tuple(Element("li", {}, (link,)) for link in links)))
    return made + page.body
