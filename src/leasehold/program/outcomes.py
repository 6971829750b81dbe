"""How a handler ends when it does not simply return.

Retry(after=30)   an error that may pass: again after a while (without ``after``: the job's back-off)
                  ``gate=True``: and until then nobody else passes the job's gate (a host said Retry-After)
Snooze(after=30)  not an error: come back later, this attempt does not count (or ``until=`` a moment)
Cancel("gone")    the work is no longer wanted
Fail("bad card")  an error that will not pass: do not try again
anything else     is an error that may pass
"""

import traceback
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from leasehold import json_codec
from leasehold.durations import Duration, seconds_of
from leasehold.errors import BadInput
from leasehold.redact import redact


class Outcome(Exception):
    """Base of what a handler may raise on purpose."""

    def __init__(self, reason: str = "", *, after: Duration | None = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else seconds_of(after, "after")
        self.gate = False


class Retry(Outcome):
    """Try again, after ``after`` seconds or the job's own back-off. With ``gate``, nobody passes the gate before."""

    def __init__(self, reason: str = "", *, after: Duration | None = None, gate: bool = False) -> None:
        super().__init__(reason, after=after)
        self.gate = _holds_gate(gate, after)


class Snooze(Outcome):
    """Come back after ``after`` seconds, or at ``until``; the attempt does not count. ``gate`` is as with Retry."""

    def __init__(
        self, reason: str = "", *, after: Duration | None = None, until: datetime | None = None, gate: bool = False
    ) -> None:
        if (after is None) == (until is None):
            raise BadInput("Snooze takes either after= (seconds) or until= (a moment)")
        if until is not None:
            if until.tzinfo is None:
                raise BadInput(f"Snooze(until={until.isoformat()}) has no time zone", hint="use datetime.now(UTC) + …")
            after = max(0.0, (until - datetime.now(UTC)).total_seconds())
        super().__init__(reason, after=after)
        self.gate = _holds_gate(gate, after)


class Cancel(Outcome):
    """End the job as canceled."""


class Fail(Outcome):
    """End the job as failed: trying again would not help."""


class InvalidPayload(Fail):
    """The payload does not fit the handler's type."""


class InvalidResult(Fail):
    """What the handler returned cannot be kept."""


def describe(error: BaseException, *, secrets: Collection[str] = ()) -> str:
    """An exception as the JSON that is kept with its attempt; ``secrets`` are those that the attempt used."""
    message = words_of(error)
    if not isinstance(error, Exception):  # KeyboardInterrupt, SystemExit, CancelledError: rarely with words
        message = f"the handler itself raised {type(error).__name__}" + (f": {message}" if message else "")
    told: dict[str, Any] = {
        "type": storable(type(error).__name__)[:200],
        "message": storable(redact(message, secrets=secrets))[:4000],
        "traceback": storable(redact(_traceback(error), secrets=secrets))[-6000:],
    }
    if isinstance(error, Outcome) and error.gate:
        told["gate_after_s"] = error.after  # SQL holds the job's gate for so long
    return json_codec.encode(told, what="error")


def _holds_gate(gate: bool, after: Duration | None) -> bool:
    if gate and after is None:
        raise BadInput("gate=True holds the gate for a while", hint="say for how many seconds: after=…")
    return gate


def storable(text: str) -> str:
    """The text without what PostgreSQL cannot keep: NUL and lone surrogates."""
    return str(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def words_of(error: BaseException) -> str:
    """The message of an exception, whatever its own ``__str__`` does."""
    try:
        return str(error)
    except Exception:  # its own __str__ fails
        return f"<{type(error).__name__} without words>"


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error, limit=-20))
    except Exception:
        return ""
