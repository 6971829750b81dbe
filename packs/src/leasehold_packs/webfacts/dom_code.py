"""The article number a shop shows: elements named sku, words such as "Article number: 123", and the URL."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from leasehold_packs.webfacts.dom import attribute, flat, path_of
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.shop_words import CODE_LABEL

_CODE = r"[A-Za-z0-9][A-Za-z0-9./_-]{2,29}"
_LABEL = re.compile(rf"(?<!\w)(?:{CODE_LABEL.pattern})\W{{0,4}}(?:nr|no|is)?\W{{0,3}}({_CODE})(?!\w)", re.IGNORECASE)
_ATTRIBUTES = ("data-product-sku", "data-sku", "data-articlenumber", "data-article-number", "data-item-number")
_NAMED = ("[itemprop~=sku]", ".sku", "#sku", *(f"[{name}]" for name in _ATTRIBUTES))
_ANY_NAMED = ", ".join(_NAMED)
_URL_PIECE = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_ID_PARAMETER = re.compile(
    r"(?:^|[?&])(?:pid|id|sku|product_?id|item_?id|variant|article|artnr|code)=([^&#]+)", re.IGNORECASE
)


def read_codes(tree: LexborHTMLParser, *, text: str, url: str) -> Iterator[Fact[str]]:
    """Best first. ``text`` is what a reader sees."""
    yield from _named(tree)
    yield from _labelled(text)
    yield from _in_url(tree, text, url)


def _named(tree: LexborHTMLParser) -> Iterator[Fact[str]]:
    for selector in _NAMED if tree.css_matches(_ANY_NAMED) else ():
        for node in tree.css(selector)[:1]:
            said = (attribute(node, name) for name in ("content", *_ATTRIBUTES))
            given = next(filter(None, said), "") or flat(node.text())
            found = _LABEL.search(given)
            code = found[1] if found else given
            if re.fullmatch(_CODE, code) and _has_digit(code):
                yield Fact(value=code, source="page", method="named", confidence=0.7, pointer=path_of(node))


def _labelled(text: str) -> Iterator[Fact[str]]:
    for found in _LABEL.finditer(text):
        code = found[1].rstrip("./_-")
        if _has_digit(code):
            yield Fact(value=code, source="page", method="label", confidence=0.65, pointer=found[0][:80])
            return


def _in_url(tree: LexborHTMLParser, text: str, url: str) -> Iterator[Fact[str]]:
    """A number in the URL that the page uses by itself: in a hidden field, a data attribute or a text."""
    values = _attribute_values(tree) | set(text.split())
    for piece in _pieces(url):
        if piece in values:
            yield Fact(value=piece, source="url", method="corroborated", confidence=0.5, pointer=url)
            return


def _attribute_values(tree: LexborHTMLParser) -> set[str]:
    found: set[str] = set()
    for node in tree.css("input[value], [data-product-id], [data-id], [data-pid], [data-item-id], form"):
        found.update(
            value.strip() for name, value in node.attributes.items() if value and name not in ("class", "style")
        )
    return found


def _pieces(url: str) -> Iterator[str]:
    """The likeliest first: a parameter named like an id, then the longest run with digits at the end of the path."""
    plain = unquote(url)
    yield from _ID_PARAMETER.findall(plain)
    path = re.sub(r"^https?://[^/]+", "", plain.split("?")[0].split("#")[0])
    runs = [
        run
        for piece in _URL_PIECE.findall(path)
        for run in (piece, *re.split(r"[._-]", piece), *re.findall(r"\d{5,}", piece))
    ]
    yield from (run for run in reversed(runs) if len(run) > 4 and sum(letter.isdigit() for letter in run) > 2)


def _has_digit(code: str) -> bool:
    return any(letter.isdigit() for letter in code)
