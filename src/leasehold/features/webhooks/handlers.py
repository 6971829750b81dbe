"""``webhook.deliver``: attempts to bring an event to an endpoint. What becomes of both is SQL's to decide."""

import json
import random
import re
import time
from dataclasses import dataclass
from uuid import UUID

from leasehold import tracing
from leasehold.engine import jobs
from leasehold.errors import BadInput, FetchError, NotFound
from leasehold.features.webhooks import signature
from leasehold.features.webhooks import store as webhooks
from leasehold.features.webhooks.model import Letter
from leasehold.fetch.response import retry_after
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze
from leasehold.redact import MASK

#: Seconds before each further attempt: about three days in all, each a fifth more or less.
SCHEDULE = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
#: Of an answer, so much is read and kept.
KEPT_BYTES = 20_000

app = Leasehold()


@dataclass(frozen=True, slots=True)
class Order:
    delivery_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back: a status, or else an error."""

    status: int | None = None
    body: str | None = None
    error: str | None = None
    retry_after_s: float | None = None


@app.handler("webhook.deliver", priority=3, attempts=len(SCHEDULE) + 1, timeout=120)
async def deliver(ctx: Context, order: Order) -> None:
    """Sign an event and send it to its endpoint, if it is its turn."""
    sending = await webhooks.begin_delivery(ctx.link.db, ctx.tenant_id, order.delivery_id, ctx.job_id)
    if sending is None:
        return
    match sending.verdict:
        case "busy":
            raise Snooze("the endpoint is busy, or rests", after=sending.delay_s)
        case "wait":
            raise Cancel(f"{sending.reason}: it is sent later")
        case "disabled":
            raise Fail(f"the endpoint is disabled: {sending.reason}")
    assert sending.letter is not None
    await _send(ctx, order, sending.letter)


async def _send(ctx: Context, order: Order, letter: Letter) -> None:
    own, headers = _opened(ctx, letter)
    began = time.monotonic()
    with tracing.span("webhook", parent=await _trace_of(ctx, letter), leasehold__job_id=str(ctx.job_id)):
        answered = await _posted(ctx, letter, own | headers)
    is_last = ctx.attempt >= ctx.max_attempts
    state = await webhooks.end_delivery(
        ctx.link.db,
        ctx.tenant_id,
        order.delivery_id,
        ctx.job_id,
        status=answered.status,
        error=answered.error,
        request_headers=headers | dict.fromkeys(own, MASK),
        response_body=answered.body,
        duration_ms=round((time.monotonic() - began) * 1000),
        is_last=is_last,
        rest_s=answered.retry_after_s,
    )
    _judge(ctx, answered, state)


def _opened(ctx: Context, letter: Letter) -> tuple[dict[str, str], dict[str, str]]:
    """The endpoint's own headers, which may be secret, and those that we sign with."""
    keys = ctx.link.secret_keys
    secrets = [keys.open(one) for one in letter.secrets]
    own: dict[str, str] = json.loads(keys.open(letter.headers)) if letter.headers else {}
    # Also without the word before it: a receiver that echoes a token does not echo its scheme.
    ctx.secrets += [
        part for value in (*secrets, *own.values()) for part in (value, re.split("[ _]", value, maxsplit=1)[-1])
    ]
    from leasehold.features.webhooks.rules import scheme_of  # it loads a parser of URLs

    signed = signature.sign(
        letter.body,
        secrets=secrets,
        message_id=str(letter.event_id),
        timestamp=int(time.time()),
        scheme=scheme_of(letter.format, letter.header_names),
    )
    return own, {"Content-Type": "application/json"} | signed


async def _posted(ctx: Context, letter: Letter, headers: dict[str, str]) -> Answered:
    try:
        fetched = await ctx.fetch(
            letter.url,
            method="POST",
            truncate=True,
            headers=headers,
            body=letter.body,
            timeout=letter.timeout_s,
            max_bytes=KEPT_BYTES,
            max_redirects=0,
        )
    except (FetchError, BadInput) as problem:
        return Answered(error=ctx.told(str(problem)))
    body = ctx.told(fetched.text)[:KEPT_BYTES]
    return Answered(status=fetched.status, body=body, retry_after_s=retry_after(fetched))


async def _trace_of(ctx: Context, letter: Letter) -> str | None:
    """The trace of the job that the event tells of; while nobody traces, nobody asks."""
    event = json.loads(letter.body) if tracing.is_on() else {}
    if event.get("subject_type") != "job":
        return None
    try:
        return (await jobs.get_job(ctx.link.db, ctx.tenant_id, UUID(event["subject_id"]))).traceparent
    except (NotFound, ValueError):  # ValueError: somebody's own kind of job
        return None


def _judge(ctx: Context, answered: Answered, state: str) -> None:
    if state == "delivered":
        return
    reason = answered.error or f"the receiver answered {answered.status}"
    if state == "disabled":
        raise Fail(f"{reason}: the endpoint is disabled")
    raise Retry(reason, after=delay_s(ctx.attempt, answered.retry_after_s))


def delay_s(attempt: int, asked_s: float | None) -> float:
    """Before the next attempt. A receiver may ask for up to twice as long as we would have waited."""
    base = float(SCHEDULE[min(attempt, len(SCHEDULE)) - 1])
    if asked_s is not None:
        return min(max(asked_s, base), 2 * base)
    return base * random.uniform(0.8, 1.2)
