"""The price a reader of the page would take for the product's: elements named after prices, weighed.

No selectors of single shops. An element is a candidate because a name in its markup says price in some language; it
wins by what such names usually mean and by where it stands.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from leasehold_packs.webfacts.currency import currency_code
from leasehold_packs.webfacts.dom import ancestors, attribute, flat, name_words, path_of
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.money import NUMBERS, Money, parse_number, parse_price
from leasehold_packs.webfacts.shop_words import (
    CURRENT_PRICE,
    DECIMALS,
    ELSEWHERE,
    OLD_PRICE,
    OTHER_PRICE,
    OTHER_PRICE_STEM,
    PRICE_NAME,
)

_STRUCK_TAGS = {"del", "s", "strike"}
_LIST_TAGS = {"li", "aside", "footer", "nav", "select"}
_UNSEEN = {"script", "style", "template", "noscript"}
_DIGIT_END = re.compile(r"\d\Z")
_POINT_END = re.compile(r"\d[.,]\Z")
_DECIMAL_START = re.compile(r"[.,](?:\d{1,3})?\Z")
_PER = re.compile(r"/\s*\d*\s*\w|\bper\b|\bpro\b|\bje\b", re.IGNORECASE)
_MAX_TEXT = 100
_MAX_LETTERS = 12
_MAX_ELEMENTS = 400
_MAX_BARE = 20_000
_MAX_BARE_TEXT = 24
_MAX_NODES = 200
_MAX_DEPTH = 10
_LEAST = 3.0
# Without a name that says price, only the very first ones behind the heading.
_LEAST_BARE = 4.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    node: LexborNode
    money: Money
    score: float
    struck: bool


def read_prices(
    tree: LexborHTMLParser, named: Iterable[LexborNode], *, currency: str | None, for_sale: bool = True
) -> tuple[Fact[Money] | None, Fact[Money] | None]:
    """The price and the struck-out price, or None where nothing is good enough.

    ``named`` are the elements whose names say price. What is not ``for_sale`` often has no price, and one without a
    name is then that of something else.
    """
    candidates = _candidates(named, currency)
    current = _best(candidates, _LEAST)
    if current is None and for_sale:
        candidates = _candidates(_bare(tree, currency), currency)
        current = _best(candidates, _LEAST_BARE)
    if current is None:
        return None, None
    struck = [one for one in candidates if one.struck and one.money.amount > current.money.amount]
    return _fact(current, "price"), _fact(max(struck, key=lambda one: one.score), "struck") if struck else None


def _best(candidates: list[_Candidate], least: float) -> _Candidate | None:
    best = max((one for one in candidates if not one.struck), key=lambda one: one.score, default=None)
    return best if best and best.score >= least else None


def _fact(candidate: _Candidate, method: str) -> Fact[Money]:
    confidence = min(0.8, 0.3 + candidate.score / 20)
    return Fact(
        value=candidate.money,
        source="page",
        method=method,
        confidence=round(confidence, 2),
        pointer=path_of(candidate.node),
    )


def _bare(tree: LexborHTMLParser, currency: str | None) -> Iterator[LexborNode]:
    """Where no name says price: elements that hold a number with its currency sign and nothing else."""
    for node in tree.css("h1, span, div, p, b, strong, em, ins, del, td, dd")[:_MAX_BARE]:
        if node.tag == "h1":
            yield node
        elif next(node.iter(), None) is None:
            text = flat(node.text())
            sign, numbers = NUMBERS.subn("", text) if len(text) < _MAX_BARE_TEXT else ("", 0)
            if numbers == 1 and currency_code(sign, hint=currency):
                yield node


def _candidates(nodes: Iterable[LexborNode], currency: str | None) -> list[_Candidate]:
    found: list[_Candidate] = []
    seen: set[int] = set()
    rank: int | None = None
    for node in islice(nodes, _MAX_ELEMENTS):
        if node.tag == "h1":
            rank = rank or 0
            continue
        box = [
            _Candidate(node=part, money=money, score=_score(part, rank), struck=_is_struck(part))
            for part in _parts(node)
            if part.mem_id not in seen and (money := money_of(part, currency)) and money.amount > 0
        ]
        seen.update(one.node.mem_id for one in box)
        found += _first_struck(box)
        rank = rank + 1 if box and rank is not None else rank
    return _with_company(found)


def _parts(node: LexborNode, depth: int = _MAX_DEPTH) -> list[LexborNode]:
    """The element; or, if it holds several numbers, the largest elements inside that hold one each."""
    text = _text(node)
    numbers = len(NUMBERS.findall(text))
    if not text or numbers == 1:
        return [node]
    if not numbers or not depth or len(text) > _MAX_TEXT:
        return []
    return [part for child in node.iter() for part in _parts(child, depth - 1)] or [node]


def _first_struck(box: list[_Candidate]) -> list[_Candidate]:
    """Of two prices side by side, the first and higher one is the old one, whatever its name."""
    if len(box) < 2 or any(one.struck for one in box) or not box[0].money.amount > box[1].money.amount:
        return box
    return [replace(box[0], struck=True), *box[1:]]


def _score(node: LexborNode, rank: int | None) -> float:
    """By names and by place: the first prices behind the heading are the likeliest."""
    return _weight_of_names(node) + (-1.0 if rank is None else max(0.0, 3 - rank / 4))


def money_of(node: LexborNode, currency: str | None) -> Money | None:
    """From a machine-readable attribute, else from a short text with one price in it."""
    for name in ("content", "data-price", "price"):
        if money := parse_number(attribute(node, name), currency=currency):
            return money
    text = _text(node)
    if not text or len(text) > _MAX_TEXT or "%" in text or _PER.search(text):
        return None
    return parse_price(text, currency=currency)


def _text(node: LexborNode) -> str:
    """The words of an element; digits behind a separator, raised or small are the decimals of the number before."""
    text = ""
    for part in islice(node.traverse(include_text=True), _MAX_NODES):
        if not part.is_text_node or part.parent is None or part.parent.tag in _UNSEEN:
            continue
        piece = flat(part.text_content)
        if len(piece) == 2 and piece.isdigit() and text[-1:].isdigit() and _is_small(part.parent):
            text += f".{piece}"
        elif (_DIGIT_END.search(text) and _DECIMAL_START.match(piece)) or (_POINT_END.search(text) and piece.isdigit()):
            text += piece
        else:
            text = f"{text} {piece}".strip()
        if len(text) > _MAX_TEXT:
            break
    return text


def _is_small(node: LexborNode) -> bool:
    return node.tag in ("sup", "small") or not DECIMALS.isdisjoint(name_words(node))


def _weight_of_names(node: LexborNode) -> float:
    own, text, outer = set(name_words(node)), _text(node), ancestors(node, 7)
    near = {word for step in outer[:2] for word in name_words(step)}
    around = {word for step in outer for word in name_words(step)}
    return (
        2 * any(map(PRICE_NAME.fullmatch, own | near))
        + 2 * ("itemprop" in node.attributes)
        + 2 * bool(own & CURRENT_PRICE)
        + 1 * bool(near & CURRENT_PRICE)
        + 2 * _has_sign(text)
        - 2 * (sum(map(str.isalpha, text)) > _MAX_LETTERS)
        - 5 * (bool(own & OTHER_PRICE) or any(map(OTHER_PRICE_STEM.search, own)))
        - 3 * bool(near & OTHER_PRICE)
        - 5 * bool(around & ELSEWHERE)
        - 2 * any(step.tag in _LIST_TAGS for step in outer)
    )


def _has_sign(text: str) -> bool:
    money = parse_price(text)
    return money is not None and money.currency is not None


def _is_struck(node: LexborNode) -> bool:
    words, near = name_words(node), ancestors(node, 2)
    return (
        not OLD_PRICE.isdisjoint(words)
        or any(step.tag in _STRUCK_TAGS for step in (node, *near))
        or bool(near and not OLD_PRICE.isdisjoint(name_words(near[0])) and CURRENT_PRICE.isdisjoint(words))
    )


def _with_company(candidates: list[_Candidate]) -> list[_Candidate]:
    """An amount that is shown again elsewhere is likelier; a kind of element that comes in many is a list."""
    amounts = Counter(one.money.amount for one in candidates if not one.struck)
    kinds = Counter(_kind(one.node) for one in candidates)
    return [
        replace(one, score=one.score + min(2, amounts[one.money.amount] - 1) / 2 - 2 * (kinds[_kind(one.node)] > 4))
        for one in candidates
    ]


def _kind(node: LexborNode) -> str:
    return f"{node.tag} {attribute(node, 'class') or attribute(node, 'id')}"
