"""The data of others, read."""

import json
from typing import Any

from tests.corpora.data import CORPORA


def text(*path: str) -> str:
    return CORPORA.joinpath(*path).read_text().strip()


def data(*path: str) -> Any:
    return json.loads(text(*path))
