"""What people do on the pages of packs, and with limits of kinds: through the pages, and in the audit log."""

import pytest
from playwright.async_api import expect

from leasehold.engine import watch
from leasehold.engine.database import Role
from tests.dashboard.conftest import Site
from tests.dashboard.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def newest_actions(site: Site, n: int, *, installation: bool = False) -> list[tuple[str, str]]:
    async with site.world.cell.database(Role.OPERATOR if installation else Role.API, connections=1) as db:
        tenant = None if installation else site.world.acme
        found = await watch.list_audit(db, tenant, before=None, limit=n)
    found = [one for one in found if one.action != "flow.cancel"]  # of a run that was aborted, by the pack itself
    assert all(one.actor.startswith("person:") for one in found)
    return [(one.action, one.target) for one in reversed(found)]


async def test_a_posting_is_found_by_a_slip_of_the_pen_and_moved_over_a_board(site: Site, packed: World) -> None:
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
        await page.locator("article").get_by_role("button", name="Take off").click()
        await expect(page.get_by_text("Your board is empty")).to_be_visible()
    acts = [action for action, _ in await newest_actions(site, 4)]
    assert acts == ["postings.save_search", "postings.apply", "postings.apply", "postings.unsave"]


async def test_held_closings_are_decided_and_a_run_is_aborted(site: Site, packed: World) -> None:
    source, run = (str(packed.made[name]) for name in ("source", "run"))
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
        await page.goto(f"/postings/runs/{run}")
        await expect(page.locator("#live")).to_have_text("Live")
        await page.get_by_role("link", name="Abort").click()
        await page.get_by_role("dialog").get_by_role("button", name="Abort the run").click()
        await expect(page.locator("#live_head")).to_contain_text("canceled")
    acts = await newest_actions(site, 4)
    assert acts == [("postings.close_held", source), ("postings.filter", source), ("postings.abort", run)]


async def test_products_are_approved_and_a_rule_is_made_and_removed(site: Site, packed: World) -> None:
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
        await row.get_by_role("button", name="Remove").click()
        await expect(page.get_by_role("row", name="Cheap")).to_have_count(0)
    acts = [action for action, _ in await newest_actions(site, 4)]
    assert acts == ["monitors.approve", "monitors.reject", "monitors.put_rule", "monitors.remove_rule"]


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
