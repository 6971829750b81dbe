"""From facts to a published version, through real jobs; what ends a job for good, and what cannot be undone."""

from copy import deepcopy
from typing import Any

import asyncpg
import pytest

from leasehold import State
from leasehold.database.connect import target
from leasehold.database.database import Role
from leasehold_packs.passports import schema_sandbox
from tests.packs.passports.battery import RULES, SAYS
from tests.packs.passports.office import GTIN, HOST, Office, good, office


async def test_a_passport_is_compiled_signed_given_its_qr_code_and_activated(maker: Office) -> None:
    passport = await maker.passport(gtin=GTIN, serial="SN-1")
    version = await maker.compiled(passport, await maker.package())

    assert (version["state"], version["number"]) == ("active", 1)
    assert version["link"] == f"https://{HOST}/01/{GTIN}/21/SN-1"
    assert await maker.events(passport) == ["passport.signed", "passport.activated"]
    ran = {job.kind: (job.queue, job.priority) for job in await (await maker.kit.client()).list_jobs()}
    del ran["passports.parse"]  # asked for before the first worker had told the database of its kinds
    assert ran == {
        "passports.check_completeness": ("passports", 2),
        "passports.compile": ("passports", 1),
        "passports.sign": ("passports-sign", 1),
        "passports.qr": ("passports", 2),
    }


# -- what ends a job for good ---------------------------------------------------------------------------------------


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


async def test_a_schema_that_takes_for_ever_ends_its_version_and_holds_nobody_up(
    maker: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_sandbox, "SECONDS", 0.3)
    passport = await maker.passport(says=SAYS | {"model": "M" * 64 + "1"})
    endless = await maker.package(RULES | {"schema": {"properties": {"model": {"pattern": "^(M+)+$"}}}})
    asked = good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": endless}))
    async with office(maker.kit, "rival") as rival:
        await rival.opened(slug="rival")
        assert (await rival.compiled(await rival.passport(), await rival.package()))["state"] == "active"

    version = await maker.version(asked["version_id"])
    assert version["state"] == "failed"
    assert "not done after 0.3 s of the processor" in str(version["problem"])


async def test_facts_in_error_keep_a_snapshot_open(maker: Office) -> None:
    passport = await maker.passport(says=None)
    schema = await maker.send(passport, b'{"properties": {"mass": {"type": "number"}}}', name="s.json", role="schema")
    await maker.send(passport, b'{"mass": "heavy", "model": "M1"}', schema_id=schema["document_version_id"])
    job, _ = await maker.work()  # the other looks how complete it is
    assert job.result == {"facts": 1, "errors": 1}
    body = {"package_id": await maker.package()}

    refused = await maker.api.post(f"/v1/passports/{passport}/compile", json=body)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (409, "/mass")
    assert refused.json()["detail"].startswith("SNAPSHOT_NOT_READY")

    good(await maker.api.put(f"/v1/passports/{passport}/facts", json={"pointer": "/mass", "value": 430.5}))
    [fact] = [
        f for f in good(await maker.api.get(f"/v1/passports/{passport}/facts"))["data"] if f["pointer"] == "/mass"
    ]
    assert (fact["text"], fact["state"], fact["ref"][:16]) == ("430.5", "ok", "/mass corrected ")
    snapshot = good(await maker.api.post(f"/v1/passports/{passport}/snapshots"))["snapshot_id"]
    assert good(await maker.api.post(f"/v1/passports/snapshots/{snapshot}/seal"))["state"] == "sealed"


async def test_rules_that_are_not_published_make_no_version(maker: Office) -> None:
    passport = await maker.passport()
    draft = good(await maker.api.post("/v1/passports/packages", json=RULES))["package_id"]
    body = {"package_id": draft}
    assert code(await maker.api.post(f"/v1/passports/{passport}/compile", json=body)) == (409, "RULE_PKG_NOT_PUBLISHED")


async def test_rules_that_are_retired_meanwhile_end_the_job(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    made = good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package}))
    good(await maker.api.post(f"/v1/passports/packages/{package}/retire"))
    [job] = await maker.work()
    assert (job.state, job.attempt) == (State.FAILED, 1)
    assert (await maker.version(made["version_id"]))["problem"]["code"] == "RULE_PKG_NOT_PUBLISHED"


async def test_facts_that_the_rules_refuse_end_the_job_with_every_finding(maker: Office) -> None:
    says = deepcopy(SAYS)
    says["materials"][0]["share"] = 90
    passport, package = await maker.passport(says=says), await maker.package()
    made = good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package}))
    [job] = await maker.work()
    assert (job.state, job.attempt) == (State.FAILED, 1)
    version = await maker.version(made["version_id"])
    assert (version["state"], version["problem"]["code"]) == ("failed", "VALIDATION_ERROR")
    assert version["problem"]["findings"][0]["at"] == "/materials"
    assert await maker.events(passport) == ["passport.failed"]
    good(await maker.api.put(f"/v1/passports/{passport}/facts", json={"pointer": "/materials/0/share", "value": 12}))
    assert (await maker.compiled(passport, package))["number"] == 2, "the way is free again"


async def test_expressions_of_wrong_types_are_no_rules(maker: Office) -> None:
    rules = RULES | {"fields": [{"pointer": "/a", "tier": "public", "value": {"+": ["x", 1]}}]}
    assert code(await maker.api.post("/v1/passports/packages", json=rules)) == (422, "RULE_TYPE_ERROR")


