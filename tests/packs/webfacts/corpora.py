"""Pages and examples that other people made.

They are no part of the project: they are found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CORPORA = Path(os.environ.get("LEASEHOLD_CORPORA") or Path(__file__).parents[3] / ".." / "shared" / "corpora").resolve()
needed = pytest.mark.skipif(
    not CORPORA.is_dir() and os.environ.get("CI") != "true", reason=f"no test data in {CORPORA}; set LEASEHOLD_CORPORA"
)


def load(name: str) -> Any:
    return json.loads((CORPORA / name).read_text())


def pages(folder: str) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Name, bytes and truth of every page of a benchmark."""
    for name, truth in load(f"{folder}/ground-truth.json").items():
        yield name, gzip.decompress((CORPORA / folder / "html" / f"{name}.html.gz").read_bytes()), truth
