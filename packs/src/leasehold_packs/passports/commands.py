"""``leasehold passports …``."""

import mimetypes
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from leasehold import shell
from leasehold_packs.passports.attributes import Category, Reader
from leasehold_packs.passports.commands_check import File, consistent, verify
from leasehold_packs.passports.errors import invalid

if TYPE_CHECKING:
    from leasehold import Access
    from leasehold_packs.passports.facts import FactJson
    from leasehold_packs.passports.model import Problem

app = typer.Typer(help="Battery passports: documents in, signed passports out.", no_args_is_help=True)

Passport = Annotated[UUID, typer.Argument(help="The id of a passport.")]
Package = Annotated[UUID, typer.Option("--package", help="The id of a published rule package.")]
_PATIENCE_SECONDS = 120.0
_LONG_SECONDS = 3600.0
_MOST_FACTS = 100_000


@app.command()
@shell.command
async def issuer(
    slug: Annotated[str, typer.Argument(help="Stands in the address of your keys.")],
    name: str,
    host: Annotated[str, typer.Argument(help="Where QR codes lead, such as passports.acme.example.")],
    tenant: shell.TenantOption = None,
) -> None:
    """Say who signs. Its first key is made as well, or by `prove`, when the host has to be proven first."""
    from leasehold_packs.passports import store_keys
    from leasehold_packs.passports.service import schedule

    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            development = access.is_development
            made = await store_keys.set_issuer(tx, slug=slug, name=name, host=host, development=development)
            if made.host_proven_at:
                await store_keys.first_key(tx, datetime.now(UTC))
        await schedule(access.client)
    print(made.did)
    if not made.host_proven_at:
        shell.say(f"publish {made.challenge} at {made.proof_url}, then: leasehold passports prove")


@app.command()
@shell.command
async def prove(tenant: shell.TenantOption = None) -> None:
    """Prove that the issuer's host is yours. Its first key is made then. Needs a worker: leasehold up."""
    from leasehold_packs.passports import store_keys
    from leasehold_packs.passports.service import request_proof

    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            job = await request_proof(tx)
        found = await access.client.wait(job.job_id, timeout=_PATIENCE_SECONDS)
        async with access.transaction() as tx:
            await store_keys.first_key(tx, datetime.now(UTC))
    print(f"{found.result['host']} is yours")


