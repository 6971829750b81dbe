"""What people do on the pages of packs, and with limits of kinds: through the pages, and in the audit log."""

import json
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from playwright.async_api import expect

from leasehold.database.database import Role
from leasehold.engine.audit import list_audit
from tests.dashboard.addresses import does
from tests.dashboard.conftest import Site
from tests.dashboard.pack_world import working
from tests.dashboard.world import World
from tests.fetch.world import Site as Shop
from tests.fetch.world import page as shop_page
from tests.fetch.world import serving
from tests.packs.monitors.watching import HTML

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def newest_actions(site: Site, n: int, *, installation: bool = False) -> list[tuple[str, str]]:
    """What people did last, the newest at the end."""
    async with site.world.cell.database(Role.OPERATOR if installation else Role.API, connections=1) as db:
        tenant = None if installation else site.world.acme
        found = await list_audit(db, tenant, before=None, limit=n)
    by_packs = ("flow.", "gate.", "schedule.")  # what a pack itself does for it
    people = [one for one in found if one.actor.startswith("person:") and not one.action.startswith(by_packs)]
    return [(one.action, one.target) for one in reversed(people)]


@does(
    "/postings/searches",
    "/postings/searches/{search_id}/remove",
    "/postings/{posting_id}/application",
    "/postings/board/{application_id}/remove",
)
async def test_a_posting_is_found_by_a_slip_of_the_pen_and_moved_over_a_board(
    site: Site,
    packed: World,
) -> None:
    posting = packed.made["posting"]
    async with site.open("/postings", "member") as page:
        await page.get_by_label("Search postings").fill("relibility")
        await page.get_by_role("button", name="Search", exact=True).click()
        await expect(page.locator("main")).to_contain_text("Showing results for reliability")
        await page.locator(".facet a").first.click()
        await expect(page.locator(".chips")).to_contain_text("Without any")
        await page.get_by_label("Name of the search").fill("Mine")
        await page.get_by_role("button", name="Save the search").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Mine")
        await page.goto("/postings/searches")
        await page.get_by_role("row", name="Mine").get_by_role("link", name="Forget").click()
        await page.get_by_role("dialog").get_by_role("button", name="Forget the search").click()
        await expect(page.get_by_role("row", name="Mine")).to_have_count(0)
        await page.goto(f"/postings/{posting}")
        await expect(page.locator(".diff .new").first).to_be_visible()
        await page.get_by_label("Stage").select_option("interview")
        await page.get_by_label("Note").fill("on Monday")
        await page.get_by_role("button", name="Put it on my board").click()
        await page.goto("/postings/board")
        card = page.locator("article", has_text="on Monday")
        await card.get_by_role("combobox").select_option("offer")
        await card.get_by_role("button", name="Move").click()
        await expect(page.locator("section", has_text="Offer").locator("article")).to_contain_text("on Monday")
        await page.locator("article").get_by_role("link", name="Take off").click()
        await page.get_by_role("dialog").get_by_role("button", name="Take it off").click()
        await expect(page.get_by_text("Your board is empty")).to_be_visible()
    acts = ["save_search", "forget_search", "apply", "apply", "unsave"]
    assert [action for action, _ in await newest_actions(site, 5)] == [f"postings.{act}" for act in acts]


@does("/postings/sources/{source_id}/closings/{act}", "/postings/sources/{source_id}/filters")
async def test_held_closings_are_decided_and_filters_changed(site: Site, packed: World) -> None:
    source = str(packed.made["source"])
    async with site.open("/postings/sources", "member") as page:
        await page.get_by_role("link", name="Decide").click()
        await page.get_by_role("link", name="Close them").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Close 9 postings of Made-up Ltd?")
        await dialog.get_by_role("button", name="Close 9 postings").click()
        await expect(page.get_by_role("status")).to_have_text("9 postings are closed.")
        await expect(page.locator("#live_held")).to_be_empty()
        await page.get_by_label("Titles with none of").fill("Intern, Working student")
        await page.get_by_role("button", name="Change the filters").click()
        await expect(page.locator("main")).to_contain_text("no titles with Intern, Working student")
    assert await newest_actions(site, 2) == [("postings.close_held", source), ("postings.filter", source)]


