"""What people do on pages, through the pages: with the mouse, with the keyboard, and without scripts."""

import asyncio
import json
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from playwright.async_api import Page, Route, expect

from leasehold.dashboard.filters import short
from leasehold.database.database import Role
from leasehold.engine import jobs
from leasehold.engine.audit import list_audit
from leasehold.features.flows.model import approval
from leasehold.features.flows.store import Flows
from leasehold.features.jobs import store as look
from leasehold.features.jobs import store_bulk
from leasehold.features.schedules.store import Schedules
from leasehold.job import State
from tests.dashboard.addresses import does
from tests.dashboard.conftest import Site, axe
from tests.features.people.signed_in import member

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def ask(site: Site, kind: str, n: int = 1) -> list[UUID]:
    """New jobs of acme, which nobody runs."""
    async with site.world.cell.database(Role.API, connections=1) as db:
        return [one.job_id for one in await jobs.enqueue(db, site.world.acme, kind, ['{"n": 1}'] * n, {})]


async def state_of(site: Site, job_id: UUID) -> State:
    async with site.world.cell.database(Role.API, connections=1) as db:
        return (await jobs.get_job(db, site.world.acme, job_id)).state


async def said(page: Page) -> str:
    return await page.get_by_role("status").inner_text()


@does("/jobs/{job_id}/cancel")
async def test_a_job_is_canceled_after_a_question_and_the_log_names_who(site: Site) -> None:
    [job_id] = await ask(site, "acts.cancel")
    async with site.open(f"/jobs/{job_id}", "admin") as page:
        await expect(page.get_by_role("heading", name="Why is it waiting?")).to_be_visible()
        await page.get_by_role("link", name="Cancel").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("Cancel acts.cancel?")
        await dialog.get_by_label("Reason").fill("ordered twice")
        assert await state_of(site, job_id) is State.QUEUED
        await dialog.get_by_role("button", name="Cancel the job").click()
        await expect(page.get_by_role("status")).to_have_text("Canceled.")
        await expect(page.locator("#live_head")).to_contain_text("ordered twice")
    async with site.world.cell.database(Role.API, connections=1) as db:
        [newest] = await list_audit(db, site.world.acme, before=None, limit=1)
    assert (newest.action, newest.target) == ("job.cancel", str(job_id))
    assert newest.actor.startswith("person:")


@does("/jobs/cancel", "/jobs/retry", "/jobs/act")
async def test_chosen_jobs_are_canceled_and_retried_together(site: Site) -> None:
    ids = await ask(site, "acts.many", 3)
    async with site.open("/jobs?q=kind:acts.many", "member") as page:
        for box in await page.locator("input[name=job]").all():
            await box.check()
        await expect(page.locator("[data-chosen]")).to_have_text("3 chosen")
        await page.get_by_role("button", name="Cancel chosen").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel 3 jobs").click()
        await expect(page.get_by_role("status")).to_have_text("Canceled 3 jobs.")
        assert {await state_of(site, one) for one in ids} == {State.CANCELED}
        await page.goto("/jobs?q=kind:acts.many&state=canceled")
        await page.locator("input[name=job]").first.check()
        await page.get_by_role("button", name="Retry chosen").click()
        await page.get_by_role("dialog").get_by_role("button", name="Retry 1 job").click()
        await expect(page.get_by_role("status")).to_have_text("Retried 1 job.")
        await page.goto("/jobs?q=kind:acts.many&state=canceled")
        await page.get_by_role("button", name="retry", exact=True).click()  # all that match
        await page.get_by_role("dialog").get_by_role("button", name="Retry 2 jobs").click()
        await expect(page.get_by_role("status")).to_contain_text("cancel it to undo")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("jobs.act")
        assert await do_bulk(site, UUID(page.url.rpartition("/")[2])) == 2
    assert {await state_of(site, one) for one in ids} == {State.SCHEDULED}


