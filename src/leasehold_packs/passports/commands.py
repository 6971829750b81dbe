"""``leasehold passports …``."""

import mimetypes
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from leasehold import shell
from leasehold_packs.passports.attributes import Category, Reader
from leasehold_packs.passports.errors import invalid

if TYPE_CHECKING:
    from leasehold_packs.passports.verify import Verdict

app = typer.Typer(help="Battery passports: documents in, signed passports out.", no_args_is_help=True)

Passport = Annotated[UUID, typer.Argument(help="The id of a passport.")]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]
Package = Annotated[UUID, typer.Option("--package", help="The id of a published rule package.")]
_PATIENCE_SECONDS = 120.0


@app.command()
@shell.command
async def issuer(
    slug: Annotated[str, typer.Argument(help="Stands in the address of your keys.")],
    name: str,
    host: Annotated[str, typer.Argument(help="Where QR codes lead, such as passports.acme.example.")],
    tenant: shell.TenantOption = None,
) -> None:
    """Say who signs. Its first key is made as well."""
    from leasehold_packs.passports import store_keys

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        made = await store_keys.set_issuer(tx, slug=slug, name=name, host=host)
        if await store_keys.signing_key(tx) is None:
            await store_keys.rotate_key(tx, datetime.now(UTC))
    print(made["did"])


@app.command()
@shell.command
async def rotate(tenant: shell.TenantOption = None) -> None:
    """Make a new key. What the one before signed goes on to hold."""
    from leasehold_packs.passports import store_keys

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        made = await store_keys.rotate_key(tx, datetime.now(UTC))
    print(made.key_id)