@does(
    "/postings/sources/detect", "/postings/sources", "/postings/sources/{source_id}/sync",
    "/postings/sources/{source_id}/closings/{act}", "/postings/sources/{source_id}/enabled", "/postings/runs",
    "/postings/runs/{run_id}/stop", "/postings/sources/{source_id}/remove",
)  # fmt: skip
@pytest.mark.long
async def test_a_board_is_looked_at_followed_asked_left_alone_and_forgotten(
    site: Site,
    packed: World,
) -> None:
    shop = Shop({"/jobs": jobs_page(14)})
    async with serving(shop) as port, site.open("/postings/sources", "member") as page:
        async with working(site.world, port):
            await page.get_by_label("The address of a company's board").fill(f"http://127.0.0.1:{port}/jobs")
            await page.get_by_role("button", name="Look at it first").click()
            await expect(page.locator("#live_found")).to_contain_text("Green Ltd, page: 14 postings")
            await page.get_by_role("button", name="Follow it").click()
            await expect(page.get_by_role("status")).to_have_text("Green Ltd is followed; its first run goes.")
            await expect(page.locator("#live_head")).to_contain_text("succeeded")
            await page.get_by_role("link", name="Green Ltd").first.click()
            shop.pages["/jobs"] = jobs_page(2)
            await page.get_by_role("button", name="Ask it now").click()
            await expect(page.locator("#live_head")).to_contain_text("succeeded")
        await page.get_by_role("link", name="Green Ltd").first.click()
        await page.get_by_role("link", name="Keep them open").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Keep 12 postings of Green Ltd?")
        await dialog.get_by_role("button", name="Keep them open").click()
        await expect(page.get_by_role("status")).to_have_text("They stay open.")
        source = UUID(urlsplit(page.url).path.rpartition("/")[2])
        await page.get_by_role("button", name="Do not ask it").click()
        await expect(page.locator("#live_health")).to_contain_text("not asked")
        await page.get_by_role("button", name="Ask it again").click()
        await expect(page.get_by_role("status")).to_have_text("It is asked again.")
        await page.goto("/postings/runs")
        await page.get_by_role("button", name="Ask all sources now").click()
        await page.wait_for_url("**/postings/runs/*")
        run = UUID(urlsplit(page.url).path.rpartition("/")[2])
        await expect(page.locator("#live")).to_have_text("Live")
        await page.get_by_role("link", name="Abort").click()
        await page.get_by_role("dialog").get_by_role("button", name="Abort the run").click()
        await expect(page.locator("#live_head")).to_contain_text("canceled")
        await page.goto(f"/postings/sources/{source}")
        await page.get_by_role("link", name="Forget").click()
        await expect(dialog).to_contain_text("Its postings, 14 of them open, go")
        await dialog.get_by_role("button", name="Forget the source").click()
        await expect(page.get_by_role("status")).to_have_text("The source is forgotten.")
        await expect(page.locator("#live_sources")).not_to_contain_text("Green Ltd")
    of_source = ["keep_held", "disable", "enable"]
    assert await newest_actions(site, 7) == [
        *((f"postings.{act}", str(source)) for act in of_source),
        ("postings.run", str(run)), ("postings.abort", str(run)), ("postings.forget", str(source)),
    ]  # fmt: skip


def jobs_page(n: int) -> bytes:
    """A company's page about jobs, as search engines like them."""
    telling = [
        {
            "@context": "https://schema.org",
            "@type": "JobPosting",
            "title": f"Gardener {number}",
            "description": "<p>Trees.</p>",
            "identifier": f"garden-{number}",
            "url": f"https://green.example/jobs/{number}",
            "hiringOrganization": {"@type": "Organization", "name": "Green Ltd"},
        }
        for number in range(n)
    ]
    return shop_page(f'<script type="application/ld+json">{json.dumps(telling)}</script>'.encode(), HTML)


