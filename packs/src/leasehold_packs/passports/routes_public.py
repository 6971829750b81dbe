"""What anybody may see: the page behind the QR code, its bundle, the keys of issuers and their logs.

No tenant is set here. SQL functions decide which tiers a reader gets, so that nothing else ever reaches this program.
"""

import asyncio
import json
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query

from leasehold import web
from leasehold.errors import NotFound
from leasehold_packs.passports import links, store_log
from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.bundle import Bundle, Signed, disclosed
from leasehold_packs.passports.bundle_zip import PARTS, zipped
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.documents import read_json
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.keys import PublicKey, did_document, jwks
from leasehold_packs.passports.model import ShownVersion, VersionContent
from leasehold_packs.passports.page_public import POLICY, Shown, page
from leasehold_packs.passports.qr import Symbol, gtin14, identifiers, integrity_symbol, integrity_text, label, symbol
from leasehold_packs.passports.routes_errors import passport_routes
from leasehold_packs.passports.schemas import LogEntries
from leasehold_packs.passports.store import token_hash
from leasehold_packs.passports.store_keys import published_keys
from leasehold_packs.passports.translations import LANGUAGES, preferred
from leasehold_packs.passports.verify import verify
from leasehold_packs.rows.values import value_of

routes = passport_routes()
Invitation = Annotated[str | None, Query(max_length=100, description="The token of a link that shows more.")]
Version = Annotated[UUID | None, Query(description="An older version; without it, the active one.")]
LinkType = Annotated[
    str | None,
    Query(
        alias="linkType", max_length=200, description="GS1: linkset, or a link type such as gs1:dpp to be led there."
    ),
]
_ANYBODY = web.anybody()
_JSON_LD = "application/ld+json"
_CONTEXT = {"@vocab": "https://schema.org/", "passport": "urn:leasehold:passports:"}


async def is_public_host(tx: web.ReadOnlyTransaction, host: str) -> bool:
    """Whether a tenant has proven this host."""
    return bool(await tx.fetchval("select leasehold_passports.is_public_host($1)", host))


# -- passports ------------------------------------------------------------------------------------------------------


