"""The OpenAPI documents that say what there is to test. To make one takes a second."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from leasehold.http.app import bare_app
from leasehold.http.openapi import document
from leasehold.plugins.discovery import discover

#: The committed one; another test says that it is what the code says.
DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"
CORE: dict[str, Any] = json.loads(DOCUMENT.read_text())


@cache
def with_packs() -> dict[str, Any]:
    """The same with the routes of all packs that are installed."""
    return document(bare_app(discover(None)))
