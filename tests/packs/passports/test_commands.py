"""``leasehold passports …``, as its users call it."""

import json
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from leasehold.testing import Kit
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle_zip import zipped
from leasehold_packs.passports.keys import did_document
from leasehold_packs.passports.log import CONSISTENCY
from tests.cli.program import Said, started
from tests.cli.program import leasehold as command
from tests.docs.pages import ROOT, Block, blocks, commands
from tests.http.conftest import SECRET_KEY
from tests.packs.passports.battery import ISSUER, KEY, head_of, passport, signed
from tests.packs.passports.office import prepare

TUTORIAL = blocks(ROOT / "docs" / "tutorials" / "make-a-passport.md")


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


@pytest.mark.long
def test_documents_become_a_passport_by_commands_alone(site: dict[str, str], tmp_path: Path) -> None:
    def passports(*arguments: str, code: int = 0) -> str:
        said = command("passports", *arguments, env=site)
        assert said.code == code, said.err
        return said.out.strip()

    sheet = tmp_path / "facts.csv"
    sheet.write_text("pointer;value;unit\n/generalProductInformation/batteryMass;24500;g\n")
    out = tmp_path / "passport.zip"
    with started("worker", env=site) as worker:
        assert (
            passports("issuer", "acme", "Acme", "acme.localhost") == "did:web:acme.localhost:v1:passports:issuers:acme"
        )
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


@pytest.mark.long
def test_the_commands_of_the_tutorial_do_what_it_says(site: dict[str, str], tmp_path: Path) -> None:
    names: dict[str, str] = {name: str(tmp_path / name) for name in ("passport.zip", "all.zip")}
    said: dict[str, Said] = {}
    with started("worker", env=site | {"LEASEHOLD_SLOTS": "4"}) as worker:
        for block in TUTORIAL:
            if block.note.startswith("the file "):
                names[block.note.removeprefix("the file ")] = str(tmp_path / block.note.removeprefix("the file "))
                (tmp_path / block.note.removeprefix("the file ")).write_text(f"{block.text}\n")
            for arguments in commands(block) if block.note.startswith("run in order") else ():
                line = " ".join(arguments)
                said[line] = command(*(names.get(each, each) for each in arguments), env=site)
                assert said[line].code == (1 if block.note.endswith("exits with 1") else 0), (line, said[line].err)
                names |= _named(line, said[line].out)
        assert worker.stopped().code == 0
    shown = {line: one for block in TUTORIAL for line, one in _shown(block)}
    for line, one in shown.items():
        start = one.partition("…")[0]
        assert (said[line].out + said[line].err).replace(f"{tmp_path}/", "").startswith(start), line
    assert said["passports verify all.zip"].out.count("good") == 3


def _named(line: str, out: str) -> dict[str, str]:
    """What the tutorial calls the ids that a command prints."""
    first = out.split()[0] if out.split() else ""
    match line.split()[1]:
        case "rules":
            return {"$RULES": first}
        case "create":
            return {"$PASSPORT": first}
        case "status":
            return {"$VERSION": first}
        case "snapshots":
            after, before = [one.split()[0] for one in out.splitlines()]
            return {"$BEFORE": before, "$AFTER": after}
        case "export":
            return {"$REPORT": first}
    return {}


def _shown(block: Block) -> list[tuple[str, str]]:
    """Each command of a block that is shown with what it prints."""
    lines = block.text.splitlines() if block.note.startswith("run in order") else []
    return [
        (" ".join(next(commands(replace(block, text=line)))), after)
        for line, after in pairwise(lines)
        if line.startswith("$ ") and not after.startswith("$ ")
    ]
