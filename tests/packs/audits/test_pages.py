"""What the dashboard shows of audits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import httpx

from leasehold import tokens as keys
from leasehold.dashboard import app as dashboard
from leasehold.database.database import Role
from leasehold.features.api_keys.store import create_key
from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import InstalledFeature
from leasehold.tokens import Peppers
from leasehold_packs.audits import feature, service
from leasehold_packs.audits.recipe import checks
from tests.cell import Cell
from tests.fetch.world import Site
from tests.http.conftest import PEPPER, bearer, settings_of
from tests.packs.audits.test_runs import Opened, auditing, document, report_of

__all__ = ["auditing"]


@asynccontextmanager
async def visiting(cell: Cell) -> AsyncIterator[httpx.AsyncClient]:
    """The dashboard and the API with the pack, as tenant a."""
    key = keys.make("live")
    async with cell.database(Role.OPERATOR, connections=1) as db:
        scopes = ["jobs:read", "jobs:write"]
        await create_key(db, cell.tenant_a, key, Peppers([PEPPER]), name="test", scopes=scopes, expires_at=None)
    async with open_services(settings_of(cell), loopback=True) as services:
        found = [InstalledFeature(feature=feature, distribution="leasehold", version="0")]
        app = create_app(services, found)
        dashboard.mount(app, found)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key)) as client:
            yield client


async def test_audits_are_listed_shown_with_their_arithmetic_and_compared(cell: Cell, auditing: Opened) -> None:
    site = Site({"/": document("Start", "/a"), "/a": document("", "/")})
    async with auditing(site) as auditor, visiting(cell) as client:
        first = await auditor.run()
        site.pages["/a"] = document("A page with a title of its own", "/")
        second = await auditor.run()
        listed = (await client.get("/audits")).text
        assert f"/audits/{first.run_id}" in listed
        assert auditor.base in listed
        shown = (await client.get(f"/audits/{first.run_id}")).text
        assert report_of(first)["arithmetic"] in shown
        assert f"{first.score:.2f}" in shown
        assert f"{auditor.base}/a" in shown
        compared = await client.get(f"/audits/{second.run_id}/compare", params={"before": str(first.run_id)})
        assert compared.status_code == 200
        assert "Fixed" in compared.text
        assert f"{auditor.base}/a" in compared.text
        begun = await client.post("/audits", data={"url": f"{auditor.base}/a"})
        assert begun.status_code == 303
        assert (await client.get(begun.headers["location"])).status_code == 200
        assert 'role="alert"' in (await client.post("/audits", data={"url": "nonsense"})).text
        assert (await client.get("/audits/x/compare")).status_code == 404


async def test_a_fault_is_followed_from_the_site_to_the_page_that_has_it(cell: Cell, auditing: Opened) -> None:
    site = Site({"/": document("Start", "/a", "/gone"), "/a": document("", "/")})
    async with auditing(site) as auditor, visiting(cell) as client:
        run = await auditor.run()
        at = f"/audits/{run.run_id}"
        shown = (await client.get(at)).text
        assert "all pages are read" in shown, "what happened is told"
        assert f"{at}/checks/title_missing" in shown
        catalogue = (await client.get("/audits/checks")).text
        assert all(check.title.split("<")[0] in catalogue for check in list(checks().values())[:5])
        broken = (await client.get(f"{at}/checks/link_broken")).text
        assert f"{auditor.base}/gone" in broken, "the evidence"
        assert (await client.get(f"{at}/checks/nonsense")).status_code == 404
        page = (await client.get(f"{at}/page", params={"url": f"{auditor.base}/a"})).text
        assert checks()["title_missing"].title in page
        assert "content-type" in page
        assert f"{auditor.base}/" in page, "who links to it"
        assert (await client.get(f"{at}/page", params={"url": "http://nowhere.example/"})).status_code == 404
        report = await client.get(f"{at}/report")
        assert "<script" not in report.text
        assert report_of(run)["arithmetic"] in report.text

        mine = f"/audits/sites/{run.site_id}"
        async with auditor.access.transaction() as tx:
            findings = (await service.list_findings(tx, run.site_id)).data
        one = next(one for one in findings if one.check_id == "title_missing")
        assert str(one.finding_id) in (await client.get(mine)).text
        said = {"note": "by design", "site_id": str(run.site_id)}
        assert (await client.post(f"/audits/findings/{one.finding_id}", data=said)).status_code == 303
        assert "by design" in (await client.get(mine, params={"state": "accepted"})).text
        again = await client.post(f"{at}/reevaluate")
        await auditor.ended(UUID(again.headers["location"].rpartition("/")[2]))
        assert "nothing is judged otherwise" in (await client.get(again.headers["location"])).text
        assert (await client.post(f"{at}/resume")).status_code == 409
