"""Other people's robots.txt files and what they mean.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import base64
import json
from typing import Any

import pytest

from leasehold.fetch.robots import Rules, parse_robots
from leasehold.fetch.urls import parse_url
from tests.corpora.data import CORPORA, needs_corpora

pytestmark = needs_corpora


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((CORPORA / "robots" / name).read_text())
    return rows


def _allowed(row: dict[str, Any]) -> bool:
    return parse_robots(row["robots"], row["agent"]).can_fetch(row["url"], row["agent"])


@pytest.mark.parametrize("name", ["cases_google.json", "cases_protego.json"])
def test_rules_mean_what_their_makers_say(name: str) -> None:
    """Not all of them: they contradict each other about lines that mean nothing, where we follow the standard."""
    rows = [row for row in _rows(name) if not row.get("google_only")]
    right = sum(_allowed(row) is row["allowed"] for row in rows)
    print(f"{name}: {right} of {len(rows)}")
    assert right / len(rows) >= 0.9


def test_no_real_file_is_too_odd_to_read() -> None:
    rows = _rows("real_sample.json")
    assert len(rows) > 100
    for row in rows:
        rules = Rules.read(200, base64.b64decode(row["b64"]), user_agent="ExampleBot/1.0")
        assert rules.allow(parse_url("https://example.com/robots.txt"))
        assert rules.allow(parse_url("https://example.com/x")) in (True, False)
        assert rules.crawl_delay is None or rules.crawl_delay >= 0
