"""``http.request``: one request to a host that the tenant names; the answer is the result."""

import base64
import json
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leasehold.errors import BadInput, BadResponse, NotFound
from leasehold.features.http_request.response import is_passing, snapshot
from leasehold.fetch.response import Fetched, retry_after
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Fail, Retry
from leasehold.redact import redact

#: No receiver makes us wait longer than this.
LONGEST_WAIT_S = 24 * 3600.0
_SAFE = ("GET", "HEAD", "OPTIONS")
_STRICT = ConfigDict(extra="forbid")

app = Leasehold()


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Auth:
    """What the named secret is sent as: a bearer token, a password of ``username``, or a ``header`` of its own."""

    type: Literal["bearer", "basic", "header"]
    secret: str
    username: str | None = None
    header: str | None = None

    def __post_init__(self) -> None:
        needs = {"basic": "username", "header": "header"}.get(self.type)
        if needs and getattr(self, needs) is None:
            raise ValueError(f"auth of type {self.type} needs {needs}")

    def headers(self, secret: str) -> dict[str, str]:
        match self.type:
            case "bearer":
                return {"Authorization": f"Bearer {secret}"}
            case "basic":
                return {"Authorization": f"Basic {base64.b64encode(f'{self.username}:{secret}'.encode()).decode()}"}
        return {str(self.header): secret}


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Request:
    """``expect`` are the statuses that count as success, by default every 2xx."""

    url: str
    method: Annotated[str, Field(pattern=r"^[A-Za-z]{1,20}$")] = "GET"
    headers: dict[str, str] = Field(default_factory=dict)
    json: Any = None
    body: str | None = None
    auth: Auth | None = None
    expect: list[Annotated[int, Field(ge=100, le=599)]] | None = None
    timeout: Annotated[float, Field(gt=0, le=300)] = 30.0
    max_bytes: Annotated[int, Field(ge=0, le=10_000_000)] = 1_000_000
    result: Literal["json", "text", "none"] = "text"

    def __post_init__(self) -> None:
        if self.json is not None and self.body is not None:
            raise ValueError("a request has json or body, not both")

    def expects(self, status: int) -> bool:
        return status in self.expect if self.expect is not None else 200 <= status < 300

    def content(self) -> bytes:
        return (self.body or "").encode() if self.json is None else json.dumps(self.json, ensure_ascii=False).encode()


@app.handler("http.request")
async def request(ctx: Context, order: Request) -> dict[str, Any]:
    """Send a request; status, headers and body of the answer, redacted, are the result."""
    headers = await _headers(ctx, order)
    fetched = await _sent(ctx, order, headers)
    if not order.expects(fetched.status):
        await _refuse(ctx, order, fetched)
    return snapshot(fetched, secrets=ctx.secrets) | {"body": _body(ctx, order, fetched)}


async def _headers(ctx: Context, order: Request) -> dict[str, str]:
    """What the order says wins over what follows from it."""
    implied: dict[str, str] = {}
    if order.json is not None:
        implied["Content-Type"] = "application/json"
    if order.method.upper() not in _SAFE:
        # The same for every attempt: a receiver that knows the header does the work once.
        implied["Idempotency-Key"] = str(ctx.job_id)
    given = {name.lower() for name in order.headers}
    headers = {name: value for name, value in implied.items() if name.lower() not in given} | order.headers
    return headers | await _auth(ctx, order.auth) if order.auth else headers


async def _auth(ctx: Context, auth: Auth) -> dict[str, str]:
    try:
        return auth.headers(await ctx.secret(auth.secret))
    except NotFound as problem:
        raise Fail(str(problem)) from None


async def _sent(ctx: Context, order: Request, headers: dict[str, str]) -> Fetched:
    try:
        return await ctx.fetch(
            order.url,
            method=order.method,
            headers=headers,
            body=order.content(),
            timeout=order.timeout,
            max_bytes=order.max_bytes,
        )
    except BadInput as problem:
        raise Fail(str(problem)) from None


async def _refuse(ctx: Context, order: Request, fetched: Fetched) -> None:
    """End the attempt with what came back; the whole of it is in the job's log."""
    told = snapshot(fetched, secrets=ctx.secrets)
    text = redact(fetched.text, secrets=ctx.secrets)
    await ctx.log.warning(f"answered {fetched.status}", **told, body=text[:8000])
    reason = f"{order.method.upper()} {fetched.url} answered {fetched.status}: {text[:500]}"
    if is_passing(fetched.status):
        wait = retry_after(fetched)
        if wait is None:
            raise Retry(reason)
        raise Retry(reason, after=min(wait, LONGEST_WAIT_S), gate=True)
    raise Fail(reason)


def _body(ctx: Context, order: Request, fetched: Fetched) -> Any:
    match order.result:
        case "none":
            return None
        case "text":
            return redact(fetched.text.replace("\0", "\ufffd"), secrets=ctx.secrets)
    try:
        return redact(fetched.json(), secrets=ctx.secrets)
    except BadResponse as problem:
        raise Fail(str(problem)) from None
