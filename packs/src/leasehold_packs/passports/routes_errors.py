"""What the routes of this pack have in common: how they refuse, take bodies, and answer with a job."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends

from leasehold import Enqueued, web
from leasehold.errors import BadInput
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.schemas import JobMade

_STATUS = {
    Code.SNAPSHOT_NOT_READY: "conflict",
    Code.RULE_PKG_NOT_PUBLISHED: "conflict",
    Code.SIGNING_KEY_MISSING: "conflict",
    Code.HOST_NOT_PROVEN: "conflict",
    Code.PAYLOAD_TOO_LARGE: "too_large",
}


async def _refusals() -> AsyncIterator[None]:
    """What is wrong with the data is told with all findings, each with its place and its code."""
    try:
        yield
    except PassportError as problem:
        errors = [{"pointer": each.at, "detail": each.message, "code": each.code} for each in problem.findings[:100]]
        errors = errors or [{"pointer": "", "detail": str(problem), "code": problem.code}]
        code = _STATUS.get(problem.code, "invalid")
        raise web.Problem(code, f"{problem.code}: {problem}", hint=problem.hint, errors=errors) from None


async def body_of(request: web.Request, most: int) -> bytes:
    """The bytes that were sent, up to so many; nothing of them is kept beyond that."""
    body = await web.read_body(request, most)
    if not body:
        raise BadInput("nothing was sent")
    return body


def job_answer(made: Enqueued) -> web.Answer:
    return web.Answer(status=202, value=JobMade(job_id=made.job_id), headers={"Location": f"/v1/jobs/{made.job_id}"})


def passport_routes() -> APIRouter:
    """A router of the pack."""
    made = web.routes("passports")
    made.dependencies.append(Depends(_refusals))
    return made
