"""How well products are read: precision, recall and F1 on pages with known answers, in two halves.

The halves are by the hash of a page's name. Rules are made on the first half; the second says what they are worth.

    python -m tests.packs.webfacts.measured
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from leasehold_packs.webfacts.availability import Availability
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.product import Product, read_product
from tests.packs.webfacts.corpora import pages

HALVES = ("made on", "held back")
_GONE = (Availability.OUT_OF_STOCK, Availability.DISCONTINUED)


@dataclass(frozen=True, slots=True)
class Score:
    """Counted as the benchmark's own script does: a wrong value is a false positive and a false negative."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


def half_of(name: str) -> str:
    return HALVES[sha256(name.encode()).digest()[0] % 2]


def products() -> list[tuple[str, Product, dict[str, Any]]]:
    """Every page of the benchmark: its name, what is read off it, and what is known of it."""
    return [
        (name, read_product(decode(body, content_type="text/html; charset=utf-8"), url=truth["url"]), truth)
        for name, body, truth in pages("product-extraction")
    ]


def scores(answers: list[tuple[str, Product, dict[str, Any]]]) -> dict[tuple[str, str], Score]:
    """By half and name of the fact."""
    return {
        (half, fact): _score([(value(read), known(truth)) for name, read, truth in answers if half_of(name) == half])
        for half in HALVES
        for fact, (value, known) in _FACTS.items()
    }


def _price(product: Product) -> Decimal | None:
    return product.price.value.amount if product.price else None


def _availability(product: Product) -> str | None:
    return ("OutOfStock" if product.availability.value in _GONE else "InStock") if product.availability else None


def _sku(product: Product) -> str | None:
    return product.sku.value if product.sku else None


_FACTS: dict[str, tuple[Callable[[Product], Any], Callable[[dict[str, Any]], set[Any]]]] = {
    "price": (_price, lambda truth: {Decimal(text) for text in truth.get("price", ())}),
    "availability": (_availability, lambda truth: set(truth["availability"])),
    "sku": (_sku, lambda truth: set(truth.get("sku", ()))),
}


def _score(answers: list[tuple[Any, set[Any]]]) -> Score:
    right = sum(value in known for value, known in answers)
    wrong = sum(value is not None and value not in known for value, known in answers)
    missed = sum(bool(known) and value not in known for value, known in answers)
    return Score(right, wrong, missed)


def main() -> None:
    for (half, fact), score in scores(products()).items():
        print(f"{half:9} {fact:12} P {score.precision:.3f}  R {score.recall:.3f}  F1 {score.f1:.3f}  {score}")


if __name__ == "__main__":
    main()
