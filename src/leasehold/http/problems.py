"""What goes wrong, as ``application/problem+json`` (RFC 9457): every error of this API has this one form."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from leasehold.errors import (
    BadInput,
    BadSetting,
    Changed,
    Conflict,
    FetchRefused,
    LeaseholdError,
    LeaseLost,
    NotFound,
    OtherRequest,
    QuotaExceeded,
    TooLarge,
    Unreachable,
    WorkerLost,
)
from leasehold.log import emit

MEDIA_TYPE = "application/problem+json"

#: Every code with its status and what it means; the code is the stable part.
CODES: dict[str, tuple[int, str]] = {
    "bad_request": (400, "the request cannot be read as it stands"),
    "bad_json": (400, "the body is not JSON, nested too deeply, or says a name twice"),
    "bad_parameter": (400, "a parameter or header is unknown, given twice or not of its form"),
    "unauthenticated": (401, "there is no key or session, or it is not valid"),
    "forbidden": (403, "the key or session is valid, but not for this"),
    "forged": (403, "a cookie signs in only with the page's own Origin and the session's CSRF token"),
    "not_found": (404, "there is no such thing for this key"),
    "method_not_allowed": (405, "this address has other methods"),
    "request_timeout": (408, "the headers or the body did not come in time"),
    "conflict": (409, "the thing is in another state than the request needs"),
    "no_result": (409, "the job has not succeeded, so it has no result"),
    "lease_lost": (409, "the lease was taken, or never was this worker's: stop the attempt, nothing was written"),
    "worker_lost": (409, "the worker was silent too long, or is not this key's: stop its attempts and register anew"),
    "changed": (412, "the thing is no longer what the If-Match names"),
    "too_large": (413, "the body is larger than allowed"),
    "url_too_long": (414, "the URL is longer than allowed"),
    "misdirected": (421, "the Host of the request is none of this server's names"),
    "unsupported_media_type": (415, "the body is not application/json"),
    "invalid": (422, "the body can be read, but says something that cannot be"),
    "key_reused": (422, "the Idempotency-Key was used for another request"),
    "rate_limited": (429, "too many requests; Retry-After says when to come back"),
    "quota_exceeded": (
        429,
        "the tenant has as many jobs waiting, workers, calls that wait or other things as it may have",
    ),
    "too_many_streams": (429, "the tenant has too many streams and waiting requests open"),
    "headers_too_large": (431, "the headers are too many, or too large together"),
    "internal": (500, "a fault of ours; the request id finds it in the log"),
    "busy": (503, "other large requests are in work; Retry-After says when to come back"),
    "unavailable": (503, "the database does not answer now, or this server lacks a setting that this needs"),
}


class Problem(HTTPException):
    """An answer that is a refusal."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        retry_after: int | None = None,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(CODES[code][0], detail, dict(headers or {}))
        self.code = code
        self.hint = hint
        self.retry_after = retry_after
        self.errors = errors


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    pointer: str
    detail: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDetails:
    """RFC 9457. ``code`` is stable; the words are for people and may change."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str
    hint: str | None = None
    retry_after: int | None = None
    errors: list[FieldProblem] | None = None

    def text(self) -> bytes:
        members = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(
            {name: value for name, value in members.items() if value is not None}, default=asdict
        ).encode()


def answer(request: Request, problem: Problem) -> Response:
    form = _details(
        problem.code,
        problem.detail,
        instance=request.url.path,
        request_id=str(getattr(request.state, "request_id", "")),
        hint=problem.hint or None,
        retry_after=problem.retry_after or None,
        errors=[FieldProblem(**one) for one in problem.errors] or None,
    )
    headers = dict(problem.headers or {})
    if problem.retry_after:
        headers["Retry-After"] = str(problem.retry_after)
    return Response(form.text(), CODES[problem.code][0], headers, media_type=MEDIA_TYPE)


def text_without_request(code: str, *, request_id: str, hint: str | None) -> bytes:
    """The text of a problem with something that has not become a request."""
    return _details(code, CODES[code][1], instance="", request_id=request_id, hint=hint or None).text()


def _details(code: str, detail: str, **more: Any) -> ProblemDetails:
    status = CODES[code][0]
    title = HTTPStatus(status).phrase
    return ProblemDetails(type=f"/docs#problem-{code}", title=title, status=status, detail=detail, code=code, **more)


async def on_http(request: Request, problem: Exception) -> Response:
    """A Problem, or what the framework raises by itself: no such address, no such method."""
    if isinstance(problem, Problem):
        return answer(request, problem)
    assert isinstance(problem, HTTPException)
    codes = {404: "not_found", 405: "method_not_allowed"}
    words = {404: f"there is nothing at {request.url.path}", 405: f"{request.method} is not for {request.url.path}"}
    code = codes.get(problem.status_code, "bad_request" if problem.status_code < 500 else "internal")
    detail = words.get(problem.status_code, CODES[code][1])
    headers = {"Allow": ", ".join(request.app.state.methods(request.url.path))} if problem.status_code == 405 else {}
    return answer(request, Problem(code, detail, headers=headers))


async def on_validation(request: Request, problem: Exception) -> Response:
    """What the framework found in the path, the query, the headers or the body. The values are never repeated."""
    assert isinstance(problem, RequestValidationError)
    found = problem.errors()
    places = {str(error["loc"][0]) for error in found}
    errors = [
        {"pointer": _pointer(error["loc"]), "detail": str(error["msg"]), "code": str(error["type"])} for error in found
    ]
    if "path" in places:
        return answer(request, Problem("not_found", f"there is nothing at {request.url.path}"))
    if places & {"query", "header"}:
        return answer(request, Problem("bad_parameter", "a parameter is not of its form", errors=errors))
    return answer(request, Problem("invalid", "the body says something that cannot be", errors=errors))


async def on_leasehold(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, LeaseholdError)
    answered = of_error(problem)
    if answered.status_code >= 500 and not isinstance(problem, Unreachable):  # outages have lines of their own
        emit("request failed", level=logging.ERROR, path=request.url.path, problem=problem)
    return answer(request, answered)


def of_error(problem: LeaseholdError) -> Problem:
    """An error of the engine. What a caller cannot change is told without its words: they name addresses and logins."""
    # A hint that is a command is for whoever has the command line.
    hint = None if (problem.hint or "").startswith("leasehold ") else problem.hint
    match problem:
        case NotFound():
            return Problem("not_found", str(problem), hint=hint)
        case OtherRequest():
            return Problem("key_reused", str(problem), hint=hint)
        case Changed():
            return Problem("changed", str(problem), hint=hint)
        case Conflict():
            return Problem("conflict", str(problem), hint=hint)
        case LeaseLost():
            return Problem("lease_lost", str(problem), hint=hint)
        case WorkerLost():
            return Problem("worker_lost", str(problem), hint=hint)
        case TooLarge():
            return Problem("too_large", str(problem), hint=hint)
        case BadSetting():
            return Problem("unavailable", "a setting of this server is wrong")
        case BadInput() | FetchRefused():
            return Problem("invalid", str(problem), hint=hint)
        case QuotaExceeded():
            return Problem("quota_exceeded", str(problem), hint=hint, retry_after=5)
        case Unreachable():
            return Problem("unavailable", "the database does not answer now", retry_after=2)
        case _:
            return Problem("internal", "something failed here; the request id finds it in the log")


def _pointer(place: Sequence[Any]) -> str:
    """A JSON pointer into the body, or the name of a parameter."""
    if place[0] != "body":
        return str(place[-1])
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place[1:])
