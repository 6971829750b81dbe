"""Where the data is that other people made: LEASEHOLD_CORPORA, or beside the checkout. It is no part of the project."""

import os
from pathlib import Path

import pytest

CORPORA = Path(os.environ.get("LEASEHOLD_CORPORA") or Path(__file__).parents[2] / ".." / "shared" / "corpora").resolve()
#: Where it is absent a test is skipped, but never in CI: there it fails for what it does not find.
needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir() and os.environ.get("CI") != "true", reason=f"no test data in {CORPORA}; set LEASEHOLD_CORPORA"
)
