"""One product at a time: what a check makes of what a shop answers."""

import json
from decimal import Decimal
from typing import Any

from leasehold_packs.monitors import service, service_rules
from tests.fetch.world import Site, moved, page
from tests.packs.monitors.watching import DAY, HTML, MINUTE, Watcher, item, known

CAPTCHA = page(b"<html><title>Robot check</title><body><p>Please solve this captcha.</p></body></html>", HTML)


async def test_the_first_check_says_what_there_is_and_how_it_was_read(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product = await watcher.product(await watcher.watch(tags=["red"]))
    assert (product.price, product.currency, product.availability) == ("20.00", "EUR", "in_stock")
    assert (product.sku, product.brand, product.tags) == ("S-00001", "Acme", ["red"])
    how = known(product.facts)["found"]["price"]
    assert (how["source"], how["method"]) == ("json-ld", "price")
    assert known(how["pointer"]).endswith("/offers/price")
    assert await watcher.changes() == [], "what is seen for the first time has not changed"


async def test_a_change_is_kept_and_told_once_and_noise_never(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("20.00", noise=1)
    assert await watcher.check(product_id) == "unchanged"
    shop.pages["/p/1"] = item("18.00", noise=2)
    assert await watcher.check(product_id) == "changed"
    assert await watcher.check(product_id) == "unchanged"
    assert await watcher.changes() == [("price", "20.00", "18.00")]
    [event] = await watcher.events("price_changed")
    assert (event["data"]["percent"], event["data"]["after"]["price"]) == (-10, "18.00")
    assert event["data"]["evidence"]["before"] != event["data"]["evidence"]["after"]
    seen = await watcher.ask(service.list_observations, product_id)
    assert [row.price for row in seen] == ["18.00", "20.00"], "written on change alone"


async def test_out_of_stock_is_a_change_and_a_missing_price_is_none(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("20.00", in_stock=False)
    await watcher.check(product_id)
    assert await watcher.changes() == [("availability", "in_stock", "out_of_stock")]
    product = await watcher.product(product_id)
    assert (product.state, product.price) == ("active", "20.00")


async def test_an_implausible_price_is_told_when_it_was_seen_twice(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("2.00")
    assert await watcher.check(product_id) == "doubtful"
    assert await watcher.check(product_id) == "doubtful", "seen again at once is not seen twice"
    assert (await watcher.product(product_id)).price == "20.00"
    assert await watcher.events("price_changed") == []
    await watcher.pass_time(11 * MINUTE)
    assert await watcher.changes() == [("price", "20.00", "2.00")]
    assert len(await watcher.events("price_changed")) == 1
    assert (await watcher.product(product_id)).waiting == []


async def test_an_implausible_price_that_goes_away_was_none(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("99.00")
    await watcher.check(product_id)
    shop.pages["/p/1"] = item("20.00", noise=4)
    await watcher.pass_time(11 * MINUTE)
    assert await watcher.changes() == []
    assert await watcher.changes(state="dismissed") == [("price", "20.00", "99.00")]
    assert len(await watcher.ask(service.list_observations, product_id)) == 1


async def test_a_price_a_hundred_times_as_high_is_no_price(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("200000.00")
    assert [await watcher.check(product_id) for _ in range(3)] == ["no_price"] * 3
    product = await watcher.product(product_id)
    assert (product.price, product.state) == ("20.00", "needs_attention")
    assert len(await watcher.events("needs_attention")) == 1


async def test_another_currency_is_confirmed_and_never_a_fall_of_the_price(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("22.00", currency="USD")
    assert await watcher.check(product_id) == "doubtful"
    await watcher.pass_time(11 * MINUTE)
    [event] = await watcher.events("%_changed")
    assert (event["type"], event["data"]["percent"]) == ("monitors.currency_changed", None)
    product = await watcher.product(product_id)
    assert (product.price, product.currency, product.low) == ("22.00", "USD", "22.00")


async def test_gone_is_not_there_twice_a_day_apart_and_may_return(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    kept = shop.pages.pop("/p/1")
    assert await watcher.check(product_id) == "missing"
    assert await watcher.check(product_id) == "missing"
    assert (await watcher.product(product_id)).state == "active"
    await watcher.pass_time(DAY + MINUTE)
    assert (await watcher.product(product_id)).state == "gone"
    assert await watcher.changes() == [("gone", "active", "gone")]
    shop.pages["/p/1"] = kept
    assert await watcher.check(product_id) == "changed"
    assert (await watcher.changes())[1:] == [("returned", "gone", "active")]
    assert (await watcher.product(product_id)).state == "active"


async def test_blocked_is_not_changed(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    for answer in (CAPTCHA, page(b"no", status="403 Forbidden"), page(b"", HTML)):
        shop.pages["/p/1"] = answer
        assert await watcher.check(product_id) == "blocked"
    product = await watcher.product(product_id)
    assert (product.price, product.state, product.result) == ("20.00", "active", "blocked")
    assert await watcher.changes(state=None) == []


async def test_a_redirect_to_something_else_wants_attention(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages |= {"/p/1": moved("/p/2"), "/p/2": item("30.00", n=2)}
    assert await watcher.check(product_id) == "moved"
    assert (await watcher.product(product_id)).state == "needs_attention"
    shop.pages |= {"/p/1": moved("/new/1"), "/new/1": item("20.00", noise=5)}
    assert await watcher.check(product_id) == "unchanged", "the same thing at another address"
    assert await watcher.changes() == []


async def test_small_steps_are_kept_and_told_when_they_add_up(shop: Site, watcher: Watcher) -> None:
    await watcher.site(threshold_percent=1)
    shop.pages["/p/1"] = item("100.00")
    product_id = await watcher.watch()
    for price, in_stock in (("99.40", False), ("98.80", False)):  # told of the stock is not told of the price
        shop.pages["/p/1"] = item(price, in_stock=in_stock)
        await watcher.check(product_id)
    assert len(await watcher.changes()) == 3
    [event] = await watcher.events("price_changed")
    assert event["data"]["after"]["price"] == "98.80"


async def test_each_rule_tells_of_what_it_was_made_for(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("100.00", in_stock=False)
    product_id = await watcher.watch(tags=["gift"])
    tenant = watcher.access.tenant_id

    async def rule(name: str, condition: str, **given: Any) -> None:
        await watcher.ask(service_rules.put_rule, tenant, name=name, condition=condition, **given)

    await rule("falls by 5 %", "percent", value=Decimal(5), direction="down", brand="acme")
    await rule("moves by 20", "absolute", value=Decimal(20), currency="EUR")
    await rule("at most 80", "target", value=Decimal(80), currency="EUR", direction="down", tag="gift")
    await rule("back", "back_in_stock", product_id=product_id)
    await rule("low", "new_low")
    await rule("dollars", "target", value=Decimal(90), currency="USD", direction="down")
    await rule("of others", "new_low", brand="Nobody")
    told: list[list[str]] = []
    for price, in_stock in (("94.00", False), ("95.00", True), ("70.00", True), ("69.00", True), ("95.00", True)):
        shop.pages["/p/1"] = item(price, in_stock=in_stock)
        await watcher.check(product_id)
        alerts = [event["data"]["rule"]["name"] for event in await watcher.events("alert")]
        told.append(sorted(alerts[sum(map(len, told)) :]))
    assert told == [
        ["falls by 5 %", "low"],
        ["back"],
        ["at most 80", "falls by 5 %", "low", "moves by 20"],
        ["low"],
        ["moves by 20"],
    ]


async def test_a_shop_that_is_down_is_asked_four_times_minutes_apart_and_nothing_has_changed(
    shop: Site, watcher: Watcher
) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = page(b"", HTML, status="502 Bad Gateway")
    job_id = await watcher.ask(service.check, product_id)
    for tried, minutes in ((1, 1), (2, 2), (3, 4)):
        await watcher.quiet()
        [waits] = await watcher.cell.look(
            "select attempt, extract(epoch from run_at - leasehold.now())::float8 as seconds from leasehold.deferred"
            f" where job_id = '{job_id}'"
        )
        assert waits["attempt"] == tried
        assert minutes * MINUTE / 4 < waits["seconds"] <= minutes * MINUTE
        await watcher.pass_time(minutes * MINUTE)
    assert (await watcher.ended(job_id)).result == "error"
    assert await watcher.changes(state=None) == []
    assert (await watcher.product(product_id)).price == "20.00"


async def test_somebody_elses_products_are_not_there(shop: Site, watcher: Watcher) -> None:
    from leasehold.errors import NotFound
    from leasehold.program.access import Access

    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = item("19.00")
    await watcher.check(product_id)
    other = Access(watcher.access._backend, watcher.cell.tenant_b, "test")
    async with other.transaction() as tx:
        assert (await service.list_sites(tx), await service.list_products(tx)) == ([], [])
        assert await service.list_changes(tx) == []
        for ask in (service.get_product, service.check, service.list_observations):
            try:
                await ask(tx, product_id)
            except NotFound:
                continue
            raise AssertionError(ask)


async def test_what_a_platform_says_in_json_stands_above_its_page(shop: Site, watcher: Watcher) -> None:
    def feed(*prices: int) -> bytes:
        variants = [{"id": 1000 + n, "price": price, "available": True} for n, price in enumerate(prices)]
        return page(json.dumps({"variants": variants}).encode(), "Content-Type: application/json")

    text = (
        item("20.00").split(b"\r\n\r\n")[1].replace(b"</head>", b"<script src=//cdn.shopify.com/a.js></script></head>")
    )
    shop.pages |= {"/products/cap": page(text, HTML), "/products/cap.js": feed(2100, 2500)}
    product_id = await watcher.watch("/products/cap")
    product = await watcher.product(product_id)
    assert (product.price, product.currency, product.method) == ("21.00", "EUR", "feed:price")
    assert [(one.variant, one.price) for one in product.variants] == [("1000", "21.00"), ("1001", "25.00")]
    assert await watcher.check(product_id) == "unchanged"
    shop.pages["/products/cap.js"] = feed(2000, 2500)
    assert await watcher.check(product_id) == "changed", "although the page is the same"
    told = {(one.kind, one.variant, one.told) for one in await watcher.ask(service.list_changes)}
    assert told == {("price", "1000", False), ("price", "", True)}, "the variant does just as the product"
    [event] = await watcher.events("price_changed")
    assert event["data"]["evidence"]["before"] != event["data"]["evidence"]["after"]
    [site] = await watcher.ask(service.list_sites)
    assert (await watcher.ended(await watcher.ask(service.reread, site.site_id))).result["same"] == 1
    del shop.pages["/products/cap.js"]
    assert await watcher.check(product_id) == "unchanged", "then the page will do: it says the same"


async def test_what_was_seen_before_somebody_else_looked_changes_nothing(shop: Site, watcher: Watcher) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    await watcher.cell.change("update leasehold_monitors.product set checked_at = checked_at + interval '1 hour'")
    shop.pages["/p/1"] = item("19.00")
    assert await watcher.check(product_id) == "late"
    assert (await watcher.product(product_id)).price == "20.00"
    assert await watcher.changes(state=None) == []
