"""Other people's signatures: ours are the same, and we accept and refuse what they do.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import json
from typing import Any

from leasehold.errors import BadSignature
from leasehold.features.webhooks.signature import (
    PLAIN,
    SLACK,
    STANDARD,
    TIMESTAMPED,
    Scheme,
    ed25519_verifies,
    hmac_sha256,
    sign,
    verify,
)
from tests.corpora.data import CORPORA, needs_corpora

pytestmark = needs_corpora

SCHEMES = {
    "standard-webhooks v1": STANDARD,
    "stripe v1": TIMESTAMPED,
    "slack v0": SLACK,
    "github sha256": PLAIN,
}


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((CORPORA / "webhooks" / name).read_text())
    return rows


def _headers(row: dict[str, Any], scheme: Scheme) -> dict[str, str]:
    headers = {scheme.signature: row["signature"]}
    if scheme.timestamp:
        headers[scheme.timestamp] = str(row["timestamp"])
    if scheme.message_id:
        headers[scheme.message_id] = row["id"]
    return headers


def _fits(row: dict[str, Any]) -> bool:
    scheme = SCHEMES[row["scheme"]]
    try:
        verify(
            row["payload"].encode(), _headers(row, scheme), row["secret"], scheme=scheme, now=row.get("timestamp", 0)
        )
    except BadSignature:
        return False
    return True


def test_signatures_are_accepted_and_refused_as_their_makers_do() -> None:
    rows = _rows("vectors.json")
    right = [_fits(row) is row["valid"] for row in rows]
    print(f"vectors: {sum(right)} of {len(rows)}")
    assert all(right)


def test_we_sign_as_they_do() -> None:
    whole = [row for row in _rows("vectors.json") if row["valid"] and " " not in row["signature"]]
    for row in [row for row in whole if row["signature"].count("=") <= 2]:
        scheme = SCHEMES[row["scheme"]]
        signed = sign(
            row["payload"].encode(),
            secrets=[row["secret"]],
            message_id=row.get("id", "msg_1"),
            timestamp=row.get("timestamp", 0),
            scheme=scheme,
        )
        assert signed[scheme.signature] == row["signature"]


def test_hmac_is_right() -> None:
    rows = _rows("wycheproof_hmac_sha256.json")
    for row in rows:
        digest = hmac_sha256(bytes.fromhex(row["key"]), bytes.fromhex(row["msg"]))
        same = digest[: row["tag_bits"] // 8] == bytes.fromhex(row["tag"])
        assert same is (row["result"] == "valid"), row["comment"]
    assert len(rows) > 100


def test_ed25519_is_right() -> None:
    rows = _rows("wycheproof_ed25519.json")
    for row in rows:
        fits = ed25519_verifies(bytes.fromhex(row["pk"]), bytes.fromhex(row["msg"]), bytes.fromhex(row["sig"]))
        assert fits is (row["result"] == "valid"), row["comment"]
    assert len(rows) > 100
