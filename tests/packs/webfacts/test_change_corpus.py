"""A price changes on a real page: the facts see it, the SimHash does not."""

import re
from decimal import Decimal

import pytest

from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.page import read_page
from leasehold_packs.webfacts.page_change import Reading, Rung, Verdict, judge
from leasehold_packs.webfacts.product import read_product
from leasehold_packs.webfacts.simhash import distance
from tests.corpora.data import needs_corpora
from tests.packs.webfacts.corpora import pages

pytestmark = [needs_corpora, pytest.mark.long]


@pytest.fixture(scope="module")
def judged() -> list[tuple[Verdict, Verdict, Verdict]]:
    """A page as it is, with noise, and with another price wherever the price stands."""
    found = []
    for _, body, truth in pages("product-extraction"):
        price, url = next((text.strip() for text in truth.get("price", ())), ""), truth["url"]
        if not re.fullmatch(r"\d{2,}\.\d*[1-9]\d*", price):
            continue  # a number such as 20 stands for many things on a page
        first, read = _judge(None, body, url)
        if read == Decimal(price):
            noisy, repriced = body + b"<!-- 4711 --><i>4711</i>", _repriced(body, price)
            found.append((first, _judge(first, noisy, url)[0], _judge(first, repriced, url)[0]))
    return found


def test_noise_is_no_change(judged: list[tuple[Verdict, Verdict, Verdict]]) -> None:
    assert {noisy.rung for _, noisy, _ in judged} == {Rung.SAME_FACTS}


def test_another_price_is_a_change_on_every_page(judged: list[tuple[Verdict, Verdict, Verdict]]) -> None:
    assert len(judged) > 15
    assert {repriced.rung for _, _, repriced in judged} == {Rung.OTHER_FACTS}


def test_a_simhash_would_have_missed_most_of_them(judged: list[tuple[Verdict, Verdict, Verdict]]) -> None:
    hashes = [(first.snapshot.simhash, repriced.snapshot.simhash) for first, _, repriced in judged]
    near = sum(distance(one, other) <= 3 for one, other in hashes if one is not None and other is not None)
    print(f"{near} of {len(hashes)} pages with another price are within three bits")
    assert near > len(hashes) / 2


def _judge(before: Verdict | None, body: bytes, url: str) -> tuple[Verdict, Decimal | None]:
    prices: list[Decimal | None] = []

    def read(body: bytes) -> Reading:
        text = decode(body)
        price = read_product(text, url=url).price
        prices.append(price.value.amount if price else None)
        return Reading(facts={"price": price.value if price else None}, text=read_page(text, url=url).text)

    verdict = judge(before.snapshot if before else None, status=200, body=body, read=read, extractor="1")
    return verdict, prices[0] if prices else None


def _repriced(body: bytes, price: str) -> bytes:
    """Seven more, in every spelling: ``41.30``, ``41,30`` and a machine's ``41.3``."""
    whole, cents = price.rstrip("0").split(".")
    spelling = rf"(?<!\d){whole}([.,]){cents}(0*)(?!\d)"
    return re.sub(spelling.encode(), rf"{int(whole) + 7}\g<1>{cents}\g<2>".encode(), body)
