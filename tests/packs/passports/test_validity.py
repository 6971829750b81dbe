"""Documents that are valid for a time: what becomes of them and of what was read from them."""

from tests.packs.passports.office import JSON, Office, administrator, good


async def test_a_document_whose_time_is_over_is_told_of_once_and_makes_no_more_passports(maker: Office) -> None:
    passport, package = (
        await maker.passport(says={"model": "M1", "energy": 62000, "footprint": 3782}),
        await maker.package(),
    )
    sent = await maker.send(passport, b'{"ok": true}', name="certificate.json", valid_until="2999-01-01T00:00:00Z")
    await maker.send(
        passport, b"%PDF", media="application/pdf", name="old", role="evidence", valid_until="2020-01-01T00:00:00Z"
    )
    await maker.send(passport, b"%PDF-2", media="application/pdf", name="old", role="evidence")
    first = await maker.compiled(passport, package)
    assert first["state"] == "active"
    assert [one.name for one in await (await maker.kit.client()).schedules.list()] == [
        "passports.expire_documents",
        "passports.replay",
    ]
    assert await expired(maker) == 0, "one has a newer version, the other is valid"

    at = f"/v1/passports/documents/{sent['document_version_id']}"
    good(await maker.api.put(f"{at}/validity", json={"valid_until": "2024-02-29T00:00:00Z"}))
    assert [await expired(maker), await expired(maker)] == [1, 0]
    document = good(await maker.api.get(at))
    assert (document["state"], document["expired_at"] is None) == ("read", False)
    assert (await maker.events(passport)).count("passport.document_expired") == 1
    assert (await maker.version(first["version_id"]))["state"] == "active", "what was published stays"
    refused = await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package})
    assert refused.status_code == 409
    assert refused.json()["errors"] == [
        {"pointer": "/ok", "detail": "its document is not valid any more", "code": "VALIDATION_ERROR"}
    ]

    await maker.send(passport, b'{"ok": false}', name="certificate.json")
    await maker.work()
    assert (await maker.compiled(passport, package))["state"] == "active", "the next certificate has come"


async def test_a_document_that_is_valid_after_all_comes_back(maker: Office) -> None:
    passport = await maker.passport(says=None)
    sent = await maker.send(passport, b'{"model": "M1"}', valid_until="2020-01-01T00:00:00Z")
    assert await expired(maker) == 1
    at = f"/v1/passports/documents/{sent['document_version_id']}"
    found = good(await maker.api.put(f"{at}/validity", json={"valid_until": None}))
    assert (found["valid_until"], found["expired_at"]) == (None, None)
    assert await expired(maker) == 0
    unknown = at.replace(sent["document_version_id"], passport)
    assert (await maker.api.put(f"{unknown}/validity", json={"valid_until": None})).status_code == 404
    assert (await maker.api.put(f"{at}/validity", content=b"{}", headers=JSON)).status_code == 422


async def expired(maker: Office) -> int:
    await (await maker.kit.client()).enqueue("passports.expire_documents")
    [job] = [each for each in await maker.work() if each.kind == "passports.expire_documents"]
    return int(job.result["documents"])


async def test_how_complete_a_passport_is_follows_its_facts(maker: Office) -> None:
    passport = await maker.passport(says={"generalProductInformation": {"batteryMass": 24.5}})
    before = await share(maker)
    fact = {"pointer": "/generalProductInformation/batteryStatus", "value": "Original"}
    made = good(await maker.api.put(f"/v1/passports/{passport}/facts", json=fact))["fact_id"]
    after = await share(maker)
    good(await maker.api.post(f"/v1/passports/{passport}/facts/{made}/dismiss"))
    assert after > before
    assert await share(maker) == before


async def share(maker: Office) -> int:
    """As lists show it, when all jobs have run."""
    await maker.work()
    connection = await administrator(maker.kit)
    try:
        return int(await connection.fetchval("select share from leasehold_passports.completeness"))
    finally:
        await connection.close()