@app.command()
@shell.command
async def keys(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The keys of the issuer, oldest first; their private parts never come out."""
    from leasehold_packs.passports import store_keys

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        rows = await store_keys.list_keys(tx)
    names = ("key_id", "not_before", "not_after", "revoked_at")
    if json:
        shell.print_json([{name: getattr(row, name) for name in names} for row in rows])
        return
    shell.print_table(["key", "since", "until", "revoked"], [[getattr(row, name) for name in names] for row in rows])


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
    from leasehold_packs.passports import store_snapshots
    from leasehold_packs.passports.attributes import battery_pass_rules
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.rules import package

    if (file is None) == (battery_pass is None):
        raise typer.BadParameter("name a file, or --battery-pass and a category")
    source = read_json(file.read_bytes()) if file else battery_pass_rules(battery_pass or Category.EV)
    checked = package(source)
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        made = await store_snapshots.add_package(tx, checked, access.actor)
        await store_snapshots.set_package_state(tx, made.package_id, "published")
    print(made.package_id)


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
    from leasehold_packs.passports.store import add_passport

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        print(await add_passport(tx, name=name, category=category, gtin=gtin, serial=serial, model_id=model))


@app.command("list")
@shell.command
async def list_(
    model: Annotated[UUID | None, typer.Option(help="The batteries of this model only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Passports, with the state of each and how complete it is."""
    from leasehold_packs.passports.store import list_passports

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        rows = await list_passports(tx, model_id=model, after=None, limit=limit)
    if json:
        shell.print_json(rows)
        return
    names = ("passport_id", "name", "gtin", "serial", "state", "share")
    shell.print_table(
        ["passport", "name", "gtin", "serial", "state", "complete"],
        [[getattr(row, name) for name in names] for row in rows],
    )


@app.command()
@shell.command
async def upload(
    passport: Passport,
    file: File,
    role: Annotated[str, typer.Option(help="facts, schema, sheet or evidence.")] = "facts",
    under: Annotated[str, typer.Option(help="Where its facts belong, such as /labels.")] = "",
    schema: Annotated[UUID | None, typer.Option(help="An uploaded JSON Schema to check it against.")] = None,
    media_type: Annotated[str | None, typer.Option(help="By default by the name of the file.")] = None,
    valid_until: Annotated[datetime | None, typer.Option(help="The end of a certificate, in UTC.")] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Send a document, and wait until its facts are read. Exit 1 if some are in error."""
    from leasehold_packs.passports.documents import XLSX
    from leasehold_packs.passports.service import schedule, send_document
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
            valid_until=valid_until and valid_until.replace(tzinfo=UTC),
        )
        async with access.transaction() as tx:
            made = await send_document(tx, passport, sent)
        if sent.valid_until:
            await schedule(access.client)
        if made.job_id:
            await access.client.wait(made.job_id, timeout=_PATIENCE_SECONDS)
        async with access.transaction() as tx:
            found = await get_document(tx, made.id)
    if json:
        names = ("document_version_id", "state", "sha256", "facts", "errors")
        shell.print_json({name: getattr(found, name) for name in names})
    else:
        print(found.document_version_id)
        shell.say(f"{found.state}: {found.facts or 0} facts, {found.errors or 0} in error")
    if found.errors or found.state == "unreadable":
        raise typer.Exit(1)


@app.command()
@shell.command
async def facts(
    passport: Passport,
    state: Annotated[
        str | None, typer.Option(help="ok, error, superseded or dismissed; else the current ones.")
    ] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """The facts of a passport, each with the cell or pointer that it was read from."""
    from leasehold_packs.passports import store, store_facts

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        await store.get_passport(tx, passport)
        rows = await store_facts.list_facts(tx, passport, state=state, after=0, limit=_MOST_FACTS)
    if json:
        shell.print_json(rows)
        return
    shown = [(row.pointer, row.text, row.unit, row.ref, row.message or row.state) for row in rows]
    shell.print_table(["pointer", "value", "unit", "from", "state"], shown)


@app.command()
@shell.command
async def state(
    passport: Passport,
    pointer: Annotated[str, typer.Argument(help="Where the fact stands, such as /labels/ceMark.")],
    value: Annotated[str, typer.Argument(help="As JSON has it; what is no JSON is text.")],
    unit: Annotated[str | None, typer.Option(help="Of a number, such as kg.")] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """State a fact, or correct one: the one before is kept, and named. The id of the new one."""
    from leasehold_packs.passports.service import state_fact

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        made = await state_fact(tx, passport, pointer=pointer, value=_value(value), unit=unit, author=access.actor)
    print(made)


@app.command()
@shell.command
async def snapshots(passport: Passport, tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The snapshots of a passport, newest first."""
    from leasehold_packs.passports import store, store_snapshots

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        await store.get_passport(tx, passport)
        rows = await store_snapshots.list_snapshots(tx, passport)
    if json:
        shell.print_json(rows)
        return
    names = ("snapshot_id", "state", "hash", "created_at")
    shell.print_table(
        ["snapshot", "state", "hash", "created"], [[getattr(row, name) for name in names] for row in rows]
    )


@app.command()
@shell.command
async def compare(
    before: Annotated[UUID, typer.Argument(help="The id of a snapshot.")],
    after: Annotated[UUID, typer.Argument(help="The id of another.")],
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """What differs between two snapshots. Exit 1 if anything does."""
    from leasehold_packs.passports import store_snapshots
    from leasehold_packs.passports.changes import facts_changed

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = facts_changed(*await store_snapshots.two_snapshots(tx, before, after))
    if json:
        shell.print_json(found)
    else:
        rows = [(each["pointer"], _fact(each["before"]), _fact(each["after"])) for each in found]
        shell.print_table(["pointer", "before", "after"], rows)
    if found:
        raise typer.Exit(1)


@app.command("compile")
@shell.command
async def compile_(passport: Passport, package: Package, tenant: shell.TenantOption = None) -> None:
    """Seal the facts, ask for a version, and wait until it is active; its id."""
    async with shell.tenant(tenant) as access:
        print(await _compiled(access, passport, package))


@app.command()
@shell.command
async def bulk(
    passport: Annotated[UUID, typer.Argument(help="The passport of a model.")],
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="CSV or XLSX with a column serial, and one for each fact."),
    ],
    package: Package,
    tenant: shell.TenantOption = None,
) -> None:
    """A passport for each line of a sheet, and wait until all are active. Exit 1 if some could not be made."""
    from leasehold_packs.passports.documents import CSV, XLSX
    from leasehold_packs.passports.model import Order
    from leasehold_packs.passports.service import request_bulk, send_document, wait_for_bulk
    from leasehold_packs.passports.store_facts import Delivered
    from leasehold_packs.passports.store_versions import get_bulk

    media = XLSX if file.suffix.lower() == ".xlsx" else CSV
    async with shell.tenant(tenant) as access:
        sent = Delivered(raw=file.read_bytes(), name=file.name, role="sheet", media_type=media, author=access.actor)
        order = Order(package_id=package, issued_at=datetime.now(UTC), activate=True, author=access.actor)
        async with access.transaction() as tx:
            bulk_id = await request_bulk(tx, passport, (await send_document(tx, passport, sent)).id, order)
        counts = await wait_for_bulk(access, bulk_id, seconds=_LONG_SECONDS)
        async with access.transaction() as tx:
            refused = (await get_bulk(tx, bulk_id)).refused
    for line, why in refused:
        print(f"line {line}\t{why}")
    shell.say(f"{counts.get('active', 0)} are active, {counts.get('failed', 0)} failed, {len(refused)} lines refused")
    if refused or counts.get("failed"):
        raise typer.Exit(1)


@app.command()
@shell.command
async def revoke(
    version: Annotated[UUID, typer.Argument(help="The id of a version.")],
    reason: Annotated[str, typer.Argument(help="What its page and every check say.")],
    tenant: shell.TenantOption = None,
) -> None:
    """Revoke a version: its page and every check on this server say so."""
    from leasehold_packs.passports.service import revoke_version

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        await revoke_version(tx, version, reason)
    shell.say(f"{version} is revoked")


@app.command()
@shell.command
async def status(passport: Passport, tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The versions of a passport, newest first."""
    from leasehold_packs.passports import store, store_versions

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        await store.get_passport(tx, passport)
        versions = await store_versions.list_versions(tx, passport)
    if json:
        shell.print_json(versions)
        return
    rows = [(v.version_id, v.number, v.state, v.issued_at, v.link or _why(v.problem)) for v in versions]
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


app.command()(verify)


@app.command()
@shell.command
async def export(
    reader: Annotated[Reader, typer.Option(help="Who shall read it.")] = Reader.PUBLIC,
    passport: Annotated[UUID | None, typer.Option(help="This one and the batteries of its model only.")] = None,
    all_versions: Annotated[bool, typer.Option("--all-versions", help="Older and revoked versions, too.")] = False,
    days: Annotated[float, typer.Option(min=0.01, max=3650, help="Days that the files are there.")] = 7.0,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Many passports as files to be checked offline: `leasehold reports download` and `link` hand them out."""
    from leasehold_packs.passports.model_jobs import ExportOrder

    order = ExportOrder(reader=reader, passport_id=passport, all_versions=all_versions, keep_days=days)
    files: list[dict[str, Any]] = []
    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            job = (await tx.enqueue("passports.export", order)).job_id
        while job:
            ended = await access.client.wait(job, timeout=_LONG_SECONDS)
            if ended.state != "succeeded":
                raise invalid(f"the export was not made: {(ended.error or {}).get('message', ended.state)}")
            files.append(ended.result)
            job = ended.result["next_job"] and UUID(ended.result["next_job"])
    if json:
        shell.print_json(files)
        return
    names = ("report_id", "versions", "size", "expires_at")
    shell.print_table(["report", "versions", "bytes", "expires"], [[each[name] for name in names] for each in files])


app.command()(consistent)


@app.command()
@shell.command
async def demo(
    batteries: Annotated[int, typer.Option(min=0, max=10_000, help="Single batteries of the model, as well.")] = 3,
    host: Annotated[
        str | None, typer.Option(help="Where the QR codes shall lead; by default to a name of this machine.")
    ] = None,
    tenant: shell.TenantOption = None,
) -> None:
    """A made-up maker of batteries, from documents to passports that are checked. Needs a worker: leasehold up."""
    from leasehold_packs.passports.demo import run

    async with shell.tenant(tenant) as access:
        await run(access, batteries=batteries, host=host, tell=shell.say)


async def _compiled(access: "Access", passport: UUID, package: UUID) -> UUID:
    from leasehold_packs.passports.model import Order
    from leasehold_packs.passports.service import compile_version, wait_for

    order = Order(package_id=package, issued_at=datetime.now(UTC), activate=True, author=access.actor)
    async with access.transaction() as tx:
        made = await compile_version(tx, passport, None, order)
    version = await wait_for(access, made.id, seconds=_PATIENCE_SECONDS)
    if version.state == "failed":
        raise invalid(f"the version failed: {_why(version.problem)}")
    return made.id


async def _bundled(access: "Access", version: UUID, reader: Reader) -> bytes:
    from leasehold_packs.passports import store_keys, store_versions
    from leasehold_packs.passports.bundle_zip import zipped

    async with access.transaction() as tx:
        made = await store_versions.bundle_of(tx, await store_versions.signed_version(tx, version), reader)
        keys = await store_keys.public_keys(tx)
    return zipped(made, keys)


def _value(text: str) -> Any:
    from leasehold_packs.passports.documents import read_json
    from leasehold_packs.passports.errors import PassportError

    try:
        return read_json(text.encode())
    except PassportError:
        return text


def _why(problem: "Problem | None") -> str | None:
    """Why a version failed, or was revoked."""
    return (problem.get("message") or problem.get("reason")) if problem else None


def _fact(fact: "FactJson | None") -> str | None:
    return " ".join(each for each in (fact["text"], fact["unit"]) if each) if fact else None
