"""What needs no database: times, ids, comparisons, readings, the demo's shop."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from leasehold_packs.monitors.changes import Known, compare, is_absurd
from leasehold_packs.monitors.demo.shop import LAYOUTS, Item, Shop, product_page
from leasehold_packs.monitors.extract import Observed, amount_text, read
from leasehold_packs.monitors.identity import shop_id
from leasehold_packs.monitors.model import Settings
from leasehold_packs.monitors.schedule import after_quiet, moment_of
from leasehold_packs.webfacts.currency import currencies_of
from leasehold_packs.webfacts.product import read_product

URL = "https://shop.example/p/1"
SHOPIFY = '<script src="https://cdn.shopify.com/x.js"></script>'
RID = '{"rtyp":"product","rid":42}'
WOO = '<body class="single-product postid-77"><link href="/wp-content/plugins/woocommerce/x.css">'


def observed(
    price: str | None = "10", currency: str | None = "EUR", stock: str | None = "in_stock", **more: str
) -> Observed:
    given = {"method": "json-ld:price", "stock_method": "json-ld:availability"} | more
    return Observed(price=Decimal(price) if price else None, currency=currency, availability=stock, **given)  # type: ignore[arg-type]


KNOWN = Known(
    price=Decimal("10.00"), currency="EUR", availability="in_stock", method="json-ld:price",
    stock_method="json-ld:availability",
)  # fmt: skip


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        (observed("10"), []),  # another spelling of the same amount
        (observed("10.01"), [("price", False)]),
        (observed("14.99"), [("price", False)]),
        (observed("15.01"), [("price", True)]),  # more than half
        (observed("4.99"), [("price", True)]),
        (observed("9", method="page:price"), [("price", True)]),  # read in another way
        (observed("10", method="page:price"), []),
        (observed("9", "USD"), [("currency", True)]),  # not a fall by a tenth
        (observed("10", stock="out_of_stock"), [("availability", False)]),
        (observed("10", stock="out_of_stock", stock_method="page:price-shown"), [("availability", True)]),
        (observed("9", stock="low"), [("price", False), ("availability", False)]),
        (observed(None), []),  # what is not shown has not changed
        (observed("10", stock=None), []),
    ],
)
def test_facts_are_compared_and_strange_ones_doubted(after: Observed, kinds: list[tuple[str, bool]]) -> None:
    found = compare(KNOWN, after, Settings())
    assert [(change.kind, change.doubt is not None) for change in found] == kinds


def test_a_hundredfold_price_is_absurd_and_another_currency_is_not() -> None:
    assert is_absurd(KNOWN, observed("1000"))
    assert is_absurd(KNOWN, observed("0.10"))
    assert not is_absurd(KNOWN, observed("999"))
    assert not is_absurd(KNOWN, observed("1700", "JPY"))


def test_turns_are_spread_keep_their_place_and_leave_the_night_alone() -> None:
    settings = Settings(spread_minutes=60, quiet="22:00-06:00", zone="Europe/Berlin")
    start = datetime(2026, 7, 1, 10, tzinfo=UTC)
    moments = [moment_of(uuid4(), start, settings) for _ in range(200)]
    assert all(start <= at < start + timedelta(hours=1) for at in moments)
    assert len({at.minute // 10 for at in moments}) == 6
    one = UUID(int=7)
    assert moment_of(one, start + timedelta(days=1), settings) - moment_of(one, start, settings) == timedelta(days=1)
    assert after_quiet(datetime(2026, 7, 1, 21, tzinfo=UTC), settings) == datetime(2026, 7, 2, 4, tzinfo=UTC)
    assert after_quiet(datetime(2026, 7, 2, 3, 59, tzinfo=UTC), settings) == datetime(2026, 7, 2, 4, tzinfo=UTC)
    assert after_quiet(datetime(2026, 7, 2, 4, tzinfo=UTC), settings) == datetime(2026, 7, 2, 4, tzinfo=UTC)
    noon = Settings(quiet="11:00-13:00")
    assert after_quiet(datetime(2026, 7, 1, 12, tzinfo=UTC), noon) == datetime(2026, 7, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "text", "expected"),
    [
        ("https://www.amazon.co.uk/x/dp/B08N5WRWNW/ref=sr_1", "", ("amazon", "B08N5WRWNW", "asin-in-path")),
        ("https://amazon.evil.example/dp/B08N5WRWNW", "", None),  # by the host, not by a word in it
        ("https://s.example/products/a", SHOPIFY + RID, ("shopify", "42", "product-id-in-page")),
        ("https://s.example/de/products/hemd-größe-l", SHOPIFY, ("shopify", "hemd-größe-l", "handle-in-path")),
        ("https://s.example/site/products/list", "", None),  # no mark of a platform
        ("https://w.example/shop/mug/", WOO, ("woocommerce", "77", "post-id-in-page")),
        ("https://g.example/p?pid=A-9", "", ("generic", "A-9", "parameter-pid")),
        ("https://g.example/x", '<span itemprop="sku">Q-12345</span>', ("generic", "Q-12345", "sku-page")),
    ],
)  # fmt: skip
def test_ids_are_those_of_the_platform_and_say_how(url: str, text: str, expected: tuple[str, ...] | None) -> None:
    found = shop_id(text, url, read_product(text, url=url))
    assert (found and (found.platform, found.value, found.method)) == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_noise_changes_no_fact(layout: str) -> None:
    item = Item(n=3, price=Decimal("49.90"))
    digests = {read(product_page(item, layout=layout, noise=n), url=URL).digest for n in range(20)}
    assert len(digests) == 1
    assert read(product_page(item, layout=layout), url=URL).main.price == Decimal("49.90")


def test_variants_are_kept_apart() -> None:
    offers = ", ".join(
        f'{{"@type": "Offer", "sku": "{size}-77", "price": "{price}", "priceCurrency": "EUR"}}'
        for size, price in (("S", "10.00"), ("M", "12.00"))
    )
    text = f'<script type="application/ld+json">{{"@type": "Product", "name": "Cap", "offers": [{offers}]}}</script>'
    reading = read(text, url=URL)
    assert [(one.variant, one.price) for one in reading.offers] == [
        ("", Decimal("10.00")), ("S-77", Decimal("10.00")), ("M-77", Decimal("12.00")),
    ]  # fmt: skip


def test_a_price_without_a_currency_is_none_unless_the_site_has_one() -> None:
    text = "<h1>Cap</h1><p class=price>12.50</p><button>Add to cart</button>"
    assert read(text, url=URL).main.price is None
    assert read(text, url=URL, currency="CHF").main.price == Decimal("12.50")


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [("12.5", "EUR", "12.50"), ("1200", "JPY", "1200"), ("1.5", "KWD", "1.500"), ("0.0325", "EUR", "0.0325")],
)
def test_amounts_have_the_decimals_of_their_currency(amount: str, currency: str, text: str) -> None:
    assert amount_text(Decimal(amount), currency) == text


def test_a_page_of_a_script_and_a_question_to_a_person_are_told_apart() -> None:
    scripted = read("<div id=app></div><script src=a.js></script>", url=URL)
    assert (scripted.needs_script, scripted.is_challenge) == (True, False)
    asked = read("<title>Security check</title><p>Prove it</p><script src=a.js></script>", url=URL)
    assert asked.is_challenge
    sold = read(product_page(Item(n=1, price=Decimal(9)), layout="json-ld").replace("<p>", "<p>no captcha "), url=URL)
    assert not sold.is_challenge
    assert read("<title>Page not found</title><p>404</p>", url=URL).is_not_found


def test_a_sign_has_all_its_currencies() -> None:
    assert currencies_of("€") == {"EUR"}
    assert {"USD", "CAD", "AUD"} <= currencies_of("$")
    assert currencies_of("?") == frozenset()


def test_the_shop_of_the_demo_changes_the_same_way_for_the_same_seed() -> None:
    first, again = Shop(seed=5), Shop(seed=5)
    days = [[first.item(n, day) for n in range(24)] for day in range(6)]
    assert days == [[again.item(n, day) for n in range(24)] for day in range(6)]
    assert any(before != after for before, after in zip(days[0], days[5], strict=True))
    assert first.page("/p/99") is None
    assert Shop(seed=6).item(0) != first.item(0)
