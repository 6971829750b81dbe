"""The way of a document into a passport: ``parse``; then ``compile``, ``sign`` and ``qr``, each asks for the next.

Whatever a step writes is committed with its end and with the job of the next step. A worker that dies in between leaves
nothing behind, and the next attempt makes the same bytes: all that they depend on was fixed when they were asked for.

``sign`` has a queue of its own, and nothing else here opens a private key: run a worker with LEASEHOLD_SECRET_KEYS for
the queue ``passports-sign``, and workers without it for all others.
"""

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from leasehold import Context, Fail, Leasehold
from leasehold.errors import NotFound
from leasehold_packs.passports import qr as qr_codes
from leasehold_packs.passports.compile import Compiled, compiled
from leasehold_packs.passports.documents import Reading, csv_facts, json_facts, read_json
from leasehold_packs.passports.errors import Finding, PassportError
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.model import DocumentOrder, Done, Read, VersionsOrder
from leasehold_packs.passports.proof import options, sign
from leasehold_packs.passports.rules import schema_findings
from leasehold_packs.passports.store import Desk, tell
from leasehold_packs.passports.store_facts import (
    close_document,
    document_bytes,
    get_document,
    get_passport,
    put_facts,
    refuse_document,
)
from leasehold_packs.passports.store_keys import get_issuer
from leasehold_packs.passports.store_versions import (
    activate_version,
    facts_of,
    fail_version,
    get_version,
    issue_of,
    keys_by_id,
    keys_of_versions,
    lock_versions,
    problem_json,
    published_package,
    put_compiled,
    put_link,
    put_proof,
)

QUEUE = "passports"
SIGN_QUEUE = "passports-sign"
_RETRY: dict[str, Any] = {"attempts": 5, "retry": (2.0, 1024.0)}

app = Leasehold()


# -- documents ------------------------------------------------------------------------------------------------------


@app.handler("passports.parse", queue=QUEUE, priority=2, timeout=120, **_RETRY)
async def parse(ctx: Context, order: DocumentOrder) -> Read:
    """Read the facts of a document. A cell or value that is wrong becomes a fact in error; the others are read."""
    async with ctx.transaction() as tx:
        document = await get_document(tx, order.document_version_id)
        raw = await document_bytes(tx, order.document_version_id)
        schema = await document_bytes(tx, document["schema_id"]) if document["schema_id"] else None
    try:
        reading, findings = await asyncio.to_thread(_read, document, raw, schema)
    except PassportError as problem:
        async with ctx.transaction() as tx:
            await refuse_document(tx, order.document_version_id, problem_json(problem))
        raise ended(problem) from None
    good, wrong = _sorted_out(reading, findings)
    async with ctx.transaction() as tx:
        await put_facts(tx, document, good, wrong)
        counts = {"facts": len(good), "errors": len(wrong)}
        await close_document(tx, order.document_version_id, encoding=reading.encoding, **counts)
        return await tx.complete(Read(facts=len(good), errors=len(wrong)))


def _read(document: Any, raw: bytes, schema: bytes | None) -> tuple[Reading, list[Finding]]:
    if document["media_type"] == "text/csv":
        return csv_facts(raw, under=document["under"]), []
    reading = json_facts(raw, under=document["under"])
    return reading, schema_findings(read_json(schema), read_json(raw)) if schema else []


def _sorted_out(reading: Reading, findings: Sequence[Finding]) -> tuple[list[Fact], list[tuple[Fact | None, Finding]]]:
    """The facts without a finding, and the findings, each with its fact if there is one; one finding for each place."""
    by_ref = {fact.source.ref: fact for fact in reading.facts}
    merged: dict[str, Finding] = {}
    for finding in (*reading.errors, *findings):
        before = merged.get(finding.at)
        words = f"{before.message}; {finding.message}" if before else finding.message
        merged[finding.at] = Finding(at=finding.at, message=words[:2000])
    good = [fact for fact in reading.facts if fact.source.ref not in merged]
    return good, [(by_ref.get(at), finding) for at, finding in merged.items()]


# -- versions -------------------------------------------------------------------------------------------------------


@app.handler("passports.compile", queue=QUEUE, priority=1, timeout=120, **_RETRY)
async def compile_(ctx: Context, order: VersionsOrder) -> Done:
    """Make payload and receipt of each version, or note what is wrong with it."""
    async with ctx.transaction() as tx:
        versions = await lock_versions(tx, order.versions, "requested")
        results = await asyncio.to_thread(_compiled, await _inputs(tx, versions))
        for version, made in zip(versions, results, strict=True):
            if isinstance(made, Compiled):
                await put_compiled(tx, version["version_id"], made)
            else:
                await give_up(tx, version, made)
        ready = [v["version_id"] for v, made in zip(versions, results, strict=True) if isinstance(made, Compiled)]
        if ready:
            await tx.enqueue("passports.sign", VersionsOrder(versions=ready))
        if ready or len(order.versions) > 1:
            return await tx.complete(Done(done=len(ready), failed=len(versions) - len(ready)))
    return await _outcome(ctx, order.versions[0])


