"""What the answer tells browsers to guard, and what it gives away."""

import re
from collections.abc import Iterator

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage

_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_VERSION = re.compile(r"\d+\.\d+")


def hsts_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    given = crawled.visit.header("strict-transport-security")
    age = _MAX_AGE.search(given or "")
    if crawled.visit.is_secure and not (age and int(age[1]) > 0):
        yield {"header": given}


def csp_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    if not _policy(crawled):
        yield {}


def nosniff_missing(crawled: CrawledPage) -> Iterator[Evidence]:
    given = crawled.visit.header("x-content-type-options")
    if (given or "").strip().lower() != "nosniff":
        yield {"header": given}


def clickjacking(crawled: CrawledPage) -> Iterator[Evidence]:
    given = (crawled.visit.header("x-frame-options") or "").strip().upper()
    if given not in ("DENY", "SAMEORIGIN") and "frame-ancestors" not in _policy(crawled):
        yield {"header": given or None}


def form_insecure(crawled: CrawledPage) -> Iterator[Evidence]:
    """What is typed into it travels in the clear."""
    if crawled.page.form_actions:
        sent = [url for url in crawled.page.form_actions if url.startswith("http:")]
        yield from some(sent if crawled.visit.is_secure else crawled.page.form_actions)


def server_leak(crawled: CrawledPage) -> Iterator[Evidence]:
    told = {name: crawled.visit.header(name) or "" for name in ("server", "x-powered-by", "x-aspnet-version")}
    yield from some(f"{name}: {value}" for name, value in told.items() if _VERSION.search(value))


def _policy(crawled: CrawledPage) -> str:
    return (crawled.visit.header("content-security-policy") or "").lower()


CHECKS = (hsts_missing, csp_missing, nosniff_missing, clickjacking, form_insecure, server_leak)
