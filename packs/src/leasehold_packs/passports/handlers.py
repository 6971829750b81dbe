"""The way of a document into a passport: ``parse`` and ``check_completeness``; then ``compile``, ``sign`` and ``qr``,
each asks for the next. ``expire_documents`` comes by the clock; ``prove_host`` comes before all of them.

Whatever a step writes is committed with its end and with the job of the next step. A worker that dies in between leaves
nothing behind, and the next attempt makes the same bytes: all that they depend on was fixed when they were asked for.

``sign`` and ``tree_head`` have a queue of their own, and nothing else here opens a private key: run a worker with
LEASEHOLD_SECRET_KEYS for the queue ``passports-sign``, and workers without it for all others.
"""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from typing import TypedDict
from uuid import UUID

from leasehold import Context, Fail, Leasehold, Transaction
from leasehold.errors import Conflict, NotFound
from leasehold_packs.passports import service, store_facts, store_keys
from leasehold_packs.passports.attributes import completeness
from leasehold_packs.passports.compile import Compiled, Issue, compiled
from leasehold_packs.passports.documents import CSV, XLSX, Reading, json_facts, read_json, sheet_facts
from leasehold_packs.passports.errors import Code, Finding, PassportError
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.model import Document, Passport, SigningKey, Version, VersionContent
from leasehold_packs.passports.model_jobs import (
    QUEUE,
    Complete,
    DocumentOrder,
    Done,
    Expired,
    HostProven,
    PassportOrder,
    Read,
    VersionsOrder,
)
from leasehold_packs.passports.proof import Proof, options, sign
from leasehold_packs.passports.qr import checked_fit, digital_link, plain_link
from leasehold_packs.passports.rules import Package
from leasehold_packs.passports.schema_sandbox import schema_findings
from leasehold_packs.passports.store import emit, emit_all, get_passport, get_passports
from leasehold_packs.passports.store_facts import (
    close_document,
    current_facts,
    document_bytes,
    get_document,
    put_completeness,
    put_facts,
    refuse_document,
)
from leasehold_packs.passports.store_keys import get_issuer, keys_by_id, keys_to_sign, signs_now
from leasehold_packs.passports.store_log import sign_head
from leasehold_packs.passports.store_snapshots import facts_of, published_package
from leasehold_packs.passports.store_versions import (
    get_version,
    issue_of,
    lock_versions,
    put_compiled,
    put_links,
    put_proofs,
)

SIGN_QUEUE = "passports-sign"
_EXPIRED_AT_ONCE = 100
_PROOF_BYTES = 10_000


class _Retry(TypedDict):
    attempts: int
    retry: tuple[float, float]


_RETRY: _Retry = {"attempts": 5, "retry": (2.0, 1024.0)}
#: The facts of a version, its rules or why there are none, and what it is apart from its content.
_Input = tuple[list[Fact], Package | PassportError, Issue]

app = Leasehold()


# -- the issuer's host ----------------------------------------------------------------------------------------------


@app.handler("passports.prove_host", queue=QUEUE, priority=1, timeout=60, attempts=3, retry=(2.0, 60.0))
async def prove_host(ctx: Context) -> HostProven:
    """Read what the host publishes. No redirect is followed: what another host says proves nothing about this one."""
    async with ctx.transaction() as tx:
        issuer = await get_issuer(tx)
    answer = await ctx.fetch(issuer.proof_url, max_redirects=0, max_bytes=_PROOF_BYTES)
    published = answer.text.split() if answer.status == 200 else []
    try:
        async with ctx.transaction() as tx:
            proven_at = await store_keys.prove_host(tx, published)
            return await tx.complete(HostProven(host=issuer.host, proven_at=proven_at))
    except Conflict as problem:
        raise Fail(f"{issuer.proof_url} answers {answer.status}: {problem}") from None


# -- documents ------------------------------------------------------------------------------------------------------


@app.handler("passports.parse", queue=QUEUE, priority=2, timeout=120, **_RETRY)
async def parse(ctx: Context, order: DocumentOrder) -> Read:
    """Read the facts of a document. A cell or value that is wrong becomes a fact in error; the others are read."""
    async with ctx.transaction() as tx:
        document = await get_document(tx, order.document_version_id)
        raw = await document_bytes(tx, order.document_version_id)
        schema = await document_bytes(tx, document.schema_id) if document.schema_id else None
    try:
        reading, findings = await asyncio.to_thread(_read, document, raw, schema)
    except PassportError as problem:
        async with ctx.transaction() as tx:
            await refuse_document(tx, order.document_version_id, problem)
        raise ended(problem) from None
    good, wrong = _sorted_out(reading, findings)
    async with ctx.transaction() as tx:
        await put_facts(tx, document, good, wrong)
        counts = {"facts": len(good), "errors": len(wrong)}
        await close_document(tx, order.document_version_id, encoding=reading.encoding, **counts)
        await tx.enqueue("passports.check_completeness", PassportOrder(passport_id=document.passport_id))
        return await tx.complete(Read(facts=len(good), errors=len(wrong)))


