"""``leasehold passports …``, as its users call it."""

import json
import zipfile
from pathlib import Path

import pytest

from leasehold.testing import Kit
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle_zip import zipped
from leasehold_packs.passports.keys import did_document
from leasehold_packs.passports.log import CONSISTENCY
from tests.api.conftest import SECRET_KEY
from tests.cli.program import leasehold as command
from tests.cli.program import started
from tests.packs.passports.battery import ISSUER, KEY, head_of, passport, signed
from tests.packs.passports.office import prepare


def test_a_bundle_that_was_changed_is_named_and_ends_with_1(tmp_path: Path) -> None:
    good, bad, did = tmp_path / "good.zip", tmp_path / "bad.zip", tmp_path / "did.json"
    good.write_bytes(zipped(signed(passport(), Reader.PUBLIC), [KEY]))
    did.write_text(json.dumps(did_document(ISSUER, [KEY])))
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(bad, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"M1"', b'"M2"'))

    said = command("passports", "verify", str(good))
    assert (said.code, said.out[:38]) == (0, "good: did:web:maker.example signed it,"), said.err
    assert command("passports", "verify", str(good), "--keys", str(did)).code == 0
    said = command("passports", "verify", str(bad), "--json")
    assert (said.code, said.json["findings"][0]["code"]) == (1, "PAYLOAD_CHANGED")
    assert command("passports", "verify", str(did)).code == 2, "no bundle at all"

    shown = {"format": CONSISTENCY, "first": head_of([b"a" * 32]), "second": head_of([b"a" * 32, b"b" * 32])}
    for path, code in ((["62" * 32], 0), (["63" * 32], 1)):
        proof = tmp_path / "consistency.json"
        proof.write_text(json.dumps({**shown, "path": path}))
        assert command("passports", "consistent", str(proof), "--keys", str(did)).code == code


@pytest.fixture
async def site(leasehold: Kit) -> dict[str, str]:
    await prepare(leasehold)
    return leasehold.environment | {"LEASEHOLD_SECRET_KEYS": SECRET_KEY, "LEASEHOLD_PACKS": "passports"}


def test_documents_become_a_passport_by_commands_alone(site: dict[str, str], tmp_path: Path) -> None:
    def passports(*arguments: str, code: int = 0) -> str:
        said = command("passports", *arguments, env=site)
        assert said.code == code, said.err
        return said.out.strip()

    sheet = tmp_path / "facts.csv"
    sheet.write_text("pointer;value;unit\n/generalProductInformation/batteryMass;24500;g\n")
    out = tmp_path / "passport.zip"
    with started("worker", env=site) as worker:
        assert passports("issuer", "acme", "Acme", "acme.example") == "did:web:acme.example:v1:passports:issuers:acme"
        rules = passports("rules", "--battery-pass", "lmt")
        made = passports("create", "Battery", "--category", "lmt")
        passports("upload", made, str(sheet))
        version = passports("compile", made, "--package", rules)
        assert passports("status", made).split("\t")[:3] == [version, "1", "active"]
        passports("bundle", version, str(out))
        assert worker.stopped().code == 0
    assert passports("verify", str(out)).startswith("good")
    with zipfile.ZipFile(out) as archive:
        mass = json.loads(archive.read("payload.json"))["generalProductInformation"]["batteryMass"]
    assert mass == {"value": "24.5", "unit": "kg"}
    assert passports("status", "00000000-0000-0000-0000-000000000000", code=3) == ""


def test_the_demo_needs_a_worker_and_nothing_else(site: dict[str, str]) -> None:
    with started("worker", env=site) as worker:
        said = command("passports", "demo", "--batteries", "2", env=site)
        assert worker.stopped().code == 0
    assert said.code == 0, said.err
    assert "100 % of what the category requires" in said.err
    assert "check       public: good" in said.err
    assert "2 passports of single batteries are active" in said.err
