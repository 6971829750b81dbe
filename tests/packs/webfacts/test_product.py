"""One product off one page."""

import json
from decimal import Decimal
from typing import Any

import pytest

from leasehold.errors import BadInput
from leasehold_packs.webfacts.availability import Availability, schema_availability
from leasehold_packs.webfacts.gtin import gtin_of
from leasehold_packs.webfacts.money import Money
from leasehold_packs.webfacts.product import Product, read_product
from leasehold_packs.webfacts.shop_words import worded_availability

URL = "https://shop.example.de/p/chair-123456"


def read(html: str, **given: Any) -> Product:
    return read_product(html, url=URL, **given)


def ld(**properties: Any) -> str:
    thing = {"@context": "https://schema.org", "@type": "Product", "name": "Chair"} | properties
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


def price(product: Product) -> tuple[str, str | None] | None:
    return (str(product.price.value.amount), product.price.value.currency) if product.price else None


@pytest.mark.parametrize(
    "offers",
    [
        {"@type": "Offer", "price": "2.449", "priceCurrency": "EUR"},
        {"@type": "Offer", "price": 2.449, "priceCurrency": "EUR"},
        [{"@type": "Offer", "price": 2.449, "priceCurrency": "eur"}],
        {"@type": "AggregateOffer", "lowPrice": "2.449", "highPrice": "9", "priceCurrency": "EUR"},
        {"@type": "AggregateOffer", "lowPrice": "1", "offers": [{"price": "2.449", "priceCurrency": "EUR"}]},
        {"@type": "Offer", "priceSpecification": {"price": "2.449", "priceCurrency": "EUR"}},
        {"@type": "Offer", "priceCurrency": "EUR", "priceSpecification": [
            {"priceType": "https://schema.org/ListPrice", "price": 5},
            {"price": "2.449"},
            {"price": "24.49", "referenceQuantity": {"value": 100}},
        ]},
    ],
)  # fmt: skip
def test_offers_are_read_in_all_their_shapes(offers: Any) -> None:
    assert price(read(ld(offers=offers))) == ("2.449", "EUR")


def test_a_struck_price_is_kept_apart() -> None:
    offer = {"priceCurrency": "EUR", "price": 4, "priceSpecification": {"priceType": "ListPrice", "price": 5}}
    product = read(ld(offers=offer))
    assert price(product) == ("4", "EUR")
    assert product.list_price is not None
    assert product.list_price.value == Money(amount=Decimal(5), currency="EUR")


def test_variants_are_offers_of_one_product() -> None:
    variants = [
        {
            "@type": "Product",
            "sku": f"C-{size}",
            "offers": {"price": size, "priceCurrency": "EUR", "availability": state},
        }
        for size, state in ((10, "OutOfStock"), (20, "InStock"))
    ]
    product = read(ld(**{"@type": "ProductGroup", "hasVariant": variants}))
    assert [(offer.key, offer.availability) for offer in product.offers] == [
        ("C-10", Availability.OUT_OF_STOCK),
        ("C-20", Availability.IN_STOCK),
    ]
    assert price(product) == ("20", "EUR")


def test_the_url_says_which_variant_is_meant() -> None:
    offers = [{"sku": "111111", "price": 1}, {"sku": "123456", "price": 2}]
    assert price(read(ld(offers=offers))) == ("2", "EUR")


def test_other_products_on_the_page_are_not_the_product() -> None:
    related = {"@type": "Product", "name": "Table", "offers": {"price": 1, "priceCurrency": "EUR"}}
    html = ld(isRelatedTo=[related], offers={"price": 7, "priceCurrency": "EUR"})
    assert price(read(html)) == ("7", "EUR")
    tables = f'<script type="application/ld+json">{json.dumps(related)}</script>'
    assert price(read(f"<h1>Chair</h1>{tables}{ld(offers={'price': 7})}")) == ("7", "EUR")


