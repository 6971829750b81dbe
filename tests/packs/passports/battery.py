"""A small battery for tests: facts, rules, keys, and a passport that is made of them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from leasehold_packs.passports import log, merkle
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle import Bundle, bundle
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.compile import Compiled, Issue, compiled
from leasehold_packs.passports.documents import json_facts, read_json
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.keys import PublicKey, did_web
from leasehold_packs.passports.proof import options, sign
from leasehold_packs.passports.rules import package

ISSUER = did_web("maker.example")
SEED = bytes(range(32))
KEY = PublicKey(
    issuer=ISSUER,
    raw=Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw(),
    not_before=datetime(2026, 1, 1, tzinfo=UTC),
    not_after=datetime(2028, 1, 1, tzinfo=UTC),
)
ISSUE = Issue(
    version=UUID("550e8400-e29b-41d4-a716-446655440000"),
    issued_at=datetime(2027, 2, 18, 12, tzinfo=UTC),
    issuer=ISSUER,
    key_id=KEY.key_id,
    salt_key=b"a salt key of thirty-two bytes..",
)

SAYS: dict[str, Any] = {
    "model": "M1",
    "mass": 430,
    "energy": 62000,
    "footprint": 3782,
    "ok": True,
    "note": None,
    "materials": [
        {"name": "Cobalt", "share": 12, "critical": True},
        {"name": "Aluminium", "share": 30, "critical": False},
    ],
    "health": {"cycles": 12},
    "report": "https://maker.example/report",
}

RULES: dict[str, Any] = {
    "format": "leasehold-rules/1",
    "name": "small",
    "version": "1",
    "inputs": {
        "energy": {"at": "/energy", "type": "number", "required": True},
        "footprint": {"at": "/footprint", "type": "number"},
        "shares": {"at": "/materials/*/share", "type": "numbers"},
    },
    "fields": [
        {
            "pointer": "/footprintPerEnergy",
            "tier": "public",
            "unit": "kg CO2e/kWh",
            "value": {"round": [{"/": [{"input": "footprint"}, {"/": [{"input": "energy"}, 1000]}]}, 2]},
        }
    ],
    "copies": [
        {"at": "/model", "tier": "public"},
        {"at": "/mass", "tier": "public", "unit": "kg"},
        {"at": "/ok", "tier": "public"},
        {"at": "/note", "tier": "public"},
        {"at": "/materials", "tier": "legitimate_interest"},
        {"at": "/materials/[critical=true]/name", "tier": "public"},
        {"at": "/health", "tier": "individual"},
        {"at": "/report", "tier": "authority"},
    ],
    "checks": [
        {
            "id": "shares",
            "test": {"<=": [{"sum": [{"input": "shares"}]}, 100]},
            "message": "the shares are more than 100 %",
            "at": "/materials",
        }
    ],
    "schema": {"type": "object", "required": ["model", "footprintPerEnergy"]},
}


def facts(says: Any = SAYS) -> list[Fact]:
    return list(json_facts(canonical(says)).facts)


def passport(says: Any = SAYS, rules: Any = RULES, issue: Issue = ISSUE) -> Compiled:
    return compiled(Snapshot(facts(says)), package(rules), issue)


def signed(made: Compiled, reader: Reader = Reader.OWNER) -> Bundle:
    proof = sign(read_json(made.receipt), options(method=KEY.method, created=ISSUE.issued_at), seed=SEED)
    return bundle(made, proof, logged(made.receipt, canonical(proof)), reader)


def logged(receipt: bytes, proof: bytes) -> log.LogEntry:
    """As the third of five leaves."""
    leaves = [bytes([place]) * 32 for place in range(5)]
    leaves[2] = log.leaf(receipt, proof)
    return log.entry(head_of(leaves), index=2, path=merkle.path(leaves, 2))


def head_of(leaves: list[bytes]) -> log.SignedHead:
    head = log.head(issuer=ISSUER, size=len(leaves), root=merkle.root(leaves), at=ISSUE.issued_at)
    return {**head, "proof": dict(sign(head, options(method=KEY.method, created=ISSUE.issued_at), seed=SEED))}
