"""The check of bundles, for anybody: parts as JSON, a file, and a page that takes one. Nothing of them is kept."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal
from uuid import UUID

from leasehold import web
from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.bundle_zip import PARTS, unzipped
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.documents import read_json
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.form import file_of
from leasehold_packs.passports.keys import PublicKey, keys_of
from leasehold_packs.passports.page_check import check_page, nothing_html, verdict_html
from leasehold_packs.passports.page_public import POLICY
from leasehold_packs.passports.routes_errors import body_of, passport_routes
from leasehold_packs.passports.schemas import CheckResult, VerdictFinding, VerifyRequest
from leasehold_packs.passports.store_keys import published_keys
from leasehold_packs.passports.translations import Texts, preferred
from leasehold_packs.passports.verify import Verdict, verify

routes = passport_routes()
_ANYBODY = web.anybody()
_FORM = "multipart/form-data"
#: As of every body of a stranger. A bundle is packed; what it unpacks to is bounded as well.
_MOST_BYTES = 256 * 2**10


@routes.post(
    "/v1/passports/verify",
    operation_id="passports.verify",
    summary="Check a bundle",
    response_model=CheckResult,
    openapi_extra=_ANYBODY,
)
async def check(request: web.Request, stranger: web.Stranger, body: VerifyRequest) -> web.Response:
    made = await web.off_loop(request, _bundle, body)
    known, state = await _known(stranger, body.receipt)
    keys = known or (keys_of(body.did) if body.did is not None else [])
    verdict = await web.off_loop(request, verify, made, keys)
    return web.answer(_result(verdict, state))


@routes.post(
    "/v1/passports/verify/file",
    operation_id="passports.verify.file",
    summary="Check the file of a bundle, as it is or from a form; a page for those who ask for HTML",
    response_model=CheckResult,
    openapi_extra={
        **_ANYBODY,
        "requestBody": {
            "required": True,
            "content": {
                each: {"schema": {"type": "string", "format": "binary"}} for each in ("application/zip", _FORM)
            },
        },
    },
)
async def check_file(request: web.Request, stranger: web.Stranger) -> web.Response:
    raw, content_type = await body_of(request, _MOST_BYTES), request.headers.get("content-type", "")
    words = preferred(request.headers.get("accept-language", ""))
    wants_page = "text/html" in request.headers.get("accept", "")
    try:
        if content_type.startswith(_FORM):
            raw = file_of(raw, content_type, name="bundle")
        made, enclosed = await web.beside(request, unzipped, raw, check=web.refuse_many_values)
    except PassportError:
        if wants_page:
            return _page(words, nothing_html(words))
        raise
    receipt = _object(made.receipt)
    known, state = await _known(stranger, receipt)
    verdict = await web.beside(request, verify, made, known or enclosed)
    if not wants_page:
        return web.answer(_result(verdict, state))
    issuer = str(receipt.get("issuer"))
    return _page(words, verdict_html(words, verdict, issuer=issuer, state=state, own_keys=not known))


@routes.get(
    "/verify",
    operation_id="passports.verify.page",
    summary="A page that checks the file of a bundle",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_page(request: web.Request) -> web.Response:
    return _page(preferred(request.headers.get("accept-language", "")))


@routes.get(
    "/verify/{asset}",
    operation_id="passports.verify.asset",
    summary="What the public pages load",
    response_class=web.Response,
    openapi_extra=_ANYBODY,
)
async def show_asset(asset: Literal["check.js", "verify.js", "passport.js", "icon.svg"]) -> web.Response:
    raw = (files("leasehold_packs.passports") / "assets" / asset).read_bytes()
    media_type = "image/svg+xml" if asset.endswith(".svg") else "text/javascript"
    return web.Response(raw, headers={"Cache-Control": "public, max-age=300"}, media_type=media_type)


def _bundle(body: VerifyRequest) -> Bundle:
    return Bundle(**{name: canonical(getattr(body, name)) for name in PARTS})


async def _known(stranger: web.Stranger, receipt: Mapping[str, Any]) -> tuple[list[PublicKey], str | None]:
    """The keys of the issuer and the state of the version, if they are of this server."""
    async with stranger.transaction() as tx:
        keys = await published_keys(tx, did=str(receipt.get("issuer")))
        state = await tx.fetchval("select leasehold_passports.state_of($1)", _uuid(receipt.get("version")))
    return keys, state


def _result(verdict: Verdict, state: str | None) -> CheckResult:
    findings = [VerdictFinding(at=each.at, code=each.code, message=each.message) for each in verdict.findings]
    return CheckResult(ok=verdict.ok, shown=sorted(verdict.shown), state=state, findings=findings)


def _page(words: Texts, verdict: str = "") -> web.Response:
    headers = {
        "Content-Security-Policy": POLICY,
        "Content-Language": words.language,
        "Vary": "Accept, Accept-Language",
    }
    return web.Response(check_page(words, verdict), headers=headers, media_type="text/html")


def _object(raw: bytes) -> Mapping[str, Any]:
    """What a stranger calls a receipt; nothing if it is none, which the check then says."""
    try:
        found = read_json(raw)
    except PassportError:
        return {}
    return found if isinstance(found, dict) else {}


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(value)
    except (ValueError, TypeError, AttributeError):
        return None