def test_every_fact_points_to_where_it_was_found() -> None:
    fact = read(ld(offers=[{"price": 7, "priceCurrency": "EUR"}])).price
    assert fact is not None
    assert (fact.source, fact.method, fact.pointer) == ("json-ld", "price", "/json-ld/0/offers/0/price")


def test_agreement_makes_sure_and_disagreement_is_told() -> None:
    shown = '<h1>Chair</h1><p class="product-price">{} €</p>'
    offers = {"price": "7", "priceCurrency": "EUR"}
    alone, agreed, disputed = (read(ld(offers=offers) + html) for html in ("", shown.format(7), shown.format(8)))
    sure = [product.price.confidence for product in (disputed, alone, agreed) if product.price]
    assert sure == sorted(set(sure))
    assert len(sure) == 3
    assert agreed.disagreements == ()
    (found,) = disputed.disagreements
    assert (found.name, found.chosen.value.amount, found.other.value.amount) == ("price", Decimal(7), Decimal(8))
    assert (found.chosen.source, found.other.source) == ("json-ld", "page")


def test_a_persons_selector_stands_above_all() -> None:
    product = read(ld(offers={"price": 7, "priceCurrency": "EUR"}) + "<b id=x>5,00 €</b>", price_selector="#x")
    assert price(product) == ("5.00", "EUR")
    assert [found.name for found in product.disagreements] == ["price"]


@pytest.mark.parametrize(
    ("selector", "elements"),
    [
        ("p:nth-child(2)", 30_000),
        ("q ~ p", 30_000),
        ("p:has(~ p ~ q)", 1000),
        (":has(:has(:has(q)))", 200),
        (r":\68 as(:h\61s(:h\61s(q)))", 200),
    ],
)
def test_a_selector_that_would_take_too_long_is_refused(selector: str, elements: int) -> None:
    with pytest.raises(BadInput, match="takes too long on a page of this size"):
        read("<p>x" * elements, price_selector=selector)


@pytest.mark.parametrize(
    "selector", ["table tr:nth-child(2) td:nth-child(3)", "h2 ~ p ~ b", "[rel~=x]", ".md\\:price", "p:has(b)"]
)
def test_an_ordinary_selector_is_tried_on_an_ordinary_page(selector: str) -> None:
    read("<p>x" * 4000, price_selector=selector)


def test_what_is_no_selector_is_refused() -> None:
    with pytest.raises(BadInput, match="not a CSS selector"):
        read("<p>", price_selector="#[")


@pytest.mark.parametrize(
    ("html", "amount"),
    [
        ('<span class="price">19,99 €</span>', "19.99"),
        ('<span class="price">19<sup>99</sup> €</span>', "19.99"),
        ('<span class="Preis">€ 1.299,-</span>', "1299"),
        ('<div class="price-box"><del>25 €</del> <ins>19,99 €</ins></div>', "19.99"),
        ('<div class="price-box"><b>25 €</b> <b>19,99 €</b></div>', "19.99"),  # the old one comes first
        ('<p class="price">19,99 €</p><p class="shipping-price">4,90 €</p>', "19.99"),
        ('<p class="unit-price">1,99 €/100 g</p><p class="price">19,99 €</p>', "19.99"),
        ('<p class="price">19,99 €</p><ul class="related"><li class="price">5 €</li></ul>', "19.99"),
        ('<meta itemprop="price" content="19.99">', "19.99"),
        ('<span class="price"><i>19</i><i>,</i><i>99</i> €</span>', "19.99"),
        ('<div class="x7Gh"><span class="q9">€19.99</span></div>', "19.99"),  # names that say nothing
    ],
)
def test_a_price_is_read_off_plain_markup(html: str, amount: str) -> None:
    assert price(read(f"<h1>Chair</h1>{html}")) == (amount, "EUR")


@pytest.mark.parametrize(
    "html", ["", "<p>costs 5 €</p>", '<p class="price">on request</p>', '<p class="price">-20 %</p>']
)
def test_no_price_is_made_up(html: str) -> None:
    product = read(html)
    assert (product.price, product.availability) == (None, None)


