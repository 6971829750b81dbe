"""What is true of a product now is told apart from what was true when its page was read last."""

import httpx

from leasehold_packs.monitors import service_rules
from tests.fetch.world import Site, page
from tests.packs.monitors.test_api import api, good
from tests.packs.monitors.test_checks import CAPTCHA
from tests.packs.monitors.watching import DAY, HTML, MINUTE, Watcher, item, known

__all__ = ["api"]


async def test_a_product_whose_page_is_not_there_is_not_in_stock(
    shop: Site, watcher: Watcher, api: httpx.AsyncClient
) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shown = good(await api.get(f"/monitors/products/{product_id}"))
    assert 'in stock<span class="soft">, checked' in shown
    kept = shop.pages.pop("/p/1")
    for state in ("active", "gone"):
        assert await watcher.check(product_id) == ("missing" if state == "active" else "gone")
        found = good(await api.get(f"/v1/monitors/products/{product_id}"))
        assert (found["availability"], found["last_availability"], found["state"]) == (None, "in_stock", state)
        assert (found["is_there"], found["is_current"], found["last_check"]["status"]) == (False, False, 404)
        [listed] = good(await api.get("/v1/monitors/products"))["data"]
        assert (listed["availability"], listed["is_current"]) == (None, False)
        shown = good(await api.get(f"/monitors/products/{product_id}"))
        assert "The page is not there (it answers 404)" in shown
        assert "when it was read last" in shown
        assert ", checked" not in shown.partition("Observations")[0]
        assert "not there" in good(await api.get("/monitors/products"))
        await watcher.pass_time(DAY + MINUTE)
    shop.pages["/p/1"] = kept
    await watcher.check(product_id)
    found = good(await api.get(f"/v1/monitors/products/{product_id}"))
    assert (found["availability"], found["is_there"], found["is_current"]) == ("in_stock", True, True)


async def test_a_check_that_could_not_read_a_product_says_so(
    shop: Site, watcher: Watcher, api: httpx.AsyncClient
) -> None:
    shop.pages["/p/1"] = item("20.00")
    product_id = await watcher.watch()
    shop.pages["/p/1"] = CAPTCHA
    assert await watcher.check(product_id) == "blocked"
    product = await watcher.product(product_id)
    assert (product.availability, product.is_there, product.is_current) == ("in_stock", True, False)
    shown = good(await api.get(f"/monitors/products/{product_id}"))
    assert "could not read it: a question to a person" in shown
    assert ", checked" not in shown.partition("Observations")[0]
    assert "blocked" in good(await api.get("/monitors/products"))


async def test_a_page_that_contradicts_itself_is_shown_to_do_so(
    shop: Site, watcher: Watcher, api: httpx.AsyncClient
) -> None:
    text = (
        item("20.00")
        .partition(b"\r\n\r\n")[2]
        .replace(b'"price": "20.00"', b'"price": "17.00"')
        .replace(b"/InStock", b"/OutOfStock")
    )
    shop.pages = {"/p/1": page(text, HTML), "/p/2": item("20.00", n=2)}
    contradicts, plain = await watcher.watch(), await watcher.watch("/p/2")
    shown = good(await api.get(f"/monitors/products/{contradicts}"))
    assert "contradicts itself about the price: 17.00 EUR in JSON-LD" in shown
    assert "but 20.00 EUR in what is shown" in shown
    assert "contradicts itself about stock: out of stock in JSON-LD" in shown
    assert "contradicts" not in good(await api.get(f"/monitors/products/{plain}"))
    listed = {str(one["product_id"]): one["disagrees"] for one in good(await api.get("/v1/monitors/products"))["data"]}
    assert listed == {str(contradicts): True, str(plain): False}
    assert "the page contradicts itself" in good(await api.get("/monitors/products"))


async def test_a_place_that_is_gone_is_not_the_cheapest(shop: Site, watcher: Watcher) -> None:
    shop.pages = {"/p/1": item("20.00")}
    first = await watcher.watch()
    group_id = known((await watcher.product(first)).group_id)
    shop.pages["/q/1"] = item("10.00")
    cheap = await watcher.watch("/q/1")
    compared = await watcher.ask(service_rules.compare_group, group_id)
    assert [one.percent_above_cheapest for one in compared.products] == [0, 100]
    del shop.pages["/q/1"]
    await watcher.check(cheap)
    compared = await watcher.ask(service_rules.compare_group, group_id)
    assert [(one.product_id, one.percent_above_cheapest) for one in compared.products] == [
        (first, 0),
        (cheap, None),
    ]
