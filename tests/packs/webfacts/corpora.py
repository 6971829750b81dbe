"""Pages and examples that other people made, read."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

from tests.corpora.data import CORPORA


def load(name: str) -> Any:
    return json.loads((CORPORA / name).read_text())


def pages(folder: str) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Name, bytes and truth of every page of a benchmark."""
    for name, truth in load(f"{folder}/ground-truth.json").items():
        yield name, gzip.decompress((CORPORA / folder / "html" / f"{name}.html.gz").read_bytes()), truth