@routes.get(
    "/p/{passport_id}",
    operation_id="passports.page",
    summary="The page of a passport; JSON-LD by Accept",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show(
    request: web.Request,
    stranger: web.Stranger,
    passport_id: UUID,
    invitation: Invitation = None,
    version: Version = None,
    link_type: LinkType = None,
) -> web.Response:
    async with stranger.transaction() as tx:
        found, keys = await _shown(request, tx, passport_id, invitation, version)
    return await _answer(request, found, keys, link_type)


@routes.get(
    "/p/{passport_id}/{part}",
    operation_id="passports.page.part",
    summary="json, bundle.zip, qr.svg, qr.png or label.svg",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_part(
    request: web.Request,
    stranger: web.Stranger,
    passport_id: UUID,
    part: Literal["json", "bundle.zip", "qr.svg", "qr.png", "label.svg"],
    invitation: Invitation = None,
    version: Version = None,
) -> web.Response:
    async with stranger.transaction() as tx:
        found, keys = await _shown(request, tx, passport_id, invitation, version)
    if part == "json":
        return _json_ld(found)
    if part == "bundle.zip":
        return web.Response(await asyncio.to_thread(zipped, _bundle(found), keys), media_type="application/zip")
    if part == "label.svg":
        return web.Response(
            await asyncio.to_thread(label, found.link, identifiers(found.passport_id, found.gtin, found.serial)),
            media_type="image/svg+xml",
        )
    return image(await asyncio.to_thread(symbol, found.link), part)


@routes.get(
    "/01/{gtin}",
    operation_id="passports.page.gtin",
    summary="The page of a model, by GS1 Digital Link",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_model(
    request: web.Request,
    stranger: web.Stranger,
    gtin: str,
    invitation: Invitation = None,
    version: Version = None,
    link_type: LinkType = None,
) -> web.Response:
    return await show_item(request, stranger, gtin, "", invitation, version, link_type)


@routes.get(
    "/01/{gtin}/21/{serial:path}",
    operation_id="passports.page.serial",
    summary="The page of a battery, by GS1 Digital Link",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_item(
    request: web.Request,
    stranger: web.Stranger,
    gtin: str,
    serial: str,
    invitation: Invitation = None,
    version: Version = None,
    link_type: LinkType = None,
) -> web.Response:
    """The host that was asked must be the issuer's: a number alone could be claimed by others."""
    try:
        full = gtin14(gtin)
    except PassportError:
        raise _nothing() from None
    host = request.headers.get("host", "").lower()
    async with stranger.transaction() as tx:
        passport_id = await tx.fetchval("select leasehold_passports.find_by_gtin($1, $2, $3)", host, full, serial)
        if passport_id is None:
            raise _nothing()
        found, keys = await _shown(request, tx, passport_id, invitation, version)
    return await _answer(request, found, keys, link_type)


@routes.get(
    "/.well-known/gs1resolver",
    operation_id="passports.resolver",
    summary="Which GS1 Digital Links are answered here",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def describe_resolver(request: web.Request) -> web.Response:
    return _canonical_json(links.description(f"{request.url.scheme}://{request.url.netloc}"))


async def _shown(
    request: web.Request, tx: web.ReadOnlyTransaction, passport_id: UUID, invitation: str | None, version: UUID | None
) -> tuple[ShownVersion, list[PublicKey]]:
    """What the reader sees. At a public host only its own tenant's: another's would seem to be the host's."""
    host = web.public_host(request)
    if not await tx.fetchval("select leasehold_passports.is_shown_at($1, $2)", passport_id, host):
        raise _nothing()
    token = None if invitation is None else token_hash(invitation)
    row = await tx.fetchrow("select * from leasehold_passports.shown($1, $2, $3)", passport_id, version, token)
    if row is None:
        raise _nothing()
    found = value_of(ShownVersion, row, "fields", log=await store_log.entry_of(tx, row["version_id"]))
    if found.reader is None:
        raise web.Problem("forbidden", "this link does not hold any more", hint="ask who gave it to you for a new one")
    return found, await published_keys(tx, slug=found.issuer_slug)


def _nothing() -> NotFound:
    return NotFound("there is no such passport, or it is not published")


def _bundle(found: ShownVersion) -> Bundle:
    tiers = {Tier(tier): fields for tier, fields in found.fields.items()}
    signed = Signed(receipt=found.receipt, proof=found.proof.encode(), log=found.log)
    return disclosed(tiers, signed, payload_salt=None)


async def _answer(
    request: web.Request, found: ShownVersion, keys: list[PublicKey], link_type: str | None
) -> web.Response:
    accept = request.headers.get("accept", "")
    if link_type in ("linkset", "all") or (link_type is None and links.MEDIA_TYPE in accept):
        return _linkset(request, found)
    if link_type is not None:
        part = links.target_of(link_type, accept)
        if part is None:
            raise NotFound(f"there is no link of type {link_type[:100]} here", hint="?linkType=linkset lists them")
        return web.Response(None, 307, {"Location": f"/p/{found.passport_id}{part}{_query(request)}"})
    if "text/html" not in accept and ("json" in accept):
        return _json_ld(found)
    return await asyncio.to_thread(_html, request, found, keys)


def _linkset(request: web.Request, found: ShownVersion) -> web.Response:
    page_at = f"{request.url.scheme}://{request.url.netloc}/p/{found.passport_id}"
    value = links.linkset(found.link, page_at, _query(request), sorted(LANGUAGES))
    context = f'<{links.CONTEXT}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"'
    return web.Response(canonical(value), headers={"Link": context, "Vary": "Accept"}, media_type=links.MEDIA_TYPE)


def _query(request: web.Request) -> str:
    """Who asks with an invitation, or for an older version, goes on to do so."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name in ("invitation", "version")]
    return f"?{urlencode(kept)}" if kept else ""


def _html(request: web.Request, found: ShownVersion, keys: list[PublicKey]) -> web.Response:
    made = _bundle(found)
    shown = Shown(
        passport=found,
        payload=read_json(made.payload),
        receipt=read_json(made.receipt),
        verdict=verify(made, keys),
        query=_query(request),
        log=read_json(made.log),
        words=preferred(request.headers.get("accept-language", "")),
    )
    headers = {
        "Content-Security-Policy": POLICY,
        "Content-Language": shown.words.language,
        "Vary": "Accept, Accept-Language",
        "Link": f'</p/{found.passport_id}/json>; rel="alternate"',
    }
    return web.Response(page(shown), headers=headers, media_type="text/html")


def _json_ld(found: ShownVersion) -> web.Response:
    made = _bundle(found)
    value = {
        "@context": _CONTEXT,
        "@type": "Product",
        "@id": found.link,
        "name": found.name,
        "category": found.category,
        **({"gtin14": found.gtin} if found.gtin else {}),
        **({"serialNumber": found.serial} if found.serial else {}),
        "manufacturer": {"@type": "Organization", "@id": found.issuer, "name": found.issuer_name},
        "passport:state": found.state,
        "passport:version": str(found.version_id),
        "passport:reader": found.reader,
        "passport:bundle": {name: json.loads(getattr(made, name)) for name in PARTS},
    }
    return web.Response(canonical(value), headers={"Vary": "Accept"}, media_type=_JSON_LD)


def image(made: Symbol, name: str) -> web.Response:
    if name == "qr.svg":
        return web.Response(made.svg, media_type="image/svg+xml")
    return web.Response(made.png, media_type="image/png")


def integrity_png(version: VersionContent) -> bytes:
    """The symbol of BPC-QR-1, for those who print it."""
    receipt = read_json(version.signed_receipt)
    text = integrity_text(
        version=version.version_id,
        payload_hash=receipt["payload_hash"],
        root=receipt["payload_root"],
        receipt_hash=version.receipt_hash or "",
    )
    return integrity_symbol(text).png


# -- keys and logs --------------------------------------------------------------------------------------------------


@routes.get(
    "/v1/passports/issuers/{slug}/{document}",
    operation_id="passports.issuers.keys",
    summary="The keys of an issuer: did.json or jwks.json",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_keys(stranger: web.Stranger, slug: str, document: Literal["did.json", "jwks.json"]) -> web.Response:
    async with stranger.transaction() as tx:
        keys = await published_keys(tx, slug=slug)
    if not keys:
        raise NotFound("there is no such issuer, or it has no key")
    if document == "jwks.json":
        return web.Response(canonical(jwks(keys)), media_type="application/jwk-set+json")
    return web.Response(canonical(did_document(keys[0].issuer, keys)), media_type="application/did+json")


Size = Annotated[int | None, Query(ge=1, lt=2**63, description="Of a signed head; without it, the newest.")]


@routes.get(
    "/v1/passports/issuers/{slug}/log/head",
    operation_id="passports.log.head",
    summary="The newest signed head of an issuer's log, or the one of a size",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def log_head(stranger: web.Stranger, slug: str, size: Size = None) -> web.Response:
    async with stranger.transaction() as tx:
        return _canonical_json(await store_log.head_of(tx, slug, size))


@routes.get(
    "/v1/passports/issuers/{slug}/log/entries",
    operation_id="passports.log.entries",
    summary="The leaves of an issuer's log, for those who watch it",
    response_model=LogEntries,
    openapi_extra=_ANYBODY,
)
async def log_entries(
    stranger: web.Stranger, slug: str, start: Annotated[int, Query(ge=0, lt=2**63)] = 0
) -> web.Response:
    async with stranger.transaction() as tx:
        found = await store_log.entries(tx, slug, start)
    return web.answer(LogEntries(start=start, leaves=[leaf.hex() for leaf in found]))


@routes.get(
    "/v1/passports/issuers/{slug}/log/proof",
    operation_id="passports.log.proof",
    summary="That a leaf is in an issuer's log",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def log_proof(
    stranger: web.Stranger, slug: str, leaf: Annotated[str, Query(pattern="^[0-9a-f]{64}$")], size: Size = None
) -> web.Response:
    async with stranger.transaction() as tx:
        return _canonical_json(await store_log.entry_at(tx, slug, bytes.fromhex(leaf), size))


@routes.get(
    "/v1/passports/issuers/{slug}/log/consistency",
    operation_id="passports.log.consistency",
    summary="That a newer head of an issuer's log has all that an older one had",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def log_consistency(
    stranger: web.Stranger, slug: str, first: Annotated[int, Query(ge=1, lt=2**63)], second: Size = None
) -> web.Response:
    async with stranger.transaction() as tx:
        return _canonical_json(await store_log.consistency(tx, slug, first, second))


def _canonical_json(value: Any) -> web.Response:
    return web.Response(canonical(value), media_type="application/json")