@does(
    "/monitors", "/monitors/sites/{site_id}/settings", "/monitors/sites/{site_id}/paused",
    "/monitors/sites/{site_id}/discover", "/monitors/sites/{site_id}/crawl", "/monitors/sites/{site_id}/remove",
)  # fmt: skip
async def test_a_product_is_watched_and_its_site_is_changed_paused_searched_and_forgotten(
    site: Site, packed: World
) -> None:
    async with site.open("/monitors", "member") as page:
        await page.get_by_label("The address of a product").fill("https://garden.example/spade")
        await page.get_by_role("button", name="Watch it").click()
        await expect(page.get_by_role("status")).to_have_text("It is being looked at.")
        product = urlsplit(page.url).path.rpartition("/")[2]
        await page.get_by_role("link", name="Site", exact=True).click()
        shop = urlsplit(page.url).path.rpartition("/")[2]
        await page.get_by_label("Cron line").fill("not a time")
        await page.get_by_role("button", name="Change the settings").click()
        await expect(page.get_by_role("alert")).to_contain_text("not a time")
        await page.get_by_label("Cron line").fill("15 4 * * *")
        await page.get_by_label("Requests in a minute").fill("12")
        await page.get_by_role("button", name="Change the settings").click()
        await expect(page.get_by_role("status")).to_have_text("The settings are changed.")
        await expect(page.get_by_label("Requests in a minute")).to_have_value("12")
        await page.get_by_role("button", name="Pause").click()
        await expect(page.locator("#live_health")).to_contain_text("paused")
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("It is watched again.")
        await page.get_by_role("button", name="Find products").click()
        await expect(page.get_by_role("status")).to_have_text("Products are being looked for.")
        await page.get_by_role("button", name="Check all").click()
        await expect(page.get_by_role("status")).to_have_text("All products are being checked.")
        await page.get_by_role("link", name="Forget").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Its 1 product goes with what was seen of it.")
        await dialog.get_by_role("button", name="Forget the site").click()
        await expect(page.get_by_role("status")).to_have_text("The site is forgotten.")
        await expect(page.locator("#live_sites")).not_to_contain_text("garden.example")
    of_site = ["settings", "pause", "resume", "discover", "crawl", "forget"]
    expected = [("monitors.watch", product), *((f"monitors.{act}", shop) for act in of_site)]
    assert [one for one in await newest_actions(site, 60) if one in expected] == expected


@does(
    "/monitors/products/{product_id}/check", "/monitors/products/{product_id}/paused",
    "/monitors/products/{product_id}/try", "/monitors/products/{product_id}/selector",
)  # fmt: skip
async def test_a_product_is_paused_and_its_price_is_read_where_somebody_says(
    site: Site,
    packed: World,
) -> None:
    product = str(packed.made["product"])
    async with site.open(f"/monitors/products/{product}", "member") as page:
        await page.get_by_role("button", name="Pause").click()
        await expect(page.locator("#live_price")).to_contain_text("paused")
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("It is watched again.")
        where = page.get_by_label("Wrong? Say where the price stands")
        await where.fill(".price")
        await page.get_by_role("button", name="Try it on the kept page").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("monitors.try")
        await page.goto(f"/monitors/products/{product}")
        await where.fill(".price")
        await page.get_by_role("button", name="Use it").click()
        await expect(page.get_by_role("status")).to_have_text("Its price is read there from now on.")
        await where.fill("")
        await page.get_by_role("button", name="Use it").click()
        await expect(page.get_by_role("status")).to_have_text("Its price is read as it was before.")
        await expect(where).to_have_value("")
        await page.get_by_role("button", name="Check now").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("monitors.check")
    acts = ["pause", "resume", "selector", "selector", "check"]
    assert await newest_actions(site, 5) == [(f"monitors.{act}", product) for act in acts]


