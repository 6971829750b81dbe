"""What an HTTP answer means for the job that asked, and how much of it may be kept. Pure."""

from collections.abc import Collection
from typing import Any

from leasehold.fetch.response import Fetched
from leasehold.redact import redact

_PASSING = frozenset((408, 425, 429))
_MAX_HEADERS = 100
_MAX_VALUE = 1000


def is_passing(status: int) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status in _PASSING or 500 <= status < 600


def snapshot(fetched: Fetched, *, secrets: Collection[str]) -> dict[str, Any]:
    """All but the body, redacted."""
    headers = {name: (fetched.header(name) or "")[:_MAX_VALUE] for name, _ in fetched.headers[:_MAX_HEADERS]}
    told = {"status": fetched.status, "url": fetched.url, "headers": headers}
    return redact(told, secrets=secrets) | {"duration_ms": round(fetched.timings.total * 1000)}