async def _inputs(tx: Desk, versions: Sequence[Any]) -> list[Any]:
    """Facts, rules and issue of each; an error instead of rules that are not published any more."""
    facts = await facts_of(tx, [version["snapshot_id"] for version in versions])
    keys = await keys_by_id(tx, [version["key_id"] for version in versions])
    packages: dict[UUID, Any] = {}
    for package_id in {version["package_id"] for version in versions}:
        try:
            packages[package_id] = await published_package(tx, package_id)
        except PassportError as problem:
            packages[package_id] = problem
    return [
        (facts[v["snapshot_id"]], packages[v["package_id"]], issue_of(v, keys[v["key_id"]]["issuer"])) for v in versions
    ]


def _compiled(inputs: Sequence[Any]) -> list[Compiled | PassportError]:
    made: list[Compiled | PassportError] = []
    for facts, package, issue in inputs:
        try:
            made.append(package if isinstance(package, PassportError) else compiled(Snapshot(facts), package, issue))
        except PassportError as problem:
            made.append(problem)
    return made


@app.handler("passports.sign", queue=SIGN_QUEUE, priority=1, timeout=120, **_RETRY)
async def sign_(ctx: Context, order: VersionsOrder) -> Done:
    """Sign the receipts. Ed25519 needs no random numbers: whoever comes after a crash makes the same proof."""
    async with ctx.transaction() as tx:
        keys = await keys_of_versions(tx, order.versions)
    # Outside: a transaction holds a connection, and each secret asks for one more.
    seeds = {key_id: await _seed(ctx, key) for key_id, key in keys.items()}
    async with ctx.transaction() as tx:
        versions = await lock_versions(tx, order.versions, "compiled")
        ready = []
        for version in versions:
            key = keys[version["key_id"]]
            about = options(method=f"{key['issuer']}#{key['key_id']}", created=version["issued_at"])
            try:
                proof = sign(read_json(version["receipt"]), about, seed=seeds[version["key_id"]])
            except PassportError as problem:
                await give_up(tx, version, problem)
                continue
            await put_proof(tx, version["version_id"], proof)
            await _tell(tx, "passport.signed", version, receipt_hash=version["receipt_hash"], key_id=version["key_id"])
            ready.append(version["version_id"])
        if ready:
            await tx.enqueue("passports.qr", VersionsOrder(versions=ready))
        if ready or len(order.versions) > 1:
            return await tx.complete(Done(done=len(ready), failed=len(versions) - len(ready)))
    return await _outcome(ctx, order.versions[0])


async def _seed(ctx: Context, key: Any) -> bytes | None:
    """The private key, unless it is revoked or was removed."""
    if key["revoked_at"] is not None:
        return None
    try:
        return base64.b64decode(await ctx.secret(key["secret"]))
    except NotFound:
        return None


@app.handler("passports.qr", queue=QUEUE, priority=2, timeout=120, **_RETRY)
async def qr(ctx: Context, order: VersionsOrder) -> Done:
    """Fix what the QR codes say, and publish the versions that shall be active at once."""
    async with ctx.transaction() as tx:
        host = (await get_issuer(tx))["host"]
        versions = await lock_versions(tx, order.versions, "signed")
        for version in versions:
            link = link_of(host, await get_passport(tx, version["passport_id"]))
            await asyncio.to_thread(qr_codes.encoded, link)  # refused here, not at the printer
            await put_link(tx, version["version_id"], link)
            if version["activate"]:
                await activate(tx, version)
        return await tx.complete(Done(done=len(versions)))


def link_of(host: str, passport: Any) -> str:
    """A GS1 Digital Link for what has a GTIN, else the plain address."""
    if passport["gtin"]:
        return qr_codes.digital_link(host, gtin=passport["gtin"], serial=passport["serial"] or None)
    return qr_codes.plain_link(host, str(passport["passport_id"]))


async def activate(tx: Desk, version: Any) -> None:
    before = await activate_version(tx, version)
    await _tell(tx, "passport.activated", version, superseded=str(before) if before else None)


async def give_up(tx: Desk, version: Any, problem: PassportError) -> None:
    await fail_version(tx, version["version_id"], problem)
    await _tell(tx, "passport.failed", version, code=problem.code, message=str(problem)[:2000])


async def _tell(tx: Desk, type_: str, version: Any, **data: Any) -> None:
    about = {"passport": version["passport_id"], "version": version["version_id"], "number": version["number"]}
    await tell(tx, type_, **about, **data)


async def _outcome(ctx: Context, version_id: UUID) -> Done:
    """How the job of one version ends that this attempt did not move on: it failed, or an earlier attempt did it."""
    async with ctx.transaction() as tx:
        version = await get_version(tx, version_id)
        if version["state"] != "failed":
            return await tx.complete(Done(done=0))
    problem = json.loads(version["problem"])
    raise Fail(f"{problem['code']}: {problem['message']}")


def ended(problem: PassportError) -> Exception:
    """An error of the data ends the job for good, with its code first; one that may pass is tried again."""
    return problem if problem.retryable else Fail(f"{problem.code}: {problem}")
