"""What an HTTP answer means for the job that asked, and how much of it may be kept. Pure but for the clock."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from leasehold.fetch.response import Fetched
from leasehold.redact import redact

_PASSING = frozenset((408, 425, 429))
_SECONDS = re.compile(r"[0-9]{1,9}")
_MAX_HEADERS = 100
_MAX_VALUE = 1000


def is_passing(status: int) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status in _PASSING or 500 <= status < 600


def retry_after(fetched: Fetched) -> float | None:
    """Seconds from now, however the header says it."""
    value = (fetched.header("retry-after") or "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())


def snapshot(fetched: Fetched, *, secrets: Collection[str]) -> dict[str, Any]:
    """All but the body, redacted."""
    headers = {name: (fetched.header(name) or "")[:_MAX_VALUE] for name, _ in fetched.headers[:_MAX_HEADERS]}
    told = {"status": fetched.status, "url": fetched.url, "headers": headers}
    return redact(told, secrets=secrets) | {"duration_ms": round(fetched.timings.total * 1000)}