@does(
    "/audits", "/audits/{run_id}/stop", "/audits/{run_id}/resume", "/audits/{run_id}/reevaluate",
    "/audits/findings/{finding_id}",
)  # fmt: skip
async def test_an_audit_is_begun_stopped_resumed_and_judged_again_and_a_finding_is_accepted(
    site: Site, packed: World
) -> None:
    async with site.open("/audits", "member") as page:
        await page.get_by_label("The site to audit").fill("https://garden.example/")
        await page.get_by_role("button", name="Audit the site").click()
        await expect(page.get_by_role("status")).to_have_text("The audit has begun.")
        run = urlsplit(page.url).path.rpartition("/")[2]
        for _ in range(2):
            await page.get_by_role("link", name="Stop").click()
            dialog = page.get_by_role("dialog")
            await expect(dialog).to_contain_text("It has read 0 pages.")
            await dialog.get_by_role("button", name="Stop the audit").click()
            await expect(page.locator("#live_head")).to_contain_text("canceled")
            await page.get_by_role("button", name="Go on").click()
            await expect(page.get_by_role("status")).to_have_text("The audit goes on.")
        await page.goto(f"/audits/{packed.made['audit']}")
        await page.get_by_role("button", name="Judge again").click()
        await expect(page.get_by_role("status")).to_contain_text("nothing is fetched")
        again = urlsplit(page.url).path.rpartition("/")[2]
        await page.get_by_role("link", name="Site", exact=True).click()
        row = page.locator("tr", has=page.get_by_role("button", name="Accept")).first
        name = await row.get_by_role("link").inner_text()
        await row.get_by_label("Why").fill("it is a demonstration")
        await row.get_by_role("button", name="Accept").click()
        await expect(page.get_by_role("status")).to_have_text(f"{name}: accepted.")
        row = page.locator("tr", has_text="it is a demonstration")
        await row.get_by_role("button", name="Open it again").click()
        await expect(page.get_by_role("status")).to_have_text(f"{name}: open again.")
    done = [("audits.start", run), *[("audits.stop", run), ("audits.resume", run)] * 2, ("audits.reevaluate", again)]
    newest = await newest_actions(site, 10)
    assert newest[:-2] == done
    assert [action for action, _ in newest[-2:]] == ["audits.accept", "audits.reopen"]


@does(
    "/monitors/sites/{site_id}/approve",
    "/monitors/sites/{site_id}/reject",
    "/monitors/rules",
    "/monitors/rules/{rule_id}/remove",
)
async def test_products_are_approved_and_a_rule_is_made_and_removed(
    site: Site,
    packed: World,
) -> None:
    async with site.open("/monitors/approvals", "member") as page:
        await page.locator("#live_queues a").first.click()
        boxes = page.locator("input[name=candidate]")
        await boxes.first.uncheck()
        await page.get_by_role("button", name="Approve the ticked").click()
        await expect(page.get_by_role("status")).to_have_text("1 approved.")
        await page.get_by_role("button", name="Reject the ticked").click()
        await expect(page.get_by_role("status")).to_have_text("1 rejected.")
        await page.goto("/monitors/rules")
        await page.get_by_label("Name").fill("Cheap")
        await page.get_by_label("When").select_option("target")
        await page.get_by_label("So much").fill("15")
        await page.get_by_role("button", name="Make the rule").click()
        await expect(page.get_by_role("alert")).to_contain_text("has a currency")
        await page.get_by_label("Currency, for amounts").fill("eur")
        await page.get_by_role("button", name="Make the rule").click()
        row = page.get_by_role("row", name="Cheap")
        await expect(row).to_contain_text("the price falls to this, or below: 15 EUR")
        await row.get_by_role("link", name="Remove").click()
        await page.get_by_role("dialog").get_by_role("button", name="Remove the rule").click()
        await expect(page.get_by_role("row", name="Cheap")).to_have_count(0)
    acts = [action for action, _ in await newest_actions(site, 4)]
    assert acts == ["monitors.approve", "monitors.reject", "monitors.put_rule", "monitors.remove_rule"]


