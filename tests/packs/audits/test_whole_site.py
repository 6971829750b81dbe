"""What is asked beside the pages: icons, images, the site without TLS, and languages that must agree."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trustme

from leasehold import Leasehold
from leasehold.database.database import Database
from leasehold.plugins.discovery import app_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import feature, service
from leasehold_packs.audits.model import Options
from leasehold_packs.webfacts.language import recognised, spoken
from tests.cell import Cell
from tests.fetch.world import PUBLIC, Names, Site, moved, page, serving, world
from tests.packs.audits.held import Held
from tests.packs.audits.test_runs import HTML, Auditor, Opened, auditing, document, only, report_of
from tests.worker.running import FAST, running

pytestmark = pytest.mark.long

__all__ = ["auditing"]
PNG = "Content-Type: image/png"


def pictured(title: str, *images: str) -> bytes:
    return document(title, words="".join(f'<img src="{one}" alt="a" width="1" height="1">' for one in images))


async def test_large_images_are_found_by_asking_for_them_once(auditing: Opened) -> None:
    large = page(b"x" * 500_001, PNG)
    unsized = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: image/png\r\n\r\n" + b"x" * 600_000
    site = Held({"/": document("Start", "/a", "/b"), "/large.png": large, "/small.png": page(b"x" * 500_000, PNG)})
    site.pages |= {"/a": pictured("A", "/large.png", "/small.png"), "/b": pictured("B", "/large.png", "/gone.png")}
    site.pages |= {
        "/c": pictured("C", "/unsized.png"),
        "/unsized.png": unsized,
        "/": document("Start", "/a", "/b", "/c"),
    }
    async with auditing(site) as auditor:
        assert only(await auditor.found(await auditor.run()), "image_large") == set()
        assert site.times("/large.png") == 0, "nobody asked for it"
        run = await auditor.run(max_images=10)
        found = only(await auditor.found(run), "image_large")
        assert found == {("image_large", "/a"), ("image_large", "/b"), ("image_large", "/c")}
        assert (site.times("/large.png"), site.times("/small.png")) == (1, 1)
        assert only(await auditor.found(await auditor.run(max_images=10)), "image_large") == found
        assert site.times("/large.png") == 1, "what was found holds for a day"


async def test_a_site_without_an_icon_is_told_so_once(auditing: Opened) -> None:
    site = Site({"/": document("Start", "/a"), "/a": document("A")})
    async with auditing(site) as auditor:
        assert only(await auditor.found(await auditor.run()), "favicon_missing") == {("favicon_missing", "/")}
        site.pages["/favicon.ico"] = page(b"icon", "Content-Type: image/x-icon")
        assert only(await auditor.found(await auditor.run()), "favicon_missing") == set()
        del site.pages["/favicon.ico"]
        site.pages["/"] = document("Start", "/a", head='<link rel="icon" href="/i.png">')
        run = await auditor.run()
        assert only(await auditor.found(run), "favicon_missing") == set()
        assert report_of(run)["checks"].get("favicon_missing") is None


async def test_issues_are_listed_by_what_became_of_them(auditing: Opened) -> None:
    site = Site({"/": document("Start", "/a"), "/a": document("A")})
    async with auditing(site) as auditor:
        await auditor.run()
        site.pages["/a"] = document("A", "/gone")
        run = await auditor.run()
        async with auditor.access.transaction() as tx:
            new = (await service.list_issues(tx, run.run_id, state="new")).data
            old = (await service.list_issues(tx, run.run_id, state="open")).data
            every = (await service.list_issues(tx, run.run_id)).data
    assert {(one.check_id, one.url.removeprefix(auditor.base)) for one in new} == {
        ("link_broken", "/a"), ("status_client_error", "/gone"),
    }  # fmt: skip
    assert len(new) + len(old) == len(every)


def test_a_site_is_the_same_however_its_name_is_written() -> None:
    options = Options(exclude=["/cart*"])
    assert options.covers("https://shop.example/a", "HTTPS://Shop.Example:443/")
    assert not options.covers("https://shop.example/cart/1", "https://shop.example/")
    assert not options.covers("https://other.shop.example/", "https://shop.example/")
    assert Options(subdomains=True).covers("https://other.shop.example/", "https://shop.example/")
    assert not options.covers("ftp://shop.example/", "https://shop.example/")


async def test_a_translation_that_says_another_language_is_found(auditing: Opened) -> None:
    async with auditing(site := Site()) as auditor:

        def translated(title: str, lang: str) -> bytes:
            alternates = "".join(
                f'<link rel="alternate" hreflang="{name}" href="{auditor.base}{path}">'
                for name, path in (("en-GB", "/"), ("de", "/de"), ("fr", "/fr"), ("x-default", "/"))
            )
            links = "".join(f'<a href="{path}">to {path}</a>' for path in ("/", "/de", "/fr"))
            head = f"<head><title>{title}</title>{alternates}</head>"
            return page(f'<!doctype html><html lang="{lang}">{head}<body>{links}</body></html>'.encode(), HTML)

        site.pages = {
            "/": translated("Start", "en"),
            "/de": translated("Anfang", "DE-at"),
            "/fr": translated("F", "fr"),
        }
        assert only(await auditor.found(await auditor.run()), "hreflang_mismatch") == set()
        site.pages["/fr"] = translated("Anfang", "de")
        run = await auditor.run()
        found = only(await auditor.found(run), "hreflang_mismatch")
        assert found == {("hreflang_mismatch", path) for path in ("/", "/de", "/fr")}


@asynccontextmanager
async def secure(cell: Cell, api_db: Database, https: Site, http: Site) -> AsyncIterator[Auditor]:
    """shop.example, with and without TLS."""
    authority, server = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    client = ssl.create_default_context()
    authority.issue_cert("shop.example").configure_cert(server)
    authority.configure_trust(client)
    settings = replace(FAST, fetch_gap_seconds=0.0001)
    async with (
        serving(https, tls=server) as safe,
        serving(http) as plain,
        world(settings, names=Names({"shop.example": [PUBLIC]}), ssl_context=client) as made,
    ):
        made.dialer.servers |= {(PUBLIC, 443): safe, (PUBLIC, 80): plain}
        app = Leasehold(settings)
        app._fetcher = made.fetcher
        app.include(app_of(feature))
        async with running(cell, app, settings):
            auditor = Auditor(Access(Backend(Settings(), api_db), cell.tenant_a, "test"), safe)
            auditor.base = "https://shop.example"
            yield auditor


async def test_a_site_that_is_there_without_tls_is_told_so(cell: Cell, api_db: Database) -> None:
    http = Site({"/": document("In the clear")})
    async with secure(cell, api_db, Site({"/": document("Start")}), http) as auditor:
        found = only(await auditor.found(await auditor.run()), "https_not_enforced")
        assert found == {("https_not_enforced", "/")}
        http.pages["/"] = moved("https://shop.example/")
        assert only(await auditor.found(await auditor.run()), "https_not_enforced") == set()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lamp is on the table and the light of it is for the room.", "en"),
        ("Die Lampe ist auf dem Tisch und das Licht ist nicht für die Wand.", "de"),
        ("La lampe est sur la table et les murs sont dans une pièce avec vous.", "fr"),
        ("word " * 100, None),
        ("", None),
        ("de la en un de la en un", None),
    ],
)
def test_a_language_is_recognised_where_it_is_clear(text: str, language: str | None) -> None:
    assert recognised(text) == language


@pytest.mark.parametrize(("tag", "language"), [("de-AT", "de"), ("NB", "da"), ("ja", None), ("", None)])
def test_only_languages_that_can_be_told_apart_are_compared(tag: str, language: str | None) -> None:
    assert spoken(tag) == language
