"""How well pages with known answers are read: a folder with ``ground-truth.json`` and ``html/<name>.html.gz``.

Counted as the benchmark of article and product extraction does: a wrong value is a false positive and a false negative.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, TypedDict

from leasehold.errors import BadInput
from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.currency import currencies_of
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.product import Product, read_product

_NOT_FOR_SALE = (Availability.OUT_OF_STOCK, Availability.DISCONTINUED)
_IN, _OUT = "InStock", "OutOfStock"


class Truth(TypedDict, total=False):
    """What is known of a page: each fact in all spellings that count."""

    url: str
    price: list[str]
    currency: list[str]
    availability: list[str]
    sku: list[str]


class FactScore(TypedDict):
    precision: float
    recall: float
    f1: float
    right: int
    wrong: int
    missed: int


class SideScore(TypedDict):
    precision: float
    recall: float
    pages: int


class Milliseconds(TypedDict):
    median: float | None
    most: float


class Accuracy(TypedDict):
    """How well all pages were read."""

    pages: int
    f1: dict[str, float]
    facts: dict[str, FactScore]
    out_of_stock: SideScore
    in_stock: SideScore
    by_method: dict[str, dict[str, dict[str, int]]]
    cpu_ms: Milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A page, what is read off it, what is known of it, and what that cost."""

    product: Product
    truth: Truth
    cpu_ms: float


def read_folder(folder: Path) -> list[Read]:
    """Every page of the folder that has an answer."""
    try:
        truths: dict[str, Truth] = json.loads((folder / "ground-truth.json").read_text())
    except (OSError, ValueError) as problem:
        raise BadInput(f"{folder} has no ground-truth.json to compare with: {problem}") from None
    return [_read(_page(folder, name), truth) for name, truth in truths.items()]


def score(pages: list[Read]) -> Accuracy:
    """Precision, recall and F1 of each fact, the two sides of availability, and which rung of the ladder did it."""
    facts = {name: _counted((value(one.product), known(one.truth)) for one in pages) for name, value, known in _FACTS}
    return {
        "pages": len(pages),
        "f1": {name: counts["f1"] for name, counts in facts.items()},
        "facts": facts,
        "out_of_stock": _side(pages, _OUT),
        "in_stock": _side(pages, _IN),
        "by_method": {name: _by_method(pages, name, value, known) for name, value, known in _FACTS},
        "cpu_ms": {
            "median": round(median(one.cpu_ms for one in pages), 2) if pages else None,
            "most": round(max((one.cpu_ms for one in pages), default=0.0), 2),
        },
    }


def _page(folder: Path, name: str) -> bytes:
    packed = folder / "html" / f"{name}.html.gz"
    return gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / "html" / f"{name}.html").read_bytes()


def _read(body: bytes, truth: Truth) -> Read:
    begun = process_time()
    product = read_product(decode(body, content_type="text/html; charset=utf-8"), url=str(truth.get("url", "")))
    return Read(product=product, truth=truth, cpu_ms=(process_time() - begun) * 1000)


def _price(product: Product) -> Decimal | None:
    return product.price.value.amount if product.price else None


def _currency(product: Product) -> str | None:
    return product.price.value.currency if product.price else None


def _availability(product: Product) -> str | None:
    return (_OUT if product.availability.value in _NOT_FOR_SALE else _IN) if product.availability else None


def _sku(product: Product) -> str | None:
    return product.sku.value if product.sku else None


def _currencies(truth: Truth) -> set[Any]:
    return {code for sign in truth.get("currency", ()) for code in currencies_of(sign)}


_FACTS: tuple[tuple[str, Callable[[Product], Any], Callable[[Truth], set[Any]]], ...] = (
    ("price", _price, lambda truth: {Decimal(text) for text in truth.get("price", ())}),
    ("currency", _currency, _currencies),
    ("availability", _availability, lambda truth: set(truth.get("availability", ()))),
    ("sku", _sku, lambda truth: set(truth.get("sku", ()))),
)


def _counted(answers: Iterable[tuple[Any, set[Any]]]) -> FactScore:
    right = wrong = missed = 0
    for value, known in answers:
        is_right = value in known
        right += is_right
        wrong += value is not None and not is_right
        missed += bool(known) and not is_right
    return {
        "precision": _share(right, right + wrong),
        "recall": _share(right, right + missed),
        "f1": _share(2 * right, 2 * right + wrong + missed),
        "right": right,
        "wrong": wrong,
        "missed": missed,
    }


def _side(pages: list[Read], side: str) -> SideScore:
    """One answer taken for itself: a reader that always says the other has a recall of nothing here."""
    said = [(_availability(one.product) == side, side in one.truth.get("availability", ())) for one in pages]
    right = sum(is_said and is_so for is_said, is_so in said)
    return {
        "precision": _share(right, sum(is_said for is_said, _ in said)),
        "recall": _share(right, sum(is_so for _, is_so in said)),
        "pages": sum(is_so for _, is_so in said),
    }


def _by_method(
    pages: list[Read], name: str, value: Callable[[Product], Any], known: Callable[[Truth], set[Any]]
) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for one in pages:
        fact: Fact[Any] | None = getattr(one.product, "price" if name == "currency" else name)
        source = fact.source if fact else "none"
        is_right = value(one.product) in known(one.truth)
        counts.setdefault(source, Counter())["right" if is_right else "wrong" if fact else "missed"] += 1
    return {source: dict(counts[source]) for source in sorted(counts)}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