def _read(document: Document, raw: bytes, schema: bytes | None) -> tuple[Reading, list[Finding]]:
    if document.media_type in (CSV, XLSX):
        return sheet_facts(raw, media_type=document.media_type, under=document.under), []
    reading = json_facts(raw, under=document.under)
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


@app.handler("passports.check_completeness", queue=QUEUE, priority=2, timeout=120, **_RETRY)
async def check_completeness(ctx: Context, order: PassportOrder) -> Complete:
    """Note how much of what its category requires a passport has; lists show it."""
    async with ctx.transaction() as tx:
        category = (await get_passport(tx, order.passport_id)).category
        facts = await current_facts(tx, order.passport_id)
        there = {row.pointer or "": row.as_fact().value for row in facts if row.state == "ok"}
        found = await asyncio.to_thread(completeness, category, there)
        errors = sum(row.state == "error" for row in facts)
        counts = {"share": found.share, "missing": len(found.missing), "errors": errors}
        await put_completeness(tx, order.passport_id, **counts)
        return await tx.complete(Complete(**counts))


@app.handler("passports.expire_documents", queue=QUEUE, priority=3, timeout=600, **_RETRY)
async def expire_documents(ctx: Context) -> Expired:
    """Mark the documents whose time is over, and tell of each. No passport is made of their facts any more."""
    expired = 0
    while True:
        async with ctx.transaction() as tx:
            documents = await store_facts.expire_documents(tx, limit=_EXPIRED_AT_ONCE)
            for each in documents:
                await emit(
                    tx, "passport.document_expired", passport=each.passport_id, version=None,
                    document_version_id=str(each.document_version_id), name=each.name,
                    valid_until=each.valid_until.isoformat(),
                )  # fmt: skip
        expired += len(documents)
        if len(documents) < _EXPIRED_AT_ONCE:
            return Expired(documents=expired)


# -- versions -------------------------------------------------------------------------------------------------------


@app.handler("passports.compile", queue=QUEUE, priority=1, timeout=120, **_RETRY)
async def compile_(ctx: Context, order: VersionsOrder) -> Done:
    """Make payload and receipt of each version, or note what is wrong with it."""
    async with ctx.transaction() as tx:
        versions = await lock_versions(tx, order.versions, "requested")
        results = await asyncio.to_thread(_compiled, await _inputs(tx, versions))
        made = {v.version_id: r for v, r in zip(versions, results, strict=True) if isinstance(r, Compiled)}
        for version, result in zip(versions, results, strict=True):
            if isinstance(result, PassportError):
                await service.fail(tx, version, result)
        if made:
            await put_compiled(tx, made)
            await tx.enqueue("passports.sign", VersionsOrder(versions=list(made)))
        if made or len(order.versions) > 1:
            return await tx.complete(Done(done=len(made), failed=len(versions) - len(made)))
    return await _outcome(ctx, order.versions[0])


async def _inputs(tx: Transaction, versions: Sequence[VersionContent]) -> list[_Input]:
    """Facts, rules and issue of each; an error instead of rules that are not published any more."""
    facts = await facts_of(tx, [version.snapshot_id for version in versions])
    keys = await keys_by_id(tx, [version.key_id for version in versions])
    packages: dict[UUID, Package | PassportError] = {}
    for package_id in {version.package_id for version in versions}:
        try:
            packages[package_id] = await published_package(tx, package_id)
        except PassportError as problem:
            packages[package_id] = problem
    return [(facts[v.snapshot_id], packages[v.package_id], issue_of(v, keys[v.key_id].issuer)) for v in versions]


def _compiled(inputs: Sequence[_Input]) -> list[Compiled | PassportError]:
    made: list[Compiled | PassportError] = []
    for facts, package, issue in inputs:
        try:
            made.append(package if isinstance(package, PassportError) else compiled(Snapshot(facts), package, issue))
        except PassportError as problem:
            made.append(problem)
    return made