@does("/jobs/act", "/jobs/{job_id}/cancel")
async def test_what_was_asked_of_all_that_match_is_undone_within_its_window(site: Site) -> None:
    ids = await ask(site, "acts.undo", 2)
    async with site.open("/jobs?q=kind:acts.undo", "member") as page:
        await page.get_by_role("button", name="cancel", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel 2 jobs").click()
        await expect(page.get_by_role("status")).to_contain_text("until then, cancel it to undo")
        act = UUID(page.url.rpartition("/")[2])
        assert await state_of(site, act) is State.SCHEDULED
        await page.get_by_role("link", name="Cancel").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
        await expect(page.get_by_role("status")).to_have_text("Canceled.")
    assert await state_of(site, act) is State.CANCELED
    assert {await state_of(site, one) for one in ids} == {State.QUEUED}


async def test_a_search_suggests_names_within_payloads_after_whatever_was_typed(site: Site) -> None:
    options = "[...document.getElementById('qualifiers').options].map(one => one.value)"
    async with site.open("/jobs?q=kind:shop.refund", "member") as page:
        assert "payload.amount.cents:" in await page.evaluate(options)
        await page.get_by_label("Search jobs").fill("state:dead pay")
        assert "state:dead payload.amount.cents:" in await page.evaluate(options)
    async with site.open("/jobs?q=kind:shop.refund", "viewer") as page:
        assert not [one for one in await page.evaluate(options) if one.startswith("payload")]


async def do_bulk(site: Site, job_id: UUID) -> int:
    """What a worker does for the job jobs.act: how many it did."""
    async with site.world.cell.database(Role.OPERATOR, connections=1) as db:
        [job] = await look.see_jobs(db, None, [job_id])
    async with site.world.cell.database(Role.WORKER, connections=1) as db:
        acted = await store_bulk.act(db, job.tenant_id, job_id, job.payload["reason"])
    assert (acted.rest, acted.changed) == (False, 0)
    return acted.done


@does("/jobs/act")
async def test_failures_of_one_cause_are_retried_together(site: Site) -> None:
    async with site.world.cell.database(Role.OPERATOR, connections=1) as db:
        [group] = [one for one in await look.list_failures(db, site.world.globex) if one.type == "BadFeed"]
    assert group.n == 3  # three messages, which differ by a number
    async with site.open("/failures?tenant=globex") as page:
        await page.get_by_role("link", name="Retry all").click()
        await page.get_by_role("dialog").get_by_role("button", name="Retry 3 jobs").click()
        await expect(page.get_by_role("status")).to_contain_text("cancel it to undo")
        job_id = UUID(urlsplit(page.url).path.rpartition("/")[2])
    assert await do_bulk(site, job_id) == 3
    async with site.world.cell.database(Role.OPERATOR, connections=1) as db:
        assert await look.list_failures(db, site.world.globex) == []
        [asked] = [one for one in await list_audit(db, None, before=None, limit=20) if one.action == "jobs.act"][:1]
    assert (asked.target, asked.actor.startswith("person:")) == (str(job_id), True)


@does("/jobs/{job_id}/copy")
async def test_a_copy_with_another_payload_is_linked_to_the_first(site: Site) -> None:
    [job_id] = await ask(site, "acts.copy")
    async with site.open(f"/jobs/{job_id}", "member") as page:
        await page.get_by_role("link", name="Edit and run a copy").click()
        await page.get_by_label("Payload").fill('{"n": ')
        await page.get_by_role("button", name="Run the copy").click()
        await expect(page.get_by_role("alert")).to_contain_text("Expecting value")
        await page.get_by_label("Payload").fill(json.dumps({"n": 2}))
        await page.get_by_role("button", name="Run the copy").click()
        await expect(page.get_by_text("Copy of", exact=True)).to_be_visible()
        copy = UUID(page.url.rpartition("/")[2])
    async with site.world.cell.database(Role.API, connections=1) as db:
        made = await jobs.get_job(db, site.world.acme, copy)
    assert (made.kind, made.payload, made.copied_from) == ("acts.copy", {"n": 2}, job_id)


async def test_progress_comes_to_an_open_page_by_itself(site: Site) -> None:
    async with site.open(f"/jobs/{site.world.made['running']}", "viewer") as page:
        await expect(page.locator("#live")).to_have_text("Live")
        before = page.locator("#live_timeline li")
        n = await before.count()
        await site.world.say("running", 62.5, "6,000 of 9,600 rows")
        await expect(before).to_have_count(n + 1)
        await expect(page.locator("#live_head")).to_contain_text("62 %")


@pytest.mark.parametrize("late", ["app.js", "htmx.min.js", "hx-sse.min.js"])
async def test_a_page_is_live_whichever_of_its_scripts_comes_last(site: Site, late: str) -> None:
    async def come_late(route: Route) -> None:
        await asyncio.sleep(0.3)
        await route.continue_()

    async with site.visit("viewer") as page:
        await page.route(f"**/{late}*", come_late)
        await page.goto(f"/jobs/{site.world.made['running']}")
        await expect(page.locator("#live")).to_have_text("Live")


@does("/jobs/{job_id}/cancel")
async def test_the_main_path_is_walked_with_the_keyboard_alone(site: Site) -> None:
    [job_id] = await ask(site, "acts.keys")
    async with site.open("/", "member") as page:
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_contain_text("Search jobs")
        await page.keyboard.press("Escape")
        await page.keyboard.press("j")
        await page.wait_for_url("**/jobs")
        await page.keyboard.press("/")
        await page.keyboard.type("kind:acts.keys")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**q=kind*")
        link = page.get_by_role("link", name="acts.keys")
        while not await link.evaluate("it => it === document.activeElement"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/jobs/{job_id}")
        cancel = page.get_by_role("link", name="Cancel")
        while not await cancel.evaluate("it => it === document.activeElement"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Enter")  # the button that does it has the focus
        await expect(page.get_by_role("status")).to_have_text("Canceled.")
        await page.keyboard.press("f")
        await page.wait_for_url("**/failures")


@does("/flows/{flow_id}/retry", "/flows/{flow_id}/cancel")
async def test_a_failed_flow_goes_on_from_its_failed_step_and_is_canceled(site: Site) -> None:
    flow_id = site.world.made["flow_failed"]
    async with site.open("/flows?state=failed", "member") as page:
        await page.get_by_role("link", name="restock").click()
        await expect(page.locator("#live_steps")).to_contain_text("only 2 of 3 are left")
        await page.locator("#live_graph .node.failed", has_text="reserve").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("shop.reserve")
        await page.get_by_role("link", name=short(flow_id)).click()  # its flow
        await expect(page.locator("#live_graph")).to_contain_text("8 × shop.label")
        await page.get_by_role("link", name="Retry").click()
        await page.get_by_role("dialog").get_by_role("button", name="Retry from what failed").click()
        await expect(page.get_by_role("status")).to_contain_text("It goes on")
        await expect(page.locator("#live_graph .node.queued")).to_contain_text("reserve")
        await page.get_by_role("link", name="Cancel").click()
        await page.get_by_role("dialog").get_by_label("Reason").fill("sold out")
        await page.get_by_role("dialog").get_by_role("button", name="Cancel the flow").click()
        await expect(page.locator("#live_head")).to_contain_text("sold out")
    async with site.world.cell.database(Role.API, connections=1) as db:
        newest = await list_audit(db, site.world.acme, before=None, limit=2)
    assert [(one.action, one.target) for one in newest] == [("flow.cancel", str(flow_id)), ("flow.retry", str(flow_id))]


async def test_a_flow_is_drawn_as_it_moves(site: Site) -> None:
    async with site.open(f"/flows/{site.world.made['flow_running']}", "viewer") as page:
        await expect(page.locator("#live")).to_have_text("Live")
        await expect(page.locator("#live_graph .node.running")).to_contain_text("charge")
        await site.world.finish_step("shop.charge")
        await expect(page.locator("#live_graph .node.blocked", has_text="release")).to_contain_text(
            "waits for a person"
        )
        await expect(page.locator("#live_graph .node.running")).to_have_count(0)


@does("/approvals/{job_id}/approve", "/approvals/{job_id}/reject")
async def test_a_person_approves_one_flow_and_rejects_another_with_a_reason(site: Site) -> None:
    first, second = [await start_approval(site, name) for name in ("first", "second")]
    async with site.open("/approvals", "member") as page:
        await expect(page.locator(".approval").first).to_contain_text("May order 4711 leave the house?")
        asked = page.locator(".approval", has_text="first")
        await asked.get_by_role("link", name="Approve").click()
        await page.get_by_role("dialog").get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("status")).to_have_text("Approved: the flow first goes on.")
        await expect(asked).to_have_count(0)
        asked = page.locator(".approval", has_text="second")
        await asked.get_by_role("link", name="Reject").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Reject").click()  # not without a reason
        await expect(dialog).to_be_visible()
        await dialog.get_by_label("Reason").fill("the address is wrong")
        await dialog.get_by_role("button", name="Reject").click()
        await expect(page.get_by_role("status")).to_contain_text("Rejected")
    async with site.world.cell.database(Role.API, connections=1) as db:
        flows = Flows(db, site.world.acme, lambda: None)
        [approved], [rejected] = [await flows.steps(one) for one in (first, second)]
        decided = await list_audit(db, site.world.acme, before=None, limit=2)
    assert (approved.state, rejected.state) == ("succeeded", "failed")
    assert "the address is wrong" in str(rejected.reason)
    assert [one.action for one in decided] == ["approval.reject", "approval.approve"]
    assert all(one.actor.startswith("person:") for one in decided)


async def start_approval(site: Site, name: str) -> UUID:
    async with site.world.cell.database(Role.API, connections=1) as db:
        return await Flows(db, site.world.acme, lambda: None).start(approval(name, name=name), name=name)


@does("/gates/reset")
async def test_a_gate_whose_breaker_is_open_is_reset_by_the_operator(site: Site) -> None:
    async with site.open("/gates") as page:
        line = page.locator("#live_lines tr", has_text="host:bank.example.com")
        await expect(line).to_contain_text("breaker open")
        await expect(page.locator("#live_lines tr", has_text="order-4720")).to_contain_text("1 at once")
        await line.get_by_role("link", name="Reset").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("2 jobs wait at it")
        await dialog.get_by_role("button", name="Reset the gate").click()
        await expect(page.get_by_role("status")).to_have_text("The gate host:bank.example.com is reset.")
        await expect(page.locator("#live_gates tr", has_text="host:bank.example.com")).to_contain_text("closed")


@does("/jobs/{job_id}/cancel")
async def test_a_job_is_canceled_without_scripts(site: Site) -> None:
    [job_id] = await ask(site, "acts.plain")
    async with site.open(f"/jobs/{job_id}", "member", java_script_enabled=False) as page:
        await page.get_by_role("link", name="Cancel").click()
        await page.get_by_role("button", name="Cancel the job").click()
        assert await said(page) == "Canceled."
    assert await state_of(site, job_id) is State.CANCELED


@does("/queues/{queue}/pause", "/queues/{queue}/resume")
async def test_the_operator_pauses_a_queue_and_lets_it_go_on(site: Site) -> None:
    async with site.open("/queues") as page:
        row = page.locator("#queue-mail")
        await row.get_by_role("link", name="Pause").click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause the queue").click()
        await expect(row).to_contain_text("paused")
        await row.get_by_role("button", name="Resume").click()
        await expect(row).to_contain_text("open")


@does("/schedules/{name}/pause", "/schedules/{name}/resume", "/schedules/{name}/run")
async def test_a_schedule_is_paused_resumed_and_run_now(site: Site) -> None:
    async with site.open("/schedules", "member") as page:
        await page.get_by_role("link", name="poll-feeds").click()
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_role("status")).to_have_text("Schedule poll-feeds is paused.")
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("Schedule poll-feeds goes on.")
        await page.get_by_role("button", name="Run now").click()
        await page.wait_for_url("**/jobs/*")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("feeds.import")


@does("/schedules/{name}/edit")
async def test_a_schedule_is_edited_and_a_wrong_one_is_explained(site: Site) -> None:
    async with site.open("/schedules/nightly-report/edit", "member") as page:
        await page.get_by_label("Cron line", exact=True).fill("61 2 * * *")
        await page.get_by_role("button", name="Change the schedule").click()
        await expect(page.get_by_role("alert")).to_contain_text("61 2 * * *")
        await page.get_by_label("Cron line", exact=True).fill("45 3 * * *")
        await page.get_by_label("Payload").fill('{"full": true}')
        await page.get_by_role("button", name="Change the schedule").click()
        await expect(page.get_by_role("status")).to_have_text("Schedule nightly-report is changed.")
        await expect(page.locator("#live_when")).to_contain_text("03:45")


@does("/zone")
async def test_times_are_written_in_the_zone_that_is_chosen(site: Site) -> None:
    async with site.open(f"/jobs/{site.world.made['dead']}", "member") as page:
        at = page.locator("#live_timeline .at").first
        utc = await at.get_attribute("title")
        await page.get_by_role("link", name="Times in UTC").click()
        await page.get_by_label("Write times in").select_option("Asia/Kathmandu")
        await page.get_by_role("button", name="Use this zone").click()
        await expect(page.get_by_role("link", name="Times in Asia/Kathmandu")).to_be_visible()
        there = await at.get_attribute("title")
    assert utc
    assert there
    apart = datetime.fromisoformat(there.rsplit(" ", 1)[0]) - datetime.fromisoformat(utc.rsplit(" ", 1)[0])
    assert apart == timedelta(hours=5, minutes=45)


async def test_attempts_say_how_their_errors_differ(site: Site) -> None:
    async with site.open(f"/jobs/{site.world.made['dead']}", "member") as page:
        newest = page.locator(".attempt").first
        await newest.locator("summary").click()
        await expect(newest.locator(".diff .gone")).to_contain_text("after 35 s")
        await expect(newest.locator(".diff .new")).to_contain_text("after 36 s")


@does("/keys", "/keys/{key_id}/revoke")
async def test_a_key_is_shown_once_and_revoked(site: Site) -> None:
    async with site.open("/keys", "admin") as page:
        await page.get_by_label("Name").fill("till 7")
        await page.get_by_role("button", name="Make the key").click()
        await expect(page.get_by_text("shown this once")).to_be_visible()
        key = await page.locator("code", has_text="lh_").inner_text()
        asked = await page.request.get("/v1/jobs", headers={"Authorization": f"Bearer {key}"})
        assert asked.status == 200
        await page.goto("/keys")
        assert key not in await page.content()
        await page.get_by_role("row", name="till 7").get_by_role("link", name="Revoke").click()
        await page.get_by_role("dialog").get_by_role("button", name="Revoke the key").click()
        await expect(page.get_by_role("row", name="till 7")).to_contain_text("revoked")
        refused = await page.request.get("/v1/jobs", headers={"Authorization": f"Bearer {key}"})
        assert refused.status == 401


@does("/keys")
async def test_a_key_of_the_installation_is_made_for_the_metrics_alone(site: Site) -> None:
    async with site.open("/keys") as page:
        await page.get_by_label("Name").fill("prometheus")
        await page.get_by_label("read the metrics").check()
        await page.get_by_role("button", name="Make the key").click()
        key = await page.locator("code", has_text="lh_").inner_text()
        await expect(page.get_by_role("row", name="prometheus")).to_contain_text("metrics")
        asked = {at: await page.request.get(at, headers={"X-API-Key": key}) for at in ("/metrics", "/v1/tenants")}
    assert [one.status for one in asked.values()] == [200, 403]


@does(
    "/webhooks",
    "/webhooks/{endpoint_id}/test",
    "/webhooks/{endpoint_id}/pause",
    "/webhooks/{endpoint_id}/resume",
    "/webhooks/{endpoint_id}/remove",
)
async def test_an_endpoint_is_added_tested_paused_and_removed(site: Site) -> None:
    async with site.open("/webhooks", "admin") as page:
        await page.get_by_label("URL").fill("https://example.com/new-hooks")
        await page.get_by_role("button", name="Add the endpoint").click()
        await expect(page.get_by_text("it is shown this once")).to_be_visible()
        await page.get_by_role("button", name="Send a test").click()
        await expect(page.locator("#live_deliveries")).to_contain_text("endpoint.test")
        await page.get_by_role("link", name="Pause").click()
        await page.get_by_role("dialog").get_by_role("button", name="Pause the endpoint").click()
        await expect(page.locator("#live_facts")).to_contain_text("paused")
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("It goes on; what waited is sent.")
        await expect(page.locator("#live_facts")).to_contain_text("enabled")
        await page.get_by_role("link", name="Remove").click()
        await expect(page.get_by_role("dialog")).to_contain_text("goes too: 1 delivery, with")
        await page.get_by_role("dialog").get_by_role("button", name="Remove the endpoint").click()
        await expect(page.get_by_role("status")).to_have_text("The endpoint is removed.")


@does("/webhooks/{endpoint_id}/rotate", "/webhooks/{endpoint_id}/recover", "/deliveries/{delivery_id}/resend")
async def test_an_endpoint_gets_a_new_secret_and_again_what_failed(site: Site) -> None:
    endpoint, delivery = (site.world.made[name] for name in ("endpoint", "delivery"))
    async with site.open(f"/webhooks/{endpoint}", "admin") as page:
        await expect(page.locator("#live_facts")).to_contain_text("1 secret")
        await page.get_by_role("link", name="Rotate the secret").click()
        await page.get_by_role("dialog").get_by_role("button", name="Make a new secret").click()
        await expect(page.get_by_text("it is shown this once")).to_be_visible()
        await expect(page.locator("#live_facts")).to_contain_text("2 secrets")
        secret = await page.locator("code", has_text="whsec_").inner_text()
        await page.goto(f"/webhooks/{endpoint}")
        assert secret not in await page.content()
        await page.get_by_role("link", name="Send again what failed").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("All that failed within the last day")
        await dialog.get_by_role("button", name="Send again").click()
        await expect(page.get_by_role("status")).to_have_text("1 delivery goes out again.")
        await page.goto(f"/deliveries/{delivery}")
        await expect(page.locator(".attempt")).to_contain_text("the shop is closed")
        await page.get_by_role("button", name="Send again").click()
        await expect(page.get_by_role("status")).to_have_text("It goes out again.")
    async with site.world.cell.database(Role.API, connections=1) as db:
        done = await list_audit(db, site.world.acme, before=None, limit=3)
    acts = ["endpoint.rotate", "endpoint.recover", "delivery.resend"]
    assert [(one.action, one.target) for one in reversed(done)] == [
        (acts[0], str(endpoint)), (acts[1], str(endpoint)), (acts[2], str(delivery))
    ]  # fmt: skip


@does("/jobs/{job_id}/cancel", "/jobs/{job_id}/retry")
async def test_a_job_that_was_canceled_runs_again(site: Site) -> None:
    [job_id] = await ask(site, "acts.again")
    async with site.open(f"/jobs/{job_id}", "member") as page:
        await page.get_by_role("link", name="Cancel").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
        await page.get_by_role("link", name="Retry").click()
        await expect(page.get_by_role("dialog")).to_contain_text("new attempts")
        await page.get_by_role("dialog").get_by_role("button", name="Retry the job").click()
        await expect(page.get_by_role("status")).to_have_text("It runs again.")
    assert await state_of(site, job_id) in (State.QUEUED, State.SCHEDULED)


@does("/schedules/{name}/delete")
async def test_a_schedule_is_deleted_after_a_question(site: Site) -> None:
    async with site.world.cell.database(Role.API, connections=1) as db:
        await Schedules(db, site.world.acme, lambda _: None).put("acts-hourly", "acts.tick", {}, every=3600)
    async with site.open("/schedules/acts-hourly", "member") as page:
        await page.get_by_role("link", name="Delete").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("No more acts.tick is made by it")
        await dialog.get_by_role("button", name="Delete the schedule").click()
        await expect(page.get_by_role("status")).to_have_text("Schedule acts-hourly is deleted.")
        await expect(page.get_by_role("link", name="acts-hourly")).to_have_count(0)


@does("/tenant", "/sign-out")
async def test_who_belongs_to_two_tenants_changes_between_them_and_signs_out(site: Site) -> None:
    world = site.world
    await member(world.cell, world.globex, "admin", "both@example.com")
    token, _ = await member(world.cell, world.acme, "viewer", "both@example.com")
    world.sessions["both"] = token.text
    async with site.open("/jobs", "both") as page:
        await expect(page.get_by_text("You belong to several tenants")).to_be_visible()
        assert await axe(page) == []
        await page.get_by_role("button", name="globex").click()
        await page.wait_for_url(f"{world.url}/")
        await page.goto(f"/jobs/{world.made['of_globex']}")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("feeds.import")
        await page.get_by_label("Tenant").select_option("acme")
        await page.wait_for_url(f"{world.url}/")
        await expect(page.get_by_label("Tenant")).to_have_value("acme")
        assert (await page.request.get(f"/jobs/{world.made['of_globex']}")).status == 404
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url("**/login")
        await page.goto("/jobs")
        await page.wait_for_url("**/login")


@does("/tenants", "/tenants/{name}")
async def test_the_operator_changes_limits_and_looks_at_one_tenant(site: Site) -> None:
    async with site.open("/tenants") as page:
        await page.get_by_label("Name of a new tenant").fill("hooli")
        await page.get_by_role("button", name="Add").click()
        await page.get_by_label("Jobs that may run at once").fill("7")
        await page.get_by_role("button", name="Change the limits").click()
        await expect(page.get_by_role("status")).to_have_text("The limits are changed.")
        assert await page.get_by_label("Jobs that may run at once").input_value() == "7"
        await page.get_by_role("link", name="Jobs", exact=True).last.click()
        await expect(page.get_by_text("No jobs yet")).to_be_visible()
        await page.get_by_label("Tenant").select_option("globex")
        await page.wait_for_url("**tenant=globex")
        await expect(page.get_by_role("link", name="feeds.import").first).to_be_visible()
