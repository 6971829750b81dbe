"""How much of other people's test data is masked, and how much ordinary text is left alone.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import gzip
import itertools
import json
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.redact import redact

CORPORA = Path(os.environ.get("LEASEHOLD_CORPORA") or Path(__file__).parents[2] / ".." / "shared" / "corpora").resolve()

pytestmark = pytest.mark.skipif(
    not CORPORA.is_dir() and os.environ.get("CI") != "true", reason=f"no test data in {CORPORA}; set LEASEHOLD_CORPORA"
)

#: What upstream's generators glue samples together from: an expression, a bare beginning, a word. No secret is in it.
FRAGMENT = re.compile(r"""[\\\w~.\[\]{},+*()/:'"\s=$-]{0,36}""")


def _cases(name: str, *, positive: bool) -> list[dict[str, Any]]:
    rows = json.loads((CORPORA / "secrets" / name).read_text())
    joined = [
        {
            "text": "".join(row["text_parts"]),
            "secret": "".join(row.get("secret_parts") or []),
            "flag": row["should_flag"],
        }
        for row in rows
    ]
    return [row for row in joined if row["flag"] is positive]


def _removed(row: dict[str, Any]) -> bool:
    masked = redact(row["text"])
    return masked != row["text"] and not (row["secret"] and row["secret"] in masked)


def _contradicted(row: dict[str, Any], positives: list[dict[str, Any]]) -> bool:
    """A negative only for its file type or spelling: upstream calls the very same string a secret in another case."""
    secrets = {row["secret"] or max(re.split(r"""[\s"'=:;,`]""", row["text"]), key=len) for row in positives}
    return any(len(secret) >= 16 and secret in row["text"] for secret in secrets)


def test_detect_secrets_positives_are_removed() -> None:
    rows = _cases("detect_secrets_cases.json", positive=True)
    removed = sum(map(_removed, rows))
    print(f"detect-secrets: {removed} of {len(rows)} positives removed")
    assert removed / len(rows) >= 0.95


def test_detect_secrets_negatives_stay() -> None:
    rows = _cases("detect_secrets_cases.json", positive=False)
    positives = _cases("detect_secrets_cases.json", positive=True)
    altered = [row for row in rows if redact(row["text"]) != row["text"]]
    fair = [row for row in rows if not _contradicted(row, positives)]
    fairly = [row for row in altered if row in fair]
    print(
        f"detect-secrets: {len(altered)} of {len(rows)} negatives altered; {len(fairly)} of {len(fair)} uncontradicted"
    )
    assert len(fairly) / len(fair) < 0.05


def test_gitleaks_positives_are_removed() -> None:
    rows = _cases("gitleaks_samples.json", positive=True)
    whole = [row for row in rows if not FRAGMENT.fullmatch(row["text"])]
    removed = sum(map(_removed, whole))
    print(f"gitleaks: {removed} of {len(whole)} positives removed; {len(rows) - len(whole)} fragments left out")
    assert removed / len(whole) >= 0.95


def test_gitleaks_negatives_stay() -> None:
    rows = _cases("gitleaks_samples.json", positive=False)
    altered = sum(redact(row["text"]) != row["text"] for row in rows)
    print(f"gitleaks: {altered} of {len(rows)} negatives altered")
    assert altered / len(rows) <= 0.10


def _ordinary() -> Iterator[str]:
    with tarfile.open(next((CORPORA / "site-postgresql-doc-15").glob("*.tar.gz"))) as site:
        pages = [member for member in site if member.name.endswith(".html")][::40]
        yield from (page.read().decode() for member in pages if (page := site.extractfile(member)))
    for path in sorted((CORPORA / "product-extraction" / "html").glob("*.gz"))[:2]:
        yield gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    yield gzip.decompress((CORPORA / "postings" / "uber.json.gz").read_bytes()).decode()[:400_000]
    yield from (path.read_text() for path in sorted((CORPORA / "catenax-batterypass").rglob("*.json"))[:2])


def test_ordinary_text_stays() -> None:
    lines = list(itertools.chain.from_iterable(text.splitlines() for text in _ordinary()))
    altered = sum(redact(line) != line for line in lines)
    size = sum(map(len, lines)) / 1e6
    print(f"ordinary text: {altered} of {len(lines)} lines altered ({altered / len(lines):.3%}) in {size:.1f} MB")
    assert size > 1
    assert altered / len(lines) <= 0.001


def test_every_sample_is_redacted_once_and_for_all() -> None:
    for name, flag in itertools.product(("detect_secrets_cases.json", "gitleaks_samples.json"), (True, False)):
        for row in _cases(name, positive=flag):
            once = redact(row["text"])
            assert redact(once) == once