def test_what_is_sold_out_takes_no_price_from_elsewhere() -> None:
    assert read("<h1>Chair</h1><p class=stock>Sold out</p><span>€19.99</span>").price is None


@pytest.mark.parametrize(
    ("html", "state", "method"),
    [
        ('<p class="stock in-stock">Auf Lager</p>', Availability.IN_STOCK, "words"),
        ('<p class="availability">Derzeit nicht verfügbar</p>', Availability.OUT_OF_STOCK, "words"),
        ('<link itemprop="availability" href="https://schema.org/PreOrder">', Availability.PREORDER, "itemprop"),
        ("<button>In den Warenkorb</button>", Availability.IN_STOCK, "button"),
        ("<button>Sold out</button>", Availability.OUT_OF_STOCK, "button"),
        ('<p class="price">5 €</p><button disabled>In den Warenkorb</button>', Availability.IN_STOCK, "price-shown"),
        (
            '<p class="stock" style="display: none">Sold out</p><button>Add to cart</button>',
            Availability.IN_STOCK,
            "button",
        ),
    ],
)
def test_stock_is_read_off_words_then_buttons(html: str, state: Availability, method: str) -> None:
    fact = read(f"<h1>Chair</h1>{html}").availability
    assert fact is not None
    assert (fact.value, fact.method) == (state, method)


@pytest.mark.parametrize(
    ("html", "code", "method"),
    [
        ('<span class="sku">AB-123</span>', "AB-123", "named"),
        ("<p>Artikelnummer: 00.123.45</p>", "00.123.45", "label"),
        ("<p>Product code 4711</p>", "4711", "label"),
        ("<p>Артикул: 73556</p>", "73556", "label"),
        ('<form><input type="hidden" name="id" value="123456"></form>', "123456", "corroborated"),
    ],
)
def test_a_code_is_read_off_names_labels_and_the_url(html: str, code: str, method: str) -> None:
    fact = read(html).sku
    assert fact is not None
    assert (fact.value, fact.method) == (code, method)


def test_a_number_in_the_url_alone_is_no_code() -> None:
    assert read("<h1>Chair</h1>").sku is None


def test_open_graph_is_read_below_schema_org() -> None:
    said = {"price:amount": "9.5", "price:currency": "USD", "availability": "out of stock"}
    metas = "".join(f'<meta property="product:{name}" content="{value}">' for name, value in said.items())
    product = read(f"<head>{metas}</head>")
    assert price(product) == ("9.5", "USD")
    assert product.availability is not None
    assert product.availability.value is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(("text", "gtin"), [
    ("4054278533728", "4054278533728"),
    ("ean:4054278533728", "4054278533728"),
    ("978-0-552-17374-2", "9780552173742"),
    ("4054278533729", None),  # the check digit is wrong
    ("0000000000000", None),
    ("12345", None),
    ("４０５４２７８５３３７２８", None),
])  # fmt: skip
def test_a_gtin_has_a_right_check_digit(text: str, gtin: str | None) -> None:
    assert gtin_of(text) == gtin


@pytest.mark.parametrize(("text", "state"), [
    ("https://schema.org/InStock", Availability.IN_STOCK),
    ("http://schema.org/OutOfStock/", Availability.OUT_OF_STOCK),
    ("in stock", Availability.IN_STOCK),
    ("SoldOut", Availability.OUT_OF_STOCK),
    ("", None),
    ("maybe", None),
])  # fmt: skip
def test_schema_orgs_words_are_known(text: str, state: Availability | None) -> None:
    assert schema_availability(text) is state


@pytest.mark.parametrize("text", ["not in stock", "Nicht auf Lager", "Нет в наличии", "品切れ", "Non disponibile"])
def test_a_denied_stock_is_no_stock(text: str) -> None:
    assert worded_availability(text) is Availability.OUT_OF_STOCK
