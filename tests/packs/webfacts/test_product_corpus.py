"""Real product pages with known answers."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.fact import Fact
from leasehold_packs.webfacts.product import Product, read_product
from leasehold_packs.webfacts.structured import read_structured
from tests.corpora.data import needs_corpora
from tests.packs.webfacts.corpora import pages
from tests.packs.webfacts.measured import HALVES, products, scores

pytestmark = [needs_corpora, pytest.mark.long]
BARS = {"price": 0.85, "availability": 0.85, "sku": 0.6}


@pytest.fixture(scope="module")
def answers() -> list[tuple[str, Product, dict[str, Any]]]:
    return products()


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("fact", BARS)
def test_products_are_read_well_enough_on_both_halves(answers: Any, half: str, fact: str) -> None:
    score = scores(answers)[half, fact]
    print(f"{half} {fact}: F1 {score.f1:.3f} {score}")
    assert score.f1 >= BARS[fact]


def test_every_fact_says_where_it_comes_from(answers: Any) -> None:
    sources = Counter[str]()
    for _, product, _ in answers:
        for fact in facts_of(product):
            assert fact.pointer
            assert fact.method
            assert 0 < fact.confidence <= 1
            sources[fact.source] += 1
        for found in product.disagreements:
            assert found.chosen.source != found.other.source
    print(dict(sources))
    assert {"json-ld", "microdata", "opengraph", "page", "url"} <= set(sources)


def test_pointers_into_structured_data_lead_to_the_value() -> None:
    followed = 0
    for _, body, truth in pages("product-extraction"):
        text = decode(body)
        document = read_structured(text, url=truth["url"]).document()
        for fact in facts_of(read_product(text, url=truth["url"])):
            if fact.source in document:
                assert at(document, fact.pointer)
                followed += 1
    assert followed > 200


def test_a_right_price_is_surer_than_a_wrong_one(answers: Any) -> None:
    """Confidence is worth something: sorted by it, the surer half of the prices is right more often."""
    judged = sorted(
        (product.price.confidence, str(product.price.value.amount.normalize()) in _normal(truth["price"]))
        for _, product, truth in answers
        if product.price and truth.get("price")
    )
    middle = len(judged) // 2
    doubtful, sure = judged[:middle], judged[middle:]
    assert sum(right for _, right in sure) / len(sure) >= sum(right for _, right in doubtful) / len(doubtful)


def test_nearly_every_price_has_a_currency(answers: Any) -> None:
    prices = [product.price.value for _, product, _ in answers if product.price]
    known = sum(money.currency is not None for money in prices)
    print(f"currency known for {known} of {len(prices)} prices")
    assert known / len(prices) >= 0.9


def test_articles_are_hardly_taken_for_products() -> None:
    sure = 0
    for _, body, truth in pages("article-extraction"):
        product = read_product(decode(body), url=truth["url"])
        sure += product.price is not None and product.price.confidence > 0.8
    assert sure <= 3


def facts_of(product: Product) -> list[Fact[Any]]:
    names = ("price", "list_price", "availability", "sku", "gtin", "mpn", "brand", "name", "image")
    return [fact for name in names if (fact := getattr(product, name))]


def at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def _normal(texts: list[str]) -> set[str]:
    return {str(Decimal(text).normalize()) for text in texts}
