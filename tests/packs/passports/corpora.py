"""Where the data of others is: it is found by LEASEHOLD_CORPORA, or beside the checkout, and no part of the project."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

CORPORA = Path(os.environ.get("LEASEHOLD_CORPORA") or Path(__file__).parents[3] / ".." / "shared" / "corpora").resolve()
needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir() and os.environ.get("CI") != "true", reason=f"no test data in {CORPORA}; set LEASEHOLD_CORPORA"
)


def text(*path: str) -> str:
    return CORPORA.joinpath(*path).read_text().strip()


def data(*path: str) -> Any:
    return json.loads(text(*path))
