"""Every page as it is: nothing that the browser or axe complains of, nothing wider than the screen."""

import os
from collections.abc import Mapping
from uuid import UUID

import pytest

from tests.dashboard.addresses import does
from tests.dashboard.conftest import Site, axe, listening
from tests.dashboard.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: `make verify` looks at every page in all four ways; here a few of them have to do for the second.
_EVERYTHING = os.environ.get("DASHBOARD_LOOKS") == "all"
_ALL = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
_LOOKS = _ALL if _EVERYTHING else [("light", 1280), ("dark", 390)]
_FEW = 8  # every so many-th page, another one each way


def paths(made: Mapping[str, UUID]) -> list[str]:
    return [
        "/",
        "/jobs",
        f"/jobs/confirm?act=retry&job={made['dead']}",
        "/jobs?state=dead",
        "/jobs?q=error%3Anothing-like-this",
        "/jobs?q=oops%3A1",
        *(f"/jobs/{made[name]}" for name in ("dead", "running", "queued", "scheduled", "blocked", "succeeded")),
        f"/jobs/{made['dead']}/copy",
        f"/jobs/{made['queued']}/confirm/cancel",
        "/failures",
        "/flows",
        "/flows?state=canceled",
        *(f"/flows/{made[name]}" for name in ("flow", "flow_failed", "flow_running")),
        f"/flows/{made['flow_failed']}/confirm/retry",
        "/approvals",
        f"/approvals/{made['approval']}/confirm/reject",
        "/gates",
        "/gates?tenant=acme",
        "/gates/reset?tenant=acme&gate=host:bank.example.com",
        "/schedules",
        "/schedules?tenant=acme",
        "/schedules/nightly-report?tenant=acme",
        "/schedules/nightly-report/edit?tenant=acme",
        "/schedules/nightly-report/delete?tenant=acme",
        "/zone",
        "/webhooks?tenant=acme",
        f"/webhooks/{made['endpoint']}?tenant=acme",
        f"/webhooks/{made['endpoint']}/confirm/remove?tenant=acme",
        f"/deliveries/{made['delivery']}?tenant=acme",
        "/queues",
        "/queues/money/pause",
        "/kinds/pause?kind=mail.send",
        "/tenants/acme/pause",
        "/workers",
        "/tenants",
        "/tenants/acme",
        "/keys",
        "/keys?tenant=acme",
        "/audit",
        *(f"{path}?tenant=acme" for path in pack_paths(made)),
        f"/passports/snapshots/compare?tenant=acme&before={made['passport_before']}&after={made['passport_after']}",
        "/postings?tenant=acme&q=relibility&remote=remote",
        "/postings?tenant=acme&q=nothing-like-this&salary_min=x",
        "/postings",  # whose?
        f"/audits/{made['audit']}/compare?tenant=acme&before={made['audit']}",
    ]


def pack_paths(made: Mapping[str, UUID]) -> list[str]:
    return [
        "/monitors",
        "/monitors/products",
        "/monitors/changes",
        "/monitors/approvals",
        "/monitors/groups",
        f"/monitors/groups/{made['group']}",
        "/monitors/rules",
        f"/monitors/rules/{made['rule']}/remove",
        f"/monitors/sites/{made['site']}",
        f"/monitors/sites/{made['site']}/remove",
        f"/monitors/products/{made['product']}",
        "/postings",
        "/postings/sources",
        f"/postings/sources/{made['source']}",
        f"/postings/sources/{made['source']}/closings/close",
        f"/postings/sources/{made['source']}/remove",
        f"/postings/detected/{made['detected']}",
        "/postings/runs",
        f"/postings/runs/{made['run']}",
        f"/postings/runs/{made['ended_run']}",
        f"/postings/runs/{made['run']}/stop",
        f"/postings/{made['posting']}",
        "/postings/board",
        f"/postings/board/{made['application']}/remove",
        "/postings/searches",
        f"/postings/searches/{made['search']}",
        f"/postings/searches/{made['search']}/remove",
        "/audits",
        "/audits/checks",
        f"/audits/sites/{made['audited']}",
        *(f"/audits/{made['audit']}{part}" for part in ("", "/checks/title_missing", "/report", "/stop")),
        "/passports",
        "/passports/issuer",
        f"/passports/{made['passport']}",
        f"/passports/documents/{made['passport_document']}",
        "/passports/issuer",
        "/passports/issuer/rotate",
    ]


@pytest.mark.parametrize(("scheme", "width"), _LOOKS)
async def test_no_page_gives_reason_to_complain(
    site: Site,
    packed: World,
    scheme: str,
    width: int,
) -> None:
    found = {}
    async with site.visit(color_scheme=scheme, width=width) as page:
        with listening(page) as complaints:
            every = paths(packed.made)
            for path in every if _EVERYTHING else every[_LOOKS.index((scheme, width)) * _FEW // 2 :: _FEW]:
                response = await page.goto(path)
                assert response
                assert response.status == 200, path
                script = "document.documentElement.scrollWidth > window.innerWidth"
                wide = await page.evaluate(script)
                troubles = [*complaints, *await axe(page)]
                troubles += ["it is wider than the screen"] if wide else []
                if troubles:
                    found[path] = troubles
                complaints.clear()
    assert found == {}


@pytest.mark.long
async def test_pages_can_be_read_without_scripts(site: Site, packed: World) -> None:
    async with site.visit(java_script_enabled=False) as page:
        for path in paths(packed.made):
            await page.goto(path)
            assert await page.locator("h1").first.inner_text()
            assert not await page.locator(".needs-script").first.is_visible()
        await page.goto("/")
        await page.get_by_text("As a table").first.click()
        assert await page.get_by_role("columnheader", name="Minute (UTC)").first.is_visible()


@does("/theme")
async def test_a_theme_is_chosen_once_and_there_from_the_first_byte(site: Site) -> None:
    async with site.open("/queues") as page:
        assert await page.locator("html").get_attribute("data-theme") == "system"
        await page.get_by_role("button", name="Dark").click()
        await page.wait_for_load_state()
        assert page.url.endswith("/queues")
        assert await page.locator("html").get_attribute("data-theme") == "dark"
        assert 'data-theme="dark"' in await (await page.request.get("/jobs")).text()
