"""Pages of packs: beside ours, for the tenant of whoever looks, and refused where they would let too much through."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold import tokens as keys
from leasehold import web
from leasehold.dashboard import app as dashboard
from leasehold.dashboard.page import Pages
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.errors import LeaseholdError
from leasehold.feature import Feature
from leasehold.features.api_keys.store import create_key
from leasehold.http.app import bare_app, create_app, open_services
from leasehold.plugins.discovery import InstalledFeature, discover
from leasehold.testing import Kit
from leasehold.tokens import Peppers
from tests.http.conftest import PEPPER, bearer

SELF = "test_pages"

pages = web.pages("shop", title="Orders", templates="tests.packs")
outside = web.pages("shop", title="Orders", templates="tests.packs")
open_to_all = web.pages("shop", title="Orders", templates="tests.packs")
not_pages = "pages"


@pages.get("/shop", "jobs:read", live=True)
async def orders(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        tenant = await tx.fetchval("select current_setting('leasehold.tenant')")
    return look.show("orders.html", tenant=tenant)


@pages.post("/shop", "jobs:write")
async def order(look: web.Look) -> web.Response:
    job = await look.tenant.client.enqueue("shop.pack", {"text": look.said("text")})
    return look.go(look.url(f"/jobs/{job.job_id}"), "Ordered.")


@outside.get("/orders", "jobs:read")
async def elsewhere(look: web.Look) -> web.Page:
    return look.show("orders.html")


@open_to_all.get("/shop")
async def anybody(look: web.Look) -> web.Page:
    return look.show("orders.html")


def shop(name: str = "shop", what: str = "pages") -> InstalledFeature:
    return InstalledFeature(
        feature=Feature(name=name, package="tests.packs", pages=(f"{SELF}:{what}",)),
        distribution="acme",
        version="1.2",
    )


@pytest.fixture
async def client(leasehold: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """The server with the pack, as tenant a; the pack's template is put where the pack says."""
    (tmp_path / "orders.html").write_text(
        '{% extends "base.html" %}{% block title %}Orders{% endblock %}'
        '{% block main %}<p id="live_own">{% block live_own scoped %}of {{ tenant }}{% endblock %}</p>{% endblock %}'
    )
    monkeypatch.setattr(pages, "templates", tmp_path)
    key, owner = keys.make("live"), await leasehold.tenant("a")
    async with Database(target(leasehold.settings, Role.OPERATOR)) as db:
        scopes = ["jobs:read", "jobs:write"]
        await create_key(db, owner, key, Peppers([PEPPER]), name="test", scopes=scopes, expires_at=None)
    async with open_services(replace(leasehold.settings, key_pepper=PEPPER), loopback=True) as services:
        app = create_app(services)
        dashboard.mount(app, [shop()])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key)) as made:
            made.owner = owner  # type: ignore[attr-defined]
            yield made


async def test_a_page_of_a_pack_has_our_frame_its_tenants_rows_and_an_entry(client: Any) -> None:
    page = await client.get("/shop")
    assert page.status_code == 200
    assert f"of {client.owner}" in page.text
    assert 'aria-current="page">Orders' in page.text
    assert ">Orders<" in (await client.get("/jobs")).text  # the entry is on every page
    made = await client.post("/shop", data={"text": "tea"})
    assert made.status_code == 303
    assert "shop.pack" in (await client.get(made.headers["location"])).text


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (shop(what="outside"), "/orders lies outside /shop"),
        (shop(what="open_to_all"), "lets in people without a tenant"),
        (shop(what="not_pages"), "not made by leasehold.web.pages"),
        (shop(what="nothing"), "cannot be loaded"),
        (shop(name="jobs"), "/jobs is taken already"),
        (shop(name="live"), "/live is taken already"),
    ],
)
def test_pages_that_do_not_fit_keep_the_server_from_starting(found: InstalledFeature, words: str) -> None:
    with pytest.raises(LeaseholdError, match=words):
        dashboard.mount(bare_app(), [found])


def test_a_template_that_is_called_like_one_of_ours_keeps_the_server_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base.html").write_text("ours would be shown")
    monkeypatch.setattr(pages, "templates", tmp_path)
    with pytest.raises(LeaseholdError, match=r"pack shop \(acme 1\.2\): its template base\.html is called like one"):
        dashboard.mount(bare_app(), [shop()])


def test_no_two_packs_have_a_template_of_one_name() -> None:
    """Each is found under its own pack anyway; but a reader would mistake them."""
    named = [
        file.name
        for found in discover()
        for folder in [found.feature.folder("templates")]
        if folder is not None
        for file in folder.iterdir()
    ]
    assert len(named) == len(set(named)) > 10


def test_what_packs_import_is_what_pages_are() -> None:
    assert web.Pages is Pages
