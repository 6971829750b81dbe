"""Real samples, from the bytes as they were published to a scan that is checked: a real server and a real worker."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from leasehold.http.server import serving
from leasehold.testing import Kit
from leasehold_packs.passports.attributes import Category, battery_pass_rules
from tests.corpora.data import CORPORA, needs_corpora
from tests.packs.passports.office import FOUND, Office, good, key_of, prepare
from tests.packs.passports.test_real_samples import BATTERY_PASS, CATENA_X, PAYLOADS

pytestmark = needs_corpora
WRONG = "/materialComposition/batteryMaterials/0/batteryMaterialIdentifier"


@pytest.fixture
async def maker(leasehold: Kit) -> AsyncIterator[Office]:
    """As the other one, behind a real socket."""
    await prepare(leasehold)
    settings = replace(leasehold.settings, host="127.0.0.1", port=0)
    async with serving(settings, packs=[FOUND]) as url:
        headers = await key_of(leasehold, "default")
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as api:
            made = Office(leasehold, api)
            await made.opened(host=urlsplit(url).netloc)
            yield made


async def test_battery_pass_from_its_documents_to_a_scan(maker: Office, tmp_path: Path) -> None:
    passport = await maker.passport(says=None, category="lmt")
    errors = {}
    for folder, payload, schema, under, breaks in PAYLOADS:
        home = BATTERY_PASS / f"io.BatteryPass.{folder}" / "gen"
        rules = await maker.send(passport, (home / schema).read_bytes(), name=f"{folder} schema", role="schema")
        # The two versions of the performance belong to one place: the older is kept beside the
        # passport.
        place = {"under": under or "/olderPerformance", "schema_id": rules["document_version_id"], "name": folder}
        await maker.send(passport, (home / payload).read_bytes(), **place)
        errors[folder] = [f"{place['under']}{at}" for at in breaks]
    await maker.work()

    documents = {d["name"]: d for d in good(await maker.api.get(f"/v1/passports/{passport}/documents"))["data"]}
    assert {name: documents[name]["errors"] for name in errors} == {name: len(at) for name, at in errors.items()}
    assert sorted(documents[name]["encoding"] for name in errors) == ["utf-16-le"] * 7 + ["utf-8"]
    [fact] = good(await maker.api.get(f"/v1/passports/{passport}/facts?state=error"))["data"]
    assert (fact["pointer"], fact["text"]) == (WRONG, "7439-93-2 ")

    good(await maker.api.put(f"/v1/passports/{passport}/facts", json={"pointer": WRONG, "value": "7439-93-2"}))
    version = await maker.compiled(passport, await maker.package(battery_pass_rules(Category.LMT)))
    assert version["state"] == "active", version
    at = await scanned(maker, version["version_id"], tmp_path)

    async with httpx.AsyncClient(base_url=maker.api.base_url, trust_env=False) as anybody:
        page = good(await anybody.get(at)).decode()
        assert "Checked just now" in page
        assert "7439-93-2" not in page, "materials are for persons with a legitimate interest"
        parts = good(await anybody.get(at, headers={"Accept": "application/ld+json"}))["passport:bundle"]
        verdict = good(await anybody.post("/v1/passports/verify", json=parts))
    assert verdict == {"ok": True, "shown": ["public"], "state": "active", "findings": []}


async def scanned(maker: Office, version: str, folder: Path) -> str:
    """The path that the printed QR code leads to, read from the image by a program of others."""
    png = good(await maker.api.get(f"/v1/passports/versions/{version}/qr.png"))
    (folder / "qr.png").write_bytes(png)
    link = (await maker.version(version))["link"]
    if shutil.which("zbarimg"):
        assert await asyncio.to_thread(decoded, folder / "qr.png") == link
    parts = urlsplit(str(link))
    assert parts.netloc == maker.api.base_url.netloc.decode()
    return parts.path


def decoded(image: Path) -> str:
    done = subprocess.run(["zbarimg", "--quiet", "--raw", str(image)], capture_output=True, check=True, timeout=60)
    return done.stdout.decode().strip()


async def test_catena_x_samples_have_the_errors_that_they_have(maker: Office) -> None:
    copies = [{"at": "", "tier": "public"}, {"at": "/materials", "tier": "legitimate_interest"}]
    package = await maker.package({"format": "leasehold-rules/1", "name": "all", "version": "1", "copies": copies})
    for sample, errors in CATENA_X.items():
        home = CORPORA / "catenax-batterypass" / sample
        passport = await maker.passport(says=None, name=f"Catena-X {sample}")
        schema = (home / "BatteryPass-schema.json").read_bytes()
        rules = await maker.send(passport, schema, name="schema", role="schema")
        raw = (home / "BatteryPass.json").read_bytes()
        await maker.send(passport, raw, schema_id=rules["document_version_id"])
        job, _ = await maker.work()  # the other looks how complete it is
        assert job.result["errors"] == errors
        wrong = good(await maker.api.get(f"/v1/passports/{passport}/facts?state=error"))["data"]
        assert all(fact["pointer"].endswith("/address/postCode/value") for fact in wrong)
        if not errors:
            assert (await maker.compiled(passport, package))["state"] == "active"
        else:
            refused = await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package})
            assert json.loads(refused.text)["detail"].startswith("SNAPSHOT_NOT_READY")
