"""Many passports as files: whole, for one reader, and gone when their days are over."""

import asyncio
import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold_packs.passports import handlers_export
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle_archive import Archive, Entry, bundles_in, is_archive
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.verify import verify
from tests.packs.passports.battery import ISSUE, KEY, passport, signed
from tests.packs.passports.office import GTIN, Office, good
from tests.packs.passports.test_routes_public import run_alone

HIDDEN = (b"Aluminium", b"maker.example/report")


async def exported(maker: Office, **order: object) -> list[dict[str, Any]]:
    """What each file of an export is, in order."""
    job = good(await maker.api.post("/v1/passports/exports", json=order))["job_id"]
    ended = {str(each.job_id): each for each in await maker.work() if each.kind == "passports.export"}
    files = []
    while job:
        assert ended[job].state == "succeeded", ended[job].error
        files.append(ended[job].result)
        job = files[-1]["next_job"]
    return files


async def batteries(maker: Office, count: int) -> str:
    model, package = await maker.passport(gtin=GTIN), await maker.package()
    lines = "".join(f"SN{number},{number}\n" for number in range(count))
    sheet = await maker.send(
        model, b"serial,/health/cycles\n" + lines.encode(), media="text/csv", name="s", role="sheet"
    )
    body = {"package_id": package, "document_version_id": sheet["document_version_id"]}
    good(await maker.api.post(f"/v1/passports/{model}/bulk", json=body))
    await maker.compiled(model, package)
    return model


async def test_all_passports_are_in_files_of_bounded_size_that_check_themselves(
    maker: Office, stranger: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = await batteries(maker, 20)
    monkeypatch.setattr(handlers_export, "FULL", 60_000)
    files = await exported(maker, reader="public", keep_days=2)
    assert len(files) > 1, "one is full"
    assert sum(each["versions"] for each in files) == 21
    serials = set()
    for each in files:
        report = good(await maker.api.get(f"/v1/reports/{each['report_id']}"))
        raw = good(await stranger.get(report["link"]))
        assert (report["format"], report["size"], len(raw)) == ("zip", each["size"], each["size"])
        assert is_archive(raw)
        verdicts = [verify(made, keys) for _, made, keys in bundles_in(raw)]
        assert {(verdict.ok, verdict.shown) for verdict in verdicts} == {(True, Reader.PUBLIC.tiers)}
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            listed = list(csv.DictReader(io.StringIO(archive.read("index.csv").decode())))
            content = b"".join(archive.read(name) for name in archive.namelist())
            archive.extractall(tmp_path / each["report_id"])
        assert len(listed) == len(verdicts) == each["versions"]
        serials |= {line["serial"] for line in listed}
        assert not [value for value in HIDDEN if value in content]
    assert serials == {"", *(f"SN{number}" for number in range(20))}

    folder = tmp_path / files[0]["report_id"]
    said = await asyncio.to_thread(run_alone, folder)
    assert said.count("GOOD") == files[0]["versions"]
    victim = next(folder.rglob("payload.json"))
    victim.write_bytes(victim.read_bytes().replace(b'"M1"', b'"M2"'))
    said = await asyncio.to_thread(run_alone, folder)
    assert f"BAD: PAYLOAD_CHANGED /model in {victim.parent}" in said
    assert said.count("GOOD") == files[0]["versions"] - 1

    assert (await maker.api.delete(f"/v1/reports/{files[0]['report_id']}")).status_code == 204
    assert (await stranger.get(report["link"])).status_code == 200, "the others are still there"
    only = await exported(maker, passport_id=model, reader="owner", all_versions=True)
    assert sum(each["versions"] for each in only) == 21


async def test_an_export_is_of_its_tenant_alone_and_may_be_empty(maker: Office) -> None:
    [empty] = await exported(maker)
    assert empty["versions"] == 0
    assert (await maker.api.post("/v1/passports/exports", json={"passport_id": empty["report_id"]})).status_code == 404
    assert (await maker.api.post("/v1/passports/exports", json={"keep_days": 0})).status_code == 422


def test_names_cannot_calculate_in_a_spreadsheet_and_what_is_no_archive_is_refused() -> None:
    archive = Archive([KEY])
    about: dict[str, Any] = {
        "passport_id": ISSUE.version,
        "version_id": ISSUE.version,
        "gtin": None,
        "serial": "",
        "number": 1,
    }
    entry = Entry(**about, name="=1+1", state="active", issued_at="2027-02-18T12:00:00Z")
    raw = archive.add(entry, signed(passport())) + archive.end()
    [(folder, made, keys)] = bundles_in(raw)
    assert (folder, verify(made, keys).ok) == (f"{ISSUE.version}/1", True)
    with zipfile.ZipFile(io.BytesIO(raw)) as found:
        assert ",'=1+1," in found.read("index.csv").decode()
    assert not is_archive(b"no zip")
    with pytest.raises(PassportError):
        list(bundles_in(b"no zip"))
