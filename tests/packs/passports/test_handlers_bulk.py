"""Many batteries of one model: made line by line, renewed where they differ, and derived once more."""

from pathlib import Path
from typing import Any

import pytest

from leasehold import State
from leasehold_packs.passports import handlers_bulk
from tests.packs.passports import killed
from tests.packs.passports.battery import RULES
from tests.packs.passports.office import GTIN, HOST, Office, administrator, good

RULES_2 = RULES | {"version": "2", "copies": [copy for copy in RULES["copies"] if copy["at"] != "/ok"]}


async def bulk(maker: Office, sheet: bytes, **fields: Any) -> tuple[str, str, str]:
    """The model, its rules and the bulk, not worked on yet."""
    model, package = await maker.passport(gtin=GTIN), await maker.package()
    sent = await maker.send(model, sheet, media="text/csv", name="serials.csv", role="sheet")
    body = {"package_id": package, "document_version_id": sent["document_version_id"], **fields}
    made = good(await maker.api.post(f"/v1/passports/{model}/bulk", json=body))
    return model, package, made["bulk_id"]


def sheet(count: int) -> bytes:
    return "\n".join(["serial,/health/cycles", *(f"S{n:04},{n}" for n in range(count)), ""]).encode()


async def batteries(maker: Office, model: str) -> dict[str, dict[str, Any]]:
    """The batteries of a model by their serial numbers."""
    rows = good(await maker.api.get("/v1/passports", params={"model_id": model, "limit": 200}))["data"]
    return {row["serial"]: row for row in rows}


async def test_a_line_of_a_sheet_becomes_a_battery_with_the_facts_of_its_model_and_its_own(maker: Office) -> None:
    lines = sheet(30) + b"S0000,9\nS0029,8\nnot \xc3\xb6k,1\n"
    model, _, bulk_id = await bulk(maker, lines)
    await maker.work()

    done = good(await maker.api.get(f"/v1/passports/bulks/{bulk_id}"))
    assert (done["state"], done["made"], done["versions"]) == ("done", 30, {"active": 30})
    assert [line for line, _ in done["refused"]] == [32, 33, 34]
    made = await batteries(maker, model)
    [version] = good(await maker.api.get(f"/v1/passports/{made['S0007']['passport_id']}/versions"))["data"]
    assert version["link"] == f"https://{HOST}/01/{GTIN}/21/S0007"
    payload = good(await maker.api.get(f"/v1/passports/versions/{version['version_id']}/payload"))
    assert (payload["health"]["cycles"], payload["model"]) == ("7", "M1")


async def test_a_bulk_goes_on_where_it_was_left(maker: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers_bulk, "CHUNK", 5)
    model, _, bulk_id = await bulk(maker, sheet(13))
    usual, is_broken, calls = handlers_bulk._make_some, True, 0

    async def breaks(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if is_broken and calls > 2:
            raise ConnectionError("the worker is gone")
        await usual(*args)

    monkeypatch.setattr(handlers_bulk, "_make_some", breaks)
    await maker.work()
    half = good(await maker.api.get(f"/v1/passports/bulks/{bulk_id}"))
    assert (half["state"], half["made"], half["next_line"]) == ("running", 10, 10)
    is_broken = False
    await maker.kit.move(3600)
    await maker.work()
    done = good(await maker.api.get(f"/v1/passports/bulks/{bulk_id}"))
    assert (done["state"], done["made"], done["versions"]) == ("done", 13, {"active": 13})
    assert len(await batteries(maker, model)) == 13


async def test_what_a_changed_fact_or_rule_affects_is_told_first_and_then_renewed(maker: Office) -> None:
    model, package, _ = await bulk(maker, sheet(3))
    await maker.work()
    await maker.compiled(model, package)
    own = (await batteries(maker, model))["S0001"]["passport_id"]
    good(await maker.api.put(f"/v1/passports/{own}/facts", json={"pointer": "/health/cycles", "value": 99}))

    assert await recompiled(maker, package, dry_run=True, passport_id=model) == (4, 1, 0)
    assert await recompiled(maker, package, dry_run=True, passport_id=own) == (1, 1, 0)
    [job] = (await (await maker.kit.client()).list_jobs(kind="passports.recompile"))[:1]
    assert job.result["changed"][0]["changes"] == [
        {
            "pointer": "/health/cycles",
            "before": {"tier": "individual", "value": "1"},
            "after": {"tier": "individual", "value": "99"},
        }
    ]
    assert await recompiled(maker, package, dry_run=False) == (4, 1, 1)
    assert await recompiled(maker, package, dry_run=True) == (4, 0, 0)
    versions = good(await maker.api.get(f"/v1/passports/{own}/versions"))["data"]
    assert [version["state"] for version in versions] == ["active", "superseded"]

    stricter = await maker.package(RULES_2)
    assert await recompiled(maker, stricter, dry_run=False) == (4, 4, 4)
    assert await recompiled(maker, stricter, dry_run=True) == (4, 0, 0)


async def recompiled(maker: Office, package: str, *, dry_run: bool, **of: str) -> tuple[int, int, int]:
    body = {"package_id": package, "dry_run": dry_run, **of}
    good(await maker.api.post("/v1/passports/recompile", json=body))
    [job] = [job for job in await maker.work() if job.kind == "passports.recompile"]
    assert (job.state, job.result["failed"]) == (State.SUCCEEDED, 0)
    return job.result["looked_at"], job.result["differ"], job.result["requested"]


async def test_a_replay_finds_what_somebody_changed_behind_our_back(maker: Office) -> None:
    await bulk(maker, sheet(4))
    await maker.work()
    assert await replayed(maker) == (4, [])
    statements = [
        "alter table leasehold_passports.tier disable trigger keep",
        "update leasehold_passports.tier set fields = jsonb_set(fields, '{0,1}', '\"forged\"')"
        " where tier = 'public' and version_id = (select version_id from leasehold_passports.version limit 1)",
    ]
    await as_administrator(maker, statements)
    same, differ = await replayed(maker)
    assert (same, len(differ)) == (3, 1)


async def replayed(maker: Office) -> tuple[int, list[str]]:
    good(await maker.api.post("/v1/passports/replays", json={"sample": 10}))
    [job] = [job for job in await maker.work() if job.kind == "passports.replay"]
    return job.result["same"], job.result["differ"]


async def as_administrator(maker: Office, statements: list[str]) -> None:
    connection = await administrator(maker.kit)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def test_a_signer_that_is_killed_leaves_one_version_and_one_id_for_each_event(
    maker: Office, tmp_path: Path
) -> None:
    await killed.run(maker.kit, range(1, 4), tmp_path)