@app.handler("passports.sign", queue=SIGN_QUEUE, priority=1, timeout=120, **_RETRY)
async def sign_(ctx: Context, order: VersionsOrder) -> Done:
    """Sign the receipts, log them, and sign the log. Whoever comes after a crash makes the same proofs."""
    async with ctx.transaction() as tx:
        keys = await keys_to_sign(tx, order.versions)
    # Outside: a transaction holds a connection, and each secret asks for one more.
    seeds = {key_id: await _seed(ctx, key) for key_id, key in keys.items()}
    async with ctx.transaction() as tx:
        versions = await lock_versions(tx, order.versions, "compiled")
        proofs = {}
        for version in versions:
            try:
                proofs[version.version_id] = _signed(version, keys[version.key_id], seeds[version.key_id])
            except PassportError as problem:
                await service.fail(tx, version, problem)
        if proofs:
            signed = [version for version in versions if version.version_id in proofs]
            await put_proofs(tx, proofs)
            await emit_all(tx, "passport.signed", [_about_signing(version) for version in signed])
            await _put_head(tx, keys, seeds)
            await tx.enqueue("passports.qr", VersionsOrder(versions=list(proofs)))
        if proofs or len(order.versions) > 1:
            return await tx.complete(Done(done=len(proofs), failed=len(versions) - len(proofs)))
    return await _outcome(ctx, order.versions[0])


def _signed(version: VersionContent, key: SigningKey, seed: bytes | None) -> Proof:
    """Ed25519 needs no random numbers, and the time is that of the version: signing again gives the same."""
    about = options(method=key.method, created=version.issued_at)
    return sign(read_json(version.signed_receipt), about, seed=seed)


def _about_signing(version: Version) -> tuple[UUID, UUID, Mapping[str, object]]:
    about = {"number": version.number, "receipt_hash": version.receipt_hash, "key_id": version.key_id}
    return version.passport_id, version.version_id, about


@app.handler("passports.tree_head", queue=SIGN_QUEUE, priority=1, timeout=120, **_RETRY)
async def tree_head(ctx: Context) -> Done:
    """Sign the head of the log if it has grown: signings do so themselves, unless the key was changed meanwhile."""
    async with ctx.transaction() as tx:
        keys = await keys_to_sign(tx, [])
    seeds = {key_id: await _seed(ctx, key) for key_id, key in keys.items()}
    async with ctx.transaction() as tx:
        for key_id, key in keys.items():
            seed = seeds[key_id]
            if seed is not None and await signs_now(tx, key_id):
                return await tx.complete(Done(done=int(await sign_head(tx, key, seed) is not None)))
    raise ended(PassportError(Code.SIGNING_KEY_MISSING, "there is no key to sign with", hint="make one for the issuer"))


async def _put_head(tx: Transaction, keys: Mapping[str, SigningKey], seeds: Mapping[str, bytes | None]) -> None:
    """The key that signs now signs the head. One that was made since we looked is not open here: a job does it."""
    for key_id, key in keys.items():
        seed = seeds[key_id]
        if seed is not None and key.is_current and await signs_now(tx, key_id):
            await sign_head(tx, key, seed)
            return
    await tx.enqueue("passports.tree_head")


async def _seed(ctx: Context, key: SigningKey) -> bytes | None:
    """The private key, unless it is revoked or was removed."""
    if key.revoked_at is not None:
        return None
    try:
        return base64.b64decode(await ctx.secret(key.secret))
    except NotFound:
        return None


@app.handler("passports.qr", queue=QUEUE, priority=2, timeout=120, **_RETRY)
async def qr(ctx: Context, order: VersionsOrder) -> Done:
    """Fix what the QR codes say, and publish the versions that shall be active at once."""
    async with ctx.transaction() as tx:
        host = (await get_issuer(tx)).host
        versions = await lock_versions(tx, order.versions, "signed")
        passports = await get_passports(tx, [version.passport_id for version in versions])
        links = {v.version_id: link_of(host, passports[v.passport_id]) for v in versions}
        await put_links(tx, links)
        await service.activate(tx, [version for version in versions if version.activate])
        return await tx.complete(Done(done=len(versions)))


def link_of(host: str, passport: Passport) -> str:
    """A GS1 Digital Link for what has a GTIN, else the plain address. It must fit into a QR code: refused here, not
    at the printer."""
    if passport.gtin:
        return checked_fit(digital_link(host, gtin=passport.gtin, serial=passport.serial or None))
    return checked_fit(plain_link(host, str(passport.passport_id)))


async def _outcome(ctx: Context, version_id: UUID) -> Done:
    """How the job of one version ends that this attempt did not move on: it failed, or an earlier attempt did it."""
    async with ctx.transaction() as tx:
        version = await get_version(tx, version_id)
        if version.state != "failed":
            return await tx.complete(Done(done=0))
    problem = version.problem or {}
    raise Fail(f"{problem.get('code')}: {problem.get('message')}")


def ended(problem: PassportError) -> Exception:
    """An error of the data ends the job for good, with its code first; one that may pass is tried again."""
    return problem if problem.retryable else Fail(f"{problem.code}: {problem}")
