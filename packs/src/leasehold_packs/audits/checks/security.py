"""What the answer tells browsers to guard, and what it gives away."""

import re
from collections.abc import Iterator
from typing import Any

from leasehold_packs.audits.checks.evidence import some
from leasehold_packs.audits.crawled_page import Seen

_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_VERSION = re.compile(r"\d+\.\d+")


def hsts_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    given = seen.visit.header("strict-transport-security")
    age = _MAX_AGE.search(given or "")
    if seen.visit.is_secure and not (age and int(age[1]) > 0):
        yield {"header": given}


def csp_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    if not _policy(seen):
        yield {}


def nosniff_missing(seen: Seen) -> Iterator[dict[str, Any]]:
    given = seen.visit.header("x-content-type-options")
    if (given or "").strip().lower() != "nosniff":
        yield {"header": given}


def clickjacking(seen: Seen) -> Iterator[dict[str, Any]]:
    given = (seen.visit.header("x-frame-options") or "").strip().upper()
    if given not in ("DENY", "SAMEORIGIN") and "frame-ancestors" not in _policy(seen):
        yield {"header": given or None}


def form_insecure(seen: Seen) -> Iterator[dict[str, Any]]:
    """What is typed into it travels in the clear."""
    if seen.page.form_actions:
        sent = [url for url in seen.page.form_actions if url.startswith("http:")]
        yield from some(sent if seen.visit.is_secure else seen.page.form_actions)


def server_leak(seen: Seen) -> Iterator[dict[str, Any]]:
    told = {name: seen.visit.header(name) or "" for name in ("server", "x-powered-by", "x-aspnet-version")}
    yield from some(f"{name}: {value}" for name, value in told.items() if _VERSION.search(value))


def _policy(seen: Seen) -> str:
    return (seen.visit.header("content-security-policy") or "").lower()


CHECKS = (hsts_missing, csp_missing, nosniff_missing, clickjacking, form_insecure, server_leak)
