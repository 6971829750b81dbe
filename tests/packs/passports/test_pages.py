"""What the dashboard shows of passports."""

import httpx

from leasehold import dashboard
from leasehold.api import create_app, open_services
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
    assert "required attributes are there" in shown
    assert (hidden.status_code, empty.status_code) == (404, 200)
    assert passport not in hidden.text.replace(f"/passports/{passport}", "") + empty.text
