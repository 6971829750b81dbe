"""What a reader takes away: the fields of the tiers that it may see, and all that is needed to check them offline.

A tier is shown whole or not at all, so that a bundle proves that nothing of a tier is missing. ``field_proof`` proves a
single field instead.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from leasehold_packs.passports import merkle
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.compile import Compiled
from leasehold_packs.passports.errors import invalid
from leasehold_packs.passports.pointers import order, sparse

DISCLOSURE = "leasehold-passport-disclosure/1"
#: pointer, value, salt and leaf, both in hexadecimal
ShownField = Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Five JSON documents in canonical form. The proof is over the receipt; the log is null while no head covers it."""

    payload: bytes
    receipt: bytes
    proof: bytes
    log: bytes
    disclosure: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What is the same for every reader of a version."""

    receipt: bytes
    proof: bytes
    log: bytes


def bundle(compiled: Compiled, proof: Mapping[str, Any], log: Mapping[str, Any] | None, reader: Reader) -> Bundle:
    fields = {
        tier: [
            (each.pointer, each.value, each.salt.hex(), each.leaf.hex())
            for each in compiled.fields
            if each.tier == tier
        ]
        for tier in reader.tiers
    }
    salt = compiled.payload_salt if reader.tiers == frozenset(Tier) else None
    signed = Signed(receipt=compiled.receipt, proof=canonical(proof), log=canonical(log))
    return disclosed(fields, signed, payload_salt=salt)


def disclosed(tiers: Mapping[Tier, Iterable[ShownField]], signed: Signed, *, payload_salt: bytes | None) -> Bundle:
    """What these tiers alone make: nothing of the others is needed. The salt is for who sees all of them."""
    fields = sorted(
        ((pointer, tier, value, salt, leaf) for tier, shown in tiers.items() for pointer, value, salt, leaf in shown),
        key=lambda field: order(field[0]),
    )
    payload = canonical(sparse({pointer: value for pointer, _, value, _, _ in fields}))
    parts = {"payload": payload, "receipt": signed.receipt, "proof": signed.proof, "log": signed.log}
    disclosure = {
        "format": DISCLOSURE,
        # Nothing rests on these hashes: they only tell which part was changed.
        "parts": {name: sha256(raw).hexdigest() for name, raw in parts.items()},
        "payload_salt": payload_salt.hex() if payload_salt else None,
        "fields": [[pointer, tier, salt, leaf] for pointer, tier, _, salt, leaf in fields],
    }
    return Bundle(**parts, disclosure=canonical(disclosure))


def field_proof(compiled: Compiled, pointer: str) -> dict[str, Any]:
    """One field with its way to the root of its tier, which the receipt has."""
    shown = next((each for each in compiled.fields if each.pointer == pointer), None)
    if shown is None:
        raise invalid(f"the passport has no field {pointer}")
    tier = [each for each in compiled.fields if each.tier == shown.tier]
    index = tier.index(shown)
    return {
        "pointer": pointer,
        "tier": str(shown.tier),
        "value": shown.value,
        "salt": shown.salt.hex(),
        "index": index,
        "path": [step.hex() for step in merkle.path([each.leaf for each in tier], index)],
    }
