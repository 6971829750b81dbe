"""How much of other people's test data is masked, and how much ordinary text is left alone.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout. Every set is cut into
two halves by a hash. Rules are written looking at the first half; of the second half only the figures are looked at.
"""

import gzip
import hashlib
import itertools
import json
import logging
import re
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

import pytest

from leasehold import log
from leasehold.redact import MASK, redact
from tests.corpora.data import CORPORA, needs_corpora

ROOT = Path(__file__).parents[2]

pytestmark = needs_corpora

DETECT_SECRETS = "detect_secrets_cases.json"
GITLEAKS = "gitleaks_samples.json"
HALVES = ("seen", "unseen")

#: What upstream's generators glue samples together from: an expression, a bare beginning, a word.
#: No secret is in it.
FRAGMENT = re.compile(r"""[\\\w~.\[\]{},+*()/:'"\s=$-]{0,36}""")


class Case(NamedTuple):
    text: str
    secret: str
    positive: bool

    @property
    def half(self) -> str:
        return HALVES[hashlib.sha256(self.text.encode()).digest()[0] % 2]

    @property
    def removed(self) -> bool:
        masked = redact(self.text)
        return masked != self.text and not (self.secret and self.secret in masked)

    @property
    def altered(self) -> bool:
        return redact(self.text) != self.text


def _cases(name: str, *, positive: bool, half: str | None = None) -> list[Case]:
    rows = json.loads((CORPORA / "secrets" / name).read_text())
    cases = [
        Case("".join(row["text_parts"]), "".join(row.get("secret_parts") or []), row["should_flag"]) for row in rows
    ]
    return [case for case in cases if case.positive is positive and half in (None, case.half)]


def _contradicted(case: Case, positives: list[Case]) -> bool:
    """A negative only for its file type or spelling: upstream calls the very same string a secret in another case."""
    secrets = {each.secret or max(re.split(r"""[\s"'=:;,`]""", each.text), key=len) for each in positives}
    return any(len(secret) >= 16 and secret in case.text for secret in secrets)


@pytest.mark.parametrize("half", HALVES)
def test_detect_secrets_positives_are_removed(half: str) -> None:
    cases = _cases(DETECT_SECRETS, positive=True, half=half)
    removed = sum(case.removed for case in cases)
    print(f"detect-secrets, {half} half: {removed} of {len(cases)} positives removed")
    assert removed / len(cases) >= 0.95


def test_detect_secrets_negatives_stay() -> None:
    cases = _cases(DETECT_SECRETS, positive=False)
    positives = _cases(DETECT_SECRETS, positive=True)
    fair = [case for case in cases if not _contradicted(case, positives)]
    altered = [case for case in cases if case.altered]
    fairly = [case for case in fair if case.altered]
    print(
        f"detect-secrets: {len(altered)} of {len(cases)} negatives altered; {len(fairly)} of {len(fair)} uncontradicted"
    )
    assert len(fairly) / len(fair) < 0.05


@pytest.mark.parametrize("half", HALVES)
def test_gitleaks_positives_are_removed(half: str) -> None:
    cases = _cases(GITLEAKS, positive=True, half=half)
    whole = [case for case in cases if not FRAGMENT.fullmatch(case.text)]
    removed = sum(case.removed for case in whole)
    anyhow = sum(case.removed for case in cases)
    print(
        f"gitleaks, {half} half: {removed} of {len(whole)} positives removed; {anyhow} of {len(cases)} with the"
        f" {len(cases) - len(whole)} fragments, which hold no secret"
    )
    assert removed / len(whole) >= 0.95


def test_gitleaks_negatives_stay() -> None:
    cases = _cases(GITLEAKS, positive=False)
    altered = {half: sum(case.altered for case in cases if case.half == half) for half in HALVES}
    print(f"gitleaks: {sum(altered.values())} of {len(cases)} negatives altered; {altered}")
    assert sum(altered.values()) / len(cases) <= 0.10


def _pages() -> Iterator[str]:
    with tarfile.open(next((CORPORA / "site-postgresql-doc-15").glob("*.tar.gz"))) as site:
        pages = [member for member in site if member.name.endswith(".html")][::40]
        yield from (page.read().decode() for member in pages if (page := site.extractfile(member)))
    for path in sorted((CORPORA / "product-extraction" / "html").glob("*.gz"))[:2]:
        yield gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def _documents() -> Iterator[str]:
    yield gzip.decompress((CORPORA / "postings" / "uber.json.gz").read_bytes()).decode()[:400_000]
    yield from (path.read_text() for path in sorted((CORPORA / "catenax-batterypass").rglob("*.json"))[:2])
    yield (ROOT / "docs" / "reference" / "openapi.json").read_text()


def _log_lines() -> Iterator[str]:
    """What our own logger writes, as text and as JSON; a mask in it is counted as an alteration."""
    for number, formatter in itertools.product(range(2000), (log._Text(), log._Json())):
        yield formatter.format(_record(number))


def _record(number: int) -> logging.LogRecord:
    at = datetime(2026, 3, 1, 8, tzinfo=UTC) + timedelta(seconds=number)
    job, worker = (str(uuid5(NAMESPACE_URL, f"{kind}/{number}")) for kind in ("job", "worker"))
    fields = {
        "job_id": job,
        "worker_id": worker,
        "kind": "http.request",
        "attempt": number % 4 + 1,
        "key": f"order-{number}",
        "lease_token": number,
        "error": f"TimeoutError: https://api.example.com/v1/orders/{number}?page=2 took {number % 30} s",
        "duration_ms": number / 7,
        "digest": hashlib.sha256(job.encode()).hexdigest(),
    }
    said = {"levelname": "INFO", "msg": "attempt ended", "created": at.timestamp(), "fields": fields}
    return logging.makeLogRecord(said)


ORDINARY = {"pages": _pages, "documents": _documents, "log lines": _log_lines}


@pytest.mark.parametrize("source", ORDINARY)
def test_ordinary_text_stays(source: str) -> None:
    lines = list(itertools.chain.from_iterable(text.splitlines() for text in ORDINARY[source]()))
    altered = sum(redact(line) != line or MASK in line for line in lines)
    size = sum(map(len, lines)) / 1e6
    print(f"{source}: {altered} of {len(lines)} lines altered ({altered / len(lines):.3%}) in {size:.1f} MB")
    assert size > 0.5
    assert altered / len(lines) <= 0.001


def test_every_sample_is_redacted_once_and_for_all() -> None:
    for name, flag in itertools.product((DETECT_SECRETS, GITLEAKS), (True, False)):
        for case in _cases(name, positive=flag):
            once = redact(case.text)
            assert redact(once) == once