@does("/passports/issuer/prove")
async def test_an_issuer_whose_host_is_not_proven_sees_what_to_publish_and_has_it_looked_for(
    site: Site, packed: World
) -> None:
    proven = "update leasehold_passports.issuer set host_proven_at = {}"
    await packed.cell.change(proven.format("null"))
    try:
        async with site.open("/passports/issuer", "admin") as page:
            await expect(page.locator("main")).to_contain_text("https://acme.localhost/.well-known/leasehold-passports")
            await page.get_by_role("button", name="Look now").click()
            await expect(page.get_by_role("status")).to_have_text("The host is being asked.")
            await expect(page.locator("main")).to_contain_text("passports.prove_host")
    finally:
        await packed.cell.change(proven.format("now()"))
    assert await newest_actions(site, 1) == [("passports.prove_host", "acme")]


@does("/passports/issuer/rotate")
async def test_an_issuer_gets_a_new_key(site: Site, packed: World) -> None:
    async with site.open("/passports/issuer", "admin") as page:
        await page.get_by_role("link", name="Make a new key").click()
        await page.get_by_role("dialog").get_by_role("button", name="Make a new key").click()
        await expect(page.get_by_role("status")).to_have_text("The new key signs from now on.")
        signs = page.get_by_role("row", name="signs").get_by_role("rowheader")
        key_id = await signs.inner_text()
    assert await newest_actions(site, 1) == [("passports.rotate_key", key_id)]


@does("/kinds/limit", "/kinds/pause", "/queues/{queue}/limit", "/tenants/{name}/pause", "/tenants/{name}/resume")
async def test_the_operator_limits_and_pauses_a_kind_a_queue_and_a_tenant(site: Site) -> None:
    async with site.open("/queues") as page:
        await page.get_by_label("Kind", exact=True).fill("mail.nothing")
        await page.get_by_label("Jobs of it at once").fill("3")
        await page.get_by_role("button", name="Limit the kind").click()
        await expect(page.get_by_role("alert")).to_contain_text("there is no kind 'mail.nothing'")
        await page.get_by_label("Kind", exact=True).fill("mail.send")
        await page.get_by_label("Jobs of it at once").fill("3")
        await page.get_by_role("button", name="Limit the kind").click()
        row = page.locator("#live_kinds tr", has_text="mail.send")
        await expect(row).to_contain_text("3")
        await row.get_by_role("link", name="Pause").click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause the kind").click()
        await expect(row).to_contain_text("paused")
        await row.get_by_role("button", name="Resume").click()
        await expect(row).to_contain_text("open")
        await row.get_by_role("button", name="Remove").click()
        await expect(row).to_have_count(0)
        await page.get_by_label("feeds", exact=True).fill("2")
        await page.get_by_role("button", name="Change feeds").click()
        await expect(page.get_by_role("status")).to_have_text("Of queue feeds at most 2 run at once.")
        await page.get_by_label("feeds", exact=True).fill("")
        await page.get_by_role("button", name="Change feeds").click()
        await expect(page.get_by_role("status")).to_have_text("The queue feeds has no limit.")
        await page.goto("/tenants/initech")
        await page.get_by_role("link", name="Pause").click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause the tenant").click()
        await expect(page.locator("main")).to_contain_text("The tenant is paused")
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("Tenant initech goes on.")
    done = [action for action, _ in await newest_actions(site, 8, installation=True)]
    kinds = ["kind.limit", "kind.pause", "kind.resume", "kind.limit"]
    assert done == [*kinds, "queue.limit", "queue.limit", "tenant.pause", "tenant.resume"]