@app.command()
@shell.command
async def rules(
    file: Annotated[Path | None, typer.Argument(exists=True, dir_okay=False, help="A rule package in JSON.")] = None,
    battery_pass: Annotated[Category | None, typer.Option(help="The attribute list of Battery Pass instead.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """Publish a rule package; its id."""
    from leasehold_packs.passports import store_versions
    from leasehold_packs.passports.attributes import battery_pass_rules
    from leasehold_packs.passports.documents import read_json

    if (file is None) == (battery_pass is None):
        raise typer.BadParameter("name a file, or --battery-pass and a category")
    source = read_json(file.read_bytes()) if file else battery_pass_rules(battery_pass or Category.EV)
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        made = await store_versions.add_package(tx, source, access.actor)
        await store_versions.set_package_state(tx, made["package_id"], "published")
    print(made["package_id"])


@app.command()
@shell.command
async def create(
    name: str,
    category: Annotated[Category, typer.Option()] = Category.EV,
    gtin: Annotated[str | None, typer.Option(help="8, 12, 13 or 14 digits.")] = None,
    serial: Annotated[str, typer.Option(help="Of a single battery.")] = "",
    model: Annotated[UUID | None, typer.Option(help="The passport of its model.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """A passport without facts; its id."""
    from leasehold_packs.passports.store_facts import add_passport

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        print(await add_passport(tx, name=name, category=category, gtin=gtin, serial=serial, model_id=model))


@app.command()
@shell.command
async def upload(
    passport: Passport,
    file: File,
    role: Annotated[str, typer.Option(help="facts, schema, sheet or evidence.")] = "facts",
    under: Annotated[str, typer.Option(help="Where its facts belong, such as /labels.")] = "",
    schema: Annotated[UUID | None, typer.Option(help="An uploaded JSON Schema to check it against.")] = None,
    media_type: Annotated[str | None, typer.Option(help="By default by the name of the file.")] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Send a document, and wait until its facts are read. Exit 1 if some are in error."""
    from leasehold_packs.passports.desk import send_document
    from leasehold_packs.passports.documents import XLSX
    from leasehold_packs.passports.store_facts import Delivered, get_document

    known = XLSX if file.suffix.lower() == ".xlsx" else mimetypes.guess_type(file.name)[0]
    media = media_type or known or "application/octet-stream"
    async with shell.tenant(tenant) as access:
        sent = Delivered(
            raw=file.read_bytes(),
            name=file.name,
            role=role,
            media_type=media,
            author=access.actor,
            under=under,
            schema_id=schema,
        )
        async with access.transaction() as tx:
            asked = await send_document(tx, passport, sent)
        if asked.job_id:
            await access.client.wait(asked.job_id, timeout=_PATIENCE_SECONDS)
        async with access.transaction() as tx:
            found = dict(await get_document(tx, asked.id))
    if json:
        shell.print_json({name: found[name] for name in ("document_version_id", "state", "sha256", "facts", "errors")})
    else:
        print(found["document_version_id"])
        shell.say(f"{found['state']}: {found['facts'] or 0} facts, {found['errors'] or 0} in error")
    if found["errors"] or found["state"] == "unreadable":
        raise typer.Exit(1)


@app.command("compile")
@shell.command
async def compile_(passport: Passport, package: Package, tenant: shell.TenantOption = None) -> None:
    """Seal the facts, ask for a version, and wait until it is active; its id."""
    async with shell.tenant(tenant) as access:
        print(await _compiled(access, passport, package))


@app.command()
@shell.command
async def status(passport: Passport, tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The versions of a passport, newest first."""
    from leasehold_packs.passports import store_facts, store_versions

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        await store_facts.get_passport(tx, passport)
        versions = [dict(row) for row in await store_versions.list_versions(tx, passport)]
    if json:
        shell.print_json(versions)
        return
    rows = [(v["version_id"], v["number"], v["state"], v["issued_at"], v["link"] or v["problem"]) for v in versions]
    shell.print_table(["version", "number", "state", "issued", "link"], rows)


@app.command()
@shell.command
async def bundle(
    version: Annotated[UUID, typer.Argument(help="The id of a version.")],
    out: Annotated[Path, typer.Argument(help="The file to write, such as passport.zip.")],
    reader: Annotated[Reader, typer.Option(help="Who shall read it.")] = Reader.PUBLIC,
    tenant: shell.TenantOption = None,
) -> None:
    """Write a version into a file that can be checked offline."""
    async with shell.tenant(tenant) as access:
        out.write_bytes(await _bundled(access, version, reader))
    shell.say(f"{out}: what {reader} may see")


@app.command()
@shell.command
async def verify(
    file: File,
    keys: Annotated[Path | None, typer.Option(help="The issuer's did.json, from the issuer itself.")] = None,
    json: shell.Json = False,
) -> None:
    """Check a bundle without a network or a database. Exit 1 if anything is not as it was signed."""
    from leasehold_packs.passports.bundle_zip import unzipped
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.keys import keys_of
    from leasehold_packs.passports.verify import verify as checked

    made, enclosed = unzipped(file.read_bytes())
    verdict = checked(made, keys_of(read_json(keys.read_bytes())) if keys else enclosed)
    _print_verdict(verdict, made.receipt, json=json)
    if verdict.ok and keys is None:
        shell.say("the keys came with the bundle: --keys did.json checks it with those of the issuer")
    if not verdict.ok:
        raise typer.Exit(1)


@app.command()
@shell.command
async def consistent(
    file: File,
    keys: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The issuer's did.json, from the issuer.")],
) -> None:
    """Check that a log begins with all of an older one, from …/log/consistency?first=. Exit 1 if it does not."""
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.keys import keys_of
    from leasehold_packs.passports.verify import consistency_findings

    shown = read_json(file.read_bytes())
    findings = consistency_findings(shown, keys_of(read_json(keys.read_bytes())))
    for each in findings:
        print(f"{each.code}\t{each.at}\t{each.message}")
    if findings:
        raise typer.Exit(1)
    print(f"good: the log of {shown['second']['size']} begins with all of that of {shown['first']['size']}")


@app.command()
@shell.command
async def demo(
    batteries: Annotated[int, typer.Option(min=0, max=10_000, help="Single batteries of the model, as well.")] = 3,
    host: Annotated[str, typer.Option(help="Where the QR codes shall lead.")] = "passports.demo.example",
    tenant: shell.TenantOption = None,
) -> None:
    """A made-up maker of batteries, from documents to passports that are checked. Needs a worker: leasehold up."""
    from leasehold_packs.passports.demo import run

    async with shell.tenant(tenant) as access:
        await run(access, batteries=batteries, host=host, tell=shell.say)


async def _compiled(access: Any, passport: UUID, package: UUID) -> UUID:
    from leasehold_packs.passports.desk import ask_for_version, wait_for
    from leasehold_packs.passports.store_versions import Order

    order = Order(package_id=package, issued_at=datetime.now(UTC), activate=True, author=access.actor)
    async with access.transaction() as tx:
        asked = await ask_for_version(tx, passport, None, order)
    version = await wait_for(access, asked.id, seconds=_PATIENCE_SECONDS)
    if version["state"] == "failed":
        raise invalid(f"the version failed: {version['problem']}")
    return asked.id


async def _bundled(access: Any, version: UUID, reader: Reader) -> bytes:
    from leasehold_packs.passports import store_keys, store_versions
    from leasehold_packs.passports.bundle_zip import zipped

    async with access.transaction() as tx:
        made = await store_versions.bundle_of(tx, await store_versions.signed_version(tx, version), reader)
        keys = [store_keys.public_key(row) for row in await store_keys.list_keys(tx)]
    return zipped(made, keys)


def _print_verdict(verdict: "Verdict", receipt: bytes, *, json: bool) -> None:
    from leasehold_packs.passports.documents import read_json

    shown = sorted(verdict.shown)
    findings = [{"at": each.at, "code": each.code, "message": each.message} for each in verdict.findings]
    if json:
        shell.print_json({"ok": verdict.ok, "shown": shown, "findings": findings})
    elif verdict.ok:
        signed = read_json(receipt)
        print(f"good: {signed['issuer']} signed it, issued {signed['issued_at']}, shows {', '.join(shown)}")
    else:
        for each in findings:
            print(f"{each['code']}\t{each['at']}\t{each['message']}")
