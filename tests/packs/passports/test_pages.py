"""What the dashboard shows of passports."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from leasehold.dashboard import app as dashboard
from leasehold.http.app import create_app, open_services
from tests.packs.passports.office import FOUND, HOST, Office, key_of


async def test_passports_are_listed_and_shown_with_versions_documents_and_what_is_missing(maker: Office) -> None:
    passport = await maker.passport()
    version = await maker.compiled(passport, await maker.package())
    async with open_services(maker.kit.settings, loopback=True) as services:
        app = create_app(services)
        dashboard.mount(app, [FOUND])
        transport, headers = httpx.ASGITransport(app), await key_of(maker.kit, "default")
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
            listed = (await client.get("/passports")).text
            shown = (await client.get(f"/passports/{passport}")).text
            one = (await client.get(f"/passports/versions/{version['version_id']}")).text
            issuer = (await client.get("/passports/issuer")).text
            rotated = await client.post("/passports/issuer/rotate")
            other = await key_of(maker.kit, "other")
            hidden = await client.get(f"/passports/{passport}", headers=other)
            foreign = await client.get(f"/passports/versions/{version['version_id']}", headers=other)
            empty = await client.get("/passports", headers=other)
    assert f"/passports/{passport}" in listed
    assert "Battery M1" in listed
    assert version["receipt_hash"][-16:] in shown
    assert "facts.json" in shown
    assert "/footprintPerEnergy/value" in one
    assert "derived from" in one
    assert "entry 1 of 1" in one
    assert "passport.activated" in one
    assert version["key_id"] in issuer
    assert f"did:web:{HOST}" in issuer
    assert "/log/head?size=1" in issuer
    assert foreign.status_code == 404
    assert (rotated.status_code, rotated.headers["location"]) == (303, "/passports/issuer")
    [_, new] = (await maker.api.get("/v1/passports/keys")).json()["data"]
    assert new["not_after"] is None
    assert 'value="0" aria-label="How complete Battery M1 is"' in listed
    assert "required attributes are there" in shown
    assert (hidden.status_code, empty.status_code) == (404, 200)
    assert passport not in hidden.text.replace(f"/passports/{passport}", "") + empty.text


SHEET = b"pointer,value,unit\n/model,M1,\n/mass,430,kg\nmass,1,\n"


@asynccontextmanager
async def visitor(maker: Office, tenant: str = "default") -> AsyncIterator[httpx.AsyncClient]:
    async with open_services(maker.kit.settings, loopback=True) as services:
        app = create_app(services)
        dashboard.mount(app, [FOUND])
        transport, headers = httpx.ASGITransport(app), await key_of(maker.kit, tenant)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as client:
            yield client


async def test_a_document_is_shown_with_the_cells_that_its_facts_and_errors_were_read_from(maker: Office) -> None:
    passport = await maker.passport(says=None)
    sheet = await maker.send(passport, SHEET, media="text/csv", name="facts.csv")
    other = await maker.send(passport, b'{"labels": {"a/b": "<b>x"}, "list": [1.50]}', name="more.json")
    pdf = await maker.send(passport, b"%PDF-1.7", media="application/pdf", name="proof.pdf", role="evidence")
    await maker.work()
    async with visitor(maker) as client:
        page = (await client.get(f"/passports/documents/{sheet['document_version_id']}")).text
        tree = (await client.get(f"/passports/documents/{other['document_version_id']}")).text
        kept = await client.get(f"/passports/documents/{pdf['document_version_id']}")
    async with visitor(maker, "other") as client:
        foreign = await client.get(f"/passports/documents/{sheet['document_version_id']}")
    marked = dict(re.findall('id="at-([^"]+)"><a class="pill ([a-z]+)"', page))
    assert marked == {"B2": "succeeded", "B3": "succeeded", "A4": "failed"}
    assert "is no JSON pointer" in page
    assert 'href="#at-B3">B3</a>' in page
    assert dict(re.findall('id="at-([^"]+)"><a class="pill ([a-z]+)"', tree)) == {
        "/labels/a~1b": "succeeded",
        "/list/0": "succeeded",
    }
    assert "&lt;b&gt;x" in tree
    assert kept.status_code == 200
    assert "None were read from it." in kept.text
    assert foreign.status_code == 404


async def test_two_snapshots_are_compared_on_a_page_and_over_http(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    await maker.compiled(passport, package)
    for pointer, value in (("/mass", 431), ("/extra", "new")):
        await maker.api.put(f"/v1/passports/{passport}/facts", json={"pointer": pointer, "value": value, "unit": None})
    await maker.compiled(passport, package)
    after, before = [
        one["snapshot_id"] for one in (await maker.api.get(f"/v1/passports/{passport}/snapshots")).json()["data"]
    ]
    changes = (await maker.api.get(f"/v1/passports/snapshots/{after}/changes", params={"since": before})).json()["data"]
    same = (await maker.api.get(f"/v1/passports/snapshots/{after}/changes", params={"since": after})).json()["data"]
    async with visitor(maker) as client:
        page = (await client.get("/passports/snapshots/compare", params={"before": before, "after": after})).text
        one = (await client.get(f"/passports/{passport}")).text
        lost = await client.get("/passports/snapshots/compare", params={"before": before})
    async with visitor(maker, "other") as client:
        foreign = await client.get("/passports/snapshots/compare", params={"before": before, "after": after})
    told = [(each["pointer"], each["before"] and each["before"]["text"], each["after"]["text"]) for each in changes]
    assert told == [("/extra", None, "new"), ("/mass", "430", "431")]
    assert changes[1]["before"]["source"]["ref"] == "/mass"
    assert same == []
    assert f"before={before}&amp;after={after}" in one
    assert "/extra" in page
    assert "430" in page
    assert (lost.status_code, foreign.status_code) == (404, 404)
