"""The web's own test of URL parsers: what must fail is refused, and what we accept has the host and port it should.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import json
from typing import Any

import httpcore2
import httpx2
import pytest

from leasehold.errors import FetchRefused
from leasehold.fetch.urls import DEFAULT_PORT, Url, parse_url
from tests.corpora.data import CORPORA, needs_corpora

pytestmark = needs_corpora


def _cases(name: str) -> list[dict[str, Any]]:
    return [row for row in json.loads((CORPORA / "url" / name).read_text()) if isinstance(row, dict)]


def _parsed(text: str, base: Url | None = None) -> Url | None:
    try:
        return parse_url(text, base=base)
    except FetchRefused as problem:
        str(problem).encode()
        return None


def _accepted() -> list[tuple[dict[str, Any], Url]]:
    """Every case that we accept, absolute or on its base."""
    found = []
    for row in _cases("urltestdata.json"):
        base = _parsed(row["base"]) if row.get("base") else None
        if row.get("base") and base is None:
            continue
        if url := _parsed(row["input"], base):
            found.append((row, url))
    assert len(found) > 100
    return found


def test_what_must_fail_is_refused() -> None:
    assert [row["input"] for row, _ in _accepted() if row.get("failure")] == []


def test_what_is_accepted_has_the_host_port_and_target_it_should() -> None:
    cases = _accepted()
    print(f"urls: {len(cases)} of {len(_cases('urltestdata.json'))} accepted")
    for row, url in cases:
        port = int(row["port"] or DEFAULT_PORT[url.scheme])
        assert (url.host, url.port, url.target) == (row["hostname"], port, row["pathname"] + row["search"])
        assert f"{url.scheme}:" == row["protocol"]


def test_http_clients_read_what_is_accepted_in_the_same_way() -> None:
    for _, url in _accepted():
        given = httpx2.URL(str(url))
        assert (given.raw_host.decode(), given.port or DEFAULT_PORT[given.scheme]) == (url.bare_host, url.port)
        core = httpcore2.URL(str(url))
        assert (core.host.decode(), core.origin.port) == (url.bare_host, url.port)


def test_ordinary_urls_are_accepted() -> None:
    """A validator that refuses everything would pass the tests above."""
    plain = [
        row
        for row in _cases("urltestdata.json")
        if row.get("protocol") in ("http:", "https:")
        and row["input"].startswith(("http://", "https://"))
        and row["input"].isascii()
        and not set(row["input"]) & set("\\@% \t\r\n\0\x08\x7f")
        and row["port"] != "0"
        and not row["hostname"].endswith(".")
    ]
    refused = [row["input"] for row in plain if _parsed(row["input"]) is None]
    assert len(plain) > 40
    assert refused == ["http://!\"$&'()*+,-.;=_`{}~/"]


@pytest.mark.parametrize("name", ["toascii.json", "IdnaTestV2.json"])
def test_international_names_become_what_they_should_or_are_refused(name: str) -> None:
    rows = _cases(name)
    hosts = [(row["input"], url.host, row["output"]) for row in rows if (url := _parsed(f"https://{row['input']}/x"))]
    assert len(hosts) > 30
    assert [case for case in hosts if case[1] != case[2]] == []
