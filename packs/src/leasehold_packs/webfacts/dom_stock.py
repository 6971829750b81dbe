"""Whether the page offers the product for sale: elements named after stock, then the buttons."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from leasehold_packs.webfacts.availability import Availability, schema_availability
from leasehold_packs.webfacts.dom import ancestors, attribute, flat, name_words, path_of
from leasehold_packs.webfacts.dom_names import Named
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.shop_words import (
    BUY,
    BUY_NAME,
    NOT_SHOWN,
    NOT_STOCK,
    worded_availability,
)

_MAX_TEXT = 120
_MAX_ELEMENTS = 200


def read_stock(tree: LexborHTMLParser, named: Named) -> Fact[Availability] | None:
    """What the page says, else what its buttons do; None where it does neither."""
    return _from_words(tree, named.stock) or _from_buttons(named.buttons)


def _from_words(tree: LexborHTMLParser, named: list[LexborNode]) -> Fact[Availability] | None:
    for node in tree.css("[itemprop~=availability]")[:1]:
        given = attribute(node, "href") or attribute(node, "content") or node.text()
        if state := schema_availability(given) or worded_availability(given):
            return _fact(state, "itemprop", 0.7, node)
    for node in named[:_MAX_ELEMENTS]:
        if node.tag in ("script", "style", "link", "option", "input") or _elsewhere(node):
            continue
        text = flat(node.text(separator=" "))
        if 0 < len(text) <= _MAX_TEXT and (state := worded_availability(text)):
            return _fact(state, "words", 0.6, node)
    return None


def _from_buttons(named: list[LexborNode]) -> Fact[Availability] | None:
    for node in named[: _MAX_ELEMENTS * 2]:
        if _elsewhere(node):
            continue
        text = flat(node.text(separator=" ")) or attribute(node, "value") or attribute(node, "title")
        names = " ".join(attribute(node, name) for name in ("id", "class", "name"))
        if len(text) > _MAX_TEXT:
            continue
        if worded_availability(text) is Availability.OUT_OF_STOCK:
            return _fact(Availability.OUT_OF_STOCK, "button", 0.5, node)
        if (BUY.search(text) or BUY_NAME.search(names)) and "disabled" not in node.attributes:
            return _fact(Availability.IN_STOCK, "button", 0.5, node)
    return None


def _elsewhere(node: LexborNode) -> bool:
    return any(
        not NOT_STOCK.isdisjoint(words := name_words(step)) or not NOT_SHOWN.isdisjoint(words) or _is_hidden(step)
        for step in (node, *ancestors(node, 6))
    )


def _is_hidden(node: LexborNode) -> bool:
    return "hidden" in node.attributes or "display:none" in attribute(node, "style").replace(" ", "").lower()


def _fact(state: Availability, method: str, confidence: float, node: LexborNode) -> Fact[Availability]:
    return Fact(value=state, source="page", method=method, confidence=confidence, pointer=path_of(node))
