"""What anybody sees of a passport: the public tier, all of it, and nothing else, whatever the route and the format."""

import asyncio
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from leasehold_packs.passports import log
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.bundle_zip import PARTS, unzipped
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.keys import keys_of
from leasehold_packs.passports.merkle import root
from leasehold_packs.passports.routes import routes
from leasehold_packs.passports.translations import LANGUAGES, preferred
from leasehold_packs.passports.verify import consistency_findings, verify
from tests.packs.passports.office import GTIN, HOST, Office, administrator, good, office

#: Values of the battery that are not public.
HIDDEN = (b"Aluminium", b"cycles", b"maker.example/report")
PAGES = ("/p/{id}", "/p/{id}/json", "/p/{id}/bundle.zip", "/p/{id}/qr.svg", "/p/{id}/qr.png", f"/01/{GTIN}/21/SN-1")


async def published(maker: Office) -> str:
    passport = await maker.passport(gtin=GTIN, serial="SN-1")
    version = await maker.compiled(passport, await maker.package())
    assert version["state"] == "active"
    return passport


def content(response: httpx.Response) -> bytes:
    """All that an answer says, with what is packed unpacked."""
    if response.headers["content-type"] != "application/zip":
        return response.content
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def bundle_in(response: httpx.Response) -> Bundle:
    parts = response.json()["passport:bundle"]
    return Bundle(**{name: canonical(parts[name]) for name in PARTS})