async def test_without_a_key_nothing_is_asked_for_and_nothing_signed(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    made = good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package}))
    for secret in good(await maker.api.get("/v1/secrets"))["data"]:
        good(await maker.api.delete(f"/v1/secrets/{secret['name']}"))
    assert [(job.kind, job.state, job.attempt) for job in await maker.work()][-1] == ("passports.sign", State.FAILED, 1)
    assert (await maker.version(made["version_id"]))["problem"]["code"] == "SIGNING_KEY_MISSING"
    [key] = good(await maker.api.get("/v1/passports/keys"))["data"]
    since = {"since": "2026-01-01T00:00:00Z"}
    good(await maker.api.post(f"/v1/passports/keys/{key['key_id']}/revoke", json=since))
    body = {"package_id": package}
    assert code(await maker.api.post(f"/v1/passports/{passport}/compile", json=body)) == (409, "SIGNING_KEY_MISSING")


async def test_a_document_that_is_no_json_ends_its_job(maker: Office) -> None:
    passport = await maker.passport(says=None)
    sent = await maker.send(passport, b"{")
    [job] = await maker.work()
    assert (job.state, job.attempt) == (State.FAILED, 1)
    found = good(await maker.api.get(f"/v1/passports/documents/{sent['document_version_id']}"))
    assert (found["state"], found["problem"]["code"]) == ("unreadable", "VALIDATION_ERROR")


async def test_a_second_version_waits_for_the_first(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    at, body = f"/v1/passports/{passport}/compile", {"package_id": package}
    first = await maker.api.post(at, json=body, headers={"Idempotency-Key": "k"})
    again = await maker.api.post(at, json=body, headers={"Idempotency-Key": "k"})
    assert first.json() == again.json()
    assert (await maker.api.post(at, json=body)).status_code == 409
    given_up = f"/v1/passports/versions/{first.json()['version_id']}/abandon"
    assert good(await maker.api.post(given_up, json={"reason": "a mistake"}))["problem"]["code"] == "ABANDONED"
    assert (await maker.api.post(given_up, json={"reason": "again"})).status_code == 409
    assert (await maker.compiled(passport, package))["number"] == 2


# -- versions of versions -------------------------------------------------------------------------------------------


async def test_a_new_version_supersedes_and_names_the_receipt_before(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    first = await maker.compiled(passport, package)
    good(await maker.api.post("/v1/passports/keys"))
    good(await maker.api.put(f"/v1/passports/{passport}/facts", json={"pointer": "/mass", "value": 431}))
    second = await maker.compiled(passport, package)

    assert (await maker.version(first["version_id"]))["state"] == "superseded"
    assert (second["state"], second["previous"]) == ("active", first["receipt_hash"])
    assert second["key_id"] != first["key_id"]
    for version in (first, second):
        at = f"/v1/passports/versions/{version['version_id']}"
        assert good(await maker.api.post(f"{at}/replay")) == {"same": True}
        parts = {
            part: good(await maker.api.get(f"{at}/{part}"))
            for part in ("payload", "receipt", "proof", "log", "disclosure")
        }
        assert good(await maker.api.post("/v1/passports/verify", json=parts))["ok"]
    revoked = await maker.api.post(f"/v1/passports/versions/{second['version_id']}/revoke", json={"reason": "recalled"})
    assert good(revoked)["state"] == "revoked"
    assert (await maker.events(passport))[-1] == "passport.revoked"


async def test_a_version_may_wait_to_be_activated(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    version = await maker.compiled(passport, package, activate=False)
    assert version["state"] == "signed"
    assert (await maker.api.get(f"/p/{passport}")).status_code == 404
    activated = good(await maker.api.post(f"/v1/passports/versions/{version['version_id']}/activate"))
    assert activated["state"] == "active"
    assert (await maker.api.post(f"/v1/passports/versions/{version['version_id']}/activate")).status_code == 409


async def test_every_field_says_where_it_comes_from(maker: Office) -> None:
    passport, package = await maker.passport(), await maker.package()
    version = await maker.compiled(passport, package)
    found = good(await maker.api.get(f"/v1/passports/versions/{version['version_id']}/fields?tier=public"))["data"]
    [footprint] = [each for each in found if each["pointer"] == "/footprintPerEnergy/value"]
    assert footprint["value"] == "61"
    assert [fact["pointer"] for fact in footprint["derivation"]["facts"]] == ["/energy", "/footprint"]


# -- what cannot be changed -----------------------------------------------------------------------------------------


STAYS = [
    "update {s}.snapshot set hash = 'x'",
    "delete from {s}.snapshot_fact",
    "insert into {s}.snapshot_fact select s.tenant_id, snapshot_id, fact_id from {s}.snapshot s, {s}.fact limit 1",
    "update {s}.fact set text = 'x'",
    "delete from {s}.fact",
    "update {s}.rule_package set source = '{{}}'",
    "update {s}.rule_package set state = 'draft'",
    "update {s}.version set receipt = 'x'",
    "update {s}.version set proof = 'x'",
    "update {s}.version set issued_at = now()",
    "update {s}.version set state = 'requested'",
    "delete from {s}.version",
    "update {s}.tier set fields = '[]'",
    "delete from {s}.event",
    "update {s}.document_version set bytes = 'x'",
    "update {s}.signing_key set public_key = sha256('x')",
    "delete from {s}.signing_key",
]


async def test_what_was_signed_sealed_or_published_stays(maker: Office) -> None:
    await maker.compiled(await maker.passport(), await maker.package())
    tenant = await maker.kit.tenant("default")
    for role in (Role.API, Role.WORKER):
        connection = await asyncpg.connect(target(maker.kit.settings, role).url)
        try:
            await connection.execute("select set_config('leasehold.tenant', $1, false)", str(tenant))
            for statement in STAYS:
                with pytest.raises(asyncpg.PostgresError) as refused:
                    await connection.execute(statement.format(s="leasehold_passports"))
                assert refused.value.sqlstate == "LH409", statement
        finally:
            await connection.close()