async def test_a_stranger_sees_the_public_tier_and_nothing_else_on_every_page(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    passport = await published(maker)
    document = good(await stranger.get("/v1/passports/issuers/maker/did.json"))
    for page in PAGES:
        for accept in ("text/html", "application/ld+json", "application/json", "*/*"):
            answer = await stranger.get(page.format(id=passport), headers={"Accept": accept})
            good(answer)
            assert not [value for value in HIDDEN if value in content(answer)], page
            if answer.headers["content-type"] == "application/ld+json":
                verdict = verify(bundle_in(answer), keys_of(document))
                assert (verdict.ok, verdict.shown) == (True, Reader.PUBLIC.tiers)
            if answer.headers["content-type"] == "application/zip":
                made, keys = unzipped(answer.content)
                assert verify(made, keys).ok


async def test_every_other_route_asks_for_a_key(maker: Office, stranger: httpx.AsyncClient) -> None:
    passport = await published(maker)
    open_to_all = {
        *("/p/{passport_id}", "/p/{passport_id}/{part}", "/01/{gtin}", "/01/{gtin}/21/{serial:path}"),
        *("/v1/passports/issuers/{slug}/{document}", "/v1/passports/verify", "/v1/passports/verify/file"),
        *("/verify", "/verify/{asset}", "/.well-known/gs1resolver"),
        *(f"/v1/passports/issuers/{{slug}}/log/{each}" for each in ("head", "entries", "proof", "consistency")),
    }
    for route in routes.routes:
        path, methods = route.path, route.methods  # type: ignore[attr-defined]
        if path in open_to_all:
            continue
        for method in methods:
            for name in ("passport_id", "version_id", "package_id", "document_version_id", "snapshot_id", "bulk_id"):
                path = path.replace(f"{{{name}}}", passport)
            assert (await stranger.request(method, path)).status_code == 401, path


async def test_the_page_needs_no_script_and_says_what_holds(maker: Office, stranger: httpx.AsyncClient) -> None:
    passport = await published(maker)
    german = await stranger.get(f"/p/{passport}", headers={"Accept": "text/html", "Accept-Language": "de"})
    assert (german.headers["content-language"], german.headers["vary"]) == ("de", "Accept, Accept-Language")
    assert '<html lang="de">' in german.text
    assert "Dieser Pass ist gültig." in german.text
    page = await stranger.get(f"/p/{passport}", headers={"Accept": "text/html"})
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert re.findall("<script.*?</script>", page.text) == ['<script type="module" src="/verify/passport.js"></script>']
    assert '<p id="check" hidden>' in page.text, "what needs a script is not there without it"
    assert "@media print" in page.text
    assert "This passport is valid." in page.text
    assert "Checked just now" in page.text
    assert (
        "Not shown to you: 5 for persons with a legitimate interest; 1 for authorities; 1 of this battery" in page.text
    )
    [version] = good(await maker.api.get(f"/v1/passports/{passport}/versions"))["data"]
    reason = {"reason": "<b>recalled</b>"}
    good(await maker.api.post(f"/v1/passports/versions/{version['version_id']}/revoke", json=reason))
    revoked = (await stranger.get(f"/p/{passport}")).text
    assert "was revoked" in revoked
    assert "&lt;b&gt;recalled" in revoked


async def test_an_invitation_shows_the_tiers_of_its_reader(maker: Office, stranger: httpx.AsyncClient) -> None:
    passport = await published(maker)
    other = await maker.passport()
    keys = keys_of(good(await stranger.get("/v1/passports/issuers/maker/did.json")))
    for reader in (Reader.LEGITIMATE_INTEREST, Reader.AUTHORITY):
        body = {"reader": reader, "party": "A recycler", "ends_at": "2999-01-01T00:00:00Z"}
        made = good(await maker.api.post(f"/v1/passports/{passport}/invitations", json=body))
        token = made["link"].partition("=")[2]
        answer = await stranger.get(f"/p/{passport}/json", params={"invitation": token})
        verdict = verify(bundle_in(answer), keys)
        assert (verdict.ok, verdict.shown) == (True, reader.tiers)
        assert (await stranger.get(f"/p/{other}", params={"invitation": token})).status_code == 404
        good(await maker.api.delete(f"/v1/passports/{passport}/invitations/{made['invitation_id']}"))
        assert (await stranger.get(made["link"])).status_code == 403
    late = {"reader": "authority", "party": "Yesterday's", "ends_at": "2020-01-01T00:00:00Z"}
    made = good(await maker.api.post(f"/v1/passports/{passport}/invitations", json=late))
    assert (await stranger.get(made["link"])).status_code == 403


async def test_a_bundle_is_checked_and_what_was_changed_is_named(maker: Office, stranger: httpx.AsyncClient) -> None:
    passport = await published(maker)
    parts = good(await stranger.get(f"/p/{passport}/json"))["passport:bundle"]
    verdict = good(await stranger.post("/v1/passports/verify", json=parts))
    assert verdict == {"ok": True, "shown": ["public"], "state": "active", "findings": []}
    parts["payload"]["model"] = "M2"
    verdict = good(await stranger.post("/v1/passports/verify", json=parts))
    assert (verdict["ok"], verdict["findings"][0]["at"]) == (False, "/model")
    parts["receipt"]["issuer"] = "did:web:nobody.example"
    assert good(await stranger.post("/v1/passports/verify", json=parts))["ok"] is False


async def test_the_program_in_a_bundle_checks_it_alone(
    maker: Office, stranger: httpx.AsyncClient, tmp_path: Path
) -> None:
    passport = await published(maker)
    [version] = good(await maker.api.get(f"/v1/passports/{passport}/versions"))["data"]
    for reader in Reader:
        at = f"/v1/passports/versions/{version['version_id']}/bundle.zip?reader={reader}"
        with zipfile.ZipFile(io.BytesIO(good(await maker.api.get(at)))) as archive:
            archive.extractall(tmp_path)
        assert (await asyncio.to_thread(run_alone, tmp_path)).startswith("GOOD")
        for part in ("payload", "receipt", "proof", "log", "disclosure"):
            file = tmp_path / f"{part}.json"
            raw = file.read_bytes()
            file.write_bytes(_changed(part, json.loads(raw)))
            assert f"BAD: {part.upper()}_" in await asyncio.to_thread(run_alone, tmp_path), part
            file.write_bytes(raw)


def _changed(part: str, value: dict[str, Any]) -> bytes:
    if part == "disclosure":
        value["fields"][0][2] = "0" * 32
    elif part == "log":
        value["head"]["at"] = "2027-01-01T00:00:00Z"
    else:
        name = {"payload": "model", "receipt": "issued_at", "proof": "created"}[part]
        value[name] = "2027-01-01T00:00:00Z"
    return canonical(value)


#: What the program may not do: reach a network, or lean on us.
ALONE = """
import runpy, sys
def refuse(event, details):
    if event.startswith("socket.") or event == "import" and details[0].startswith("leasehold"):
        raise SystemExit(f"not alone: {event} {details}")
sys.addaudithook(refuse)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def run_alone(folder: Path) -> str:
    command = [sys.executable, "-I", "-c", ALONE, str(folder / "verify.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
    assert done.returncode == (1 if "BAD" in done.stdout else 0), done.stderr
    return done.stdout or done.stderr


async def test_a_number_leads_to_the_passport_of_the_host_that_was_asked(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    passport = await published(maker)
    at = f"/01/{GTIN}/21/SN-1"
    assert (await stranger.get(at, headers={"Host": "other.example"})).status_code == 421, "nobody's host"
    assert (await stranger.get("/01/04012345123457")).status_code == 404, "a wrong check digit"
    async with office(maker.kit, "rival") as rival:
        taken = {"slug": "maker", "name": "Rival", "host": "rival.localhost"}
        assert (await rival.api.put("/v1/passports/issuer", json=taken)).status_code == 409
        await rival.opened(slug="rival")
        other = await rival.passport(gtin=GTIN, serial="SN-1")
        await rival.compiled(other, await rival.package())
    asked = [await stranger.get(at, headers={"Host": host}) for host in (HOST, "rival.localhost")]
    assert [re.findall("/p/([0-9a-f-]{36})/bundle.zip", page.text)[0] for page in asked] == [passport, other]


async def test_a_gs1_link_lists_its_links_and_leads_to_the_one_that_is_asked_for(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    passport = await published(maker)
    at = f"/01/{GTIN}/21/SN-1"
    answer = await stranger.get(at, params={"linkType": "linkset"})
    assert answer.headers["content-type"] == "application/linkset+json"
    [found] = good(answer)["linkset"]
    assert good(await stranger.get(at, headers={"Accept": "application/linkset+json"})) == good(answer)
    assert found["anchor"] == f"https://{HOST}{at}"
    links = [link for name, targets in found.items() if name != "anchor" for link in targets]
    assert {name for name in found if name != "anchor"} >= {
        f"https://ref.gs1.org/voc/{each}" for each in ("dpp", "pip")
    }
    for link in links:
        target = await stranger.get(link["href"], headers={"Accept": link["type"]})
        assert target.headers["content-type"].partition(";")[0] == link["type"]
        assert not [value for value in HIDDEN if value in content(target)]
    led = await stranger.get(at, params={"linkType": "gs1:dpp"}, headers={"Accept": "*/*"})
    assert (led.status_code, led.headers["location"]) == (307, f"/p/{passport}/json")
    assert (await stranger.get(at, params={"linkType": "gs1:recipeInfo"})).status_code == 404
    assert (await stranger.get(at, params={"linkType": "pip"})).status_code == 404, "a link type has a namespace"
    described = good(await stranger.get("/.well-known/gs1resolver"))
    assert (described["resolverRoot"], described["supportedPrimaryKeys"]) == (f"http://{HOST}", ["01"])
    assert described["jsonLdContextLocation"] in answer.headers["link"]
    [supported] = described["supportedLinkType"]
    assert all(name.startswith(supported["namespace"]) for name in found if name != "anchor")


@pytest.mark.parametrize(
    ("accept", "language", "words"),
    [
        ("de-AT,en;q=0.5", "de", "Dieser Pass ist gültig."),
        ("en;q=0.2, fr-CH;q=0.9", "fr", "Ce passeport est valide."),
        ("ja, zz;q=1", "en", "This passport is valid."),
        ("de;q=0, en;q=0.1", "en", "This passport is valid."),
        ("", "en", "This passport is valid."),
        (";q=x,,*", "en", "This passport is valid."),
    ],
)
def test_a_reader_gets_the_language_that_it_likes_most(accept: str, language: str, words: str) -> None:
    found = preferred(accept)

    assert (found.language, found("active")) == (language, words)
    assert set(found.texts) == set(LANGUAGES["en"].texts), "nothing is left untranslated"


async def test_the_log_shows_each_version_once_and_only_grows(maker: Office, stranger: httpx.AsyncClient) -> None:
    at = "/v1/passports/issuers/maker/log"
    assert (await stranger.get(f"{at}/head")).status_code == 404, "nothing is signed yet"
    passport, package = await maker.passport(), await maker.package()
    versions = [await maker.compiled(passport, package) for _ in range(3)]
    keys = keys_of(good(await stranger.get("/v1/passports/issuers/maker/did.json")))
    head = good(await stranger.get(f"{at}/head"))
    leaves = good(await stranger.get(f"{at}/entries"))["leaves"]
    assert (head["size"], head["root"]) == (3, root([bytes.fromhex(leaf) for leaf in leaves]).hex())
    for version, leaf in zip(versions, leaves, strict=True):
        parts = {name: good(await maker.api.get(f"/v1/passports/versions/{version['version_id']}/{name}"))
                 for name in ("receipt", "proof", "log")}  # fmt: skip
        assert log.leaf(canonical(parts["receipt"]), canonical(parts["proof"])).hex() == leaf
        assert good(await stranger.get(f"{at}/proof", params={"leaf": leaf})) == parts["log"]
    for first in (1, 2, 3):
        shown = good(await stranger.get(f"{at}/consistency", params={"first": first}))
        assert (shown["first"]["size"], consistency_findings(shown, keys)) == (first, [])
    for query in ("proof?leaf=" + "0" * 64, "consistency?first=4", "head?size=9"):
        assert (await stranger.get(f"{at}/{query}")).status_code == 404, query
    async with office(maker.kit, "rival") as rival:
        await rival.opened(slug="rival")
        await rival.compiled(await rival.passport(), await rival.package())
    assert len(good(await stranger.get("/v1/passports/issuers/rival/log/entries"))["leaves"]) == 1, "a log of its own"
    assert good(await stranger.get(f"{at}/head")) == head


#: What somebody with every right might try on the log, and what refuses it.
TAMPERING = {
    "update leasehold_passports.log_node set hash = sha256('')": "written by signing alone",
    "delete from leasehold_passports.log_leaf": "written by signing alone",
    "truncate leasehold_passports.log_node": "written by signing alone",
    "insert into leasehold_passports.log_node select tenant_id, 0, 1, hash from leasehold_passports.log_node": (
        "written by signing alone"
    ),
    "update leasehold_passports.tree_head set head = ''": "kept as it is",
    "delete from leasehold_passports.tree_head": "kept as it is",
    "insert into leasehold_passports.tree_head select tenant_id, size + 1, root, at, key_id, head"
    " from leasehold_passports.tree_head": "does not have this root",
}


async def test_nobody_writes_the_log_but_a_signing(maker: Office) -> None:
    await maker.compiled(await maker.passport(), await maker.package())
    connection = await administrator(maker.kit)
    try:
        for statement, why in TAMPERING.items():
            with pytest.raises(asyncpg.PostgresError, match=why):
                await connection.execute(statement)
    finally:
        await connection.close()


async def test_a_head_is_signed_with_the_key_that_signs_now(maker: Office, stranger: httpx.AsyncClient) -> None:
    passport, package = await maker.passport(), await maker.package()
    made = good(await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package}))
    new = good(await maker.api.post("/v1/passports/keys"))["key_id"]
    await maker.work()
    version = await maker.version(made["version_id"])
    assert (version["state"], version["key_id"] == new) == ("active", False)
    head = good(await stranger.get("/v1/passports/issuers/maker/log/head"))
    assert head["proof"]["verificationMethod"].endswith(f"#{new}")
    parts = good(await stranger.get(f"/p/{passport}/json"))["passport:bundle"]
    assert good(await stranger.post("/v1/passports/verify", json=parts))["ok"]


async def test_keys_are_published_as_jwks_and_as_the_document_of_the_did(stranger: httpx.AsyncClient) -> None:
    document = good(await stranger.get("/v1/passports/issuers/maker/did.json"))
    assert document["id"] == f"did:web:{HOST}:v1:passports:issuers:maker"
    [key] = good(await stranger.get("/v1/passports/issuers/maker/jwks.json"))["keys"]
    assert document["verificationMethod"][0]["id"] == f"{document['id']}#{key['kid']}"
    assert "d" not in key, "no private part"
    assert (await stranger.get("/v1/passports/issuers/nobody/did.json")).status_code == 404


async def test_a_key_that_is_revoked_is_so_in_the_document_of_the_did(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    passport = await published(maker)
    [key] = good(await maker.api.get("/v1/passports/keys"))["data"]
    since = {"since": key["not_before"]}
    good(await maker.api.post(f"/v1/passports/keys/{key['key_id']}/revoke", json=since))
    document = good(await stranger.get("/v1/passports/issuers/maker/did.json"))
    assert document["verificationMethod"][0]["revoked"] == key["not_before"].replace("+00:00", "Z")
    made, _ = unzipped(good(await stranger.get(f"/p/{passport}/bundle.zip")))
    assert "KEY_NOT_VALID" in {finding.code for finding in verify(made, keys_of(document)).findings}
