"""Checking of a bundle with the keys of its issuer and nothing else: every finding has a name and a place.

    PAYLOAD_CHANGED, RECEIPT_CHANGED, PROOF_CHANGED, DISCLOSURE_CHANGED    a part is not what was made
    PAYLOAD_MALFORMED, RECEIPT_MALFORMED, …                                a part is not canonical, or no such part
    SIGNATURE_INVALID, KEY_UNKNOWN, KEY_NOT_VALID, ISSUER_DIFFERS          the receipt is not signed by who it says
    TIER_INCOMPLETE                                                        a field was left out, or is of another tier
    ROOT_DIFFERS                                                           the receipt contradicts itself

Whether the passport was superseded or revoked since is not in a bundle: that is asked of its issuer.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from typing import Any

from leasehold_packs.passports import merkle
from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.bundle import DISCLOSURE, Bundle
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.compile import RECEIPT
from leasehold_packs.passports.documents import read_json
from leasehold_packs.passports.errors import Finding, PassportError
from leasehold_packs.passports.keys import PublicKey
from leasehold_packs.passports.pointers import leaves, order, pruned
from leasehold_packs.passports.proof import verifies

_HEX = re.compile(r"[0-9a-f]+")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``shown`` are the tiers that the bundle has whole. It is to be trusted only if there are no findings."""

    findings: tuple[Finding, ...]
    shown: frozenset[Tier] = frozenset()

    @property
    def ok(self) -> bool:
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    payload: Any
    receipt: dict[str, Any]
    proof: dict[str, Any]
    disclosure: dict[str, Any]
    changed: frozenset[str]

    @property
    def blamed(self) -> str:
        """Who is to blame when payload and disclosure contradict each other."""
        return "PAYLOAD_CHANGED" if "payload" in self.changed else "DISCLOSURE_CHANGED"


def verify(bundle: Bundle, keys: Iterable[PublicKey]) -> Verdict:
    """Whether one of these keys signed what the bundle shows. Nothing that a stranger sends raises."""
    parts, malformed = _parts(bundle)
    if parts is None:
        return Verdict(findings=tuple(malformed))
    findings = [
        *_signature_findings(parts, {key.method: key for key in keys}),
        *_root_findings(parts),
        *_field_findings(parts),
        *_tier_findings(parts),
    ]
    return Verdict(findings=tuple(findings or _whole_findings(parts, bundle.payload)), shown=_shown(parts))


def field_is_shown(receipt: bytes, shown: dict[str, Any]) -> bool:
    """Whether a single field (of ``bundle.field_proof``) is part of what this receipt was made for."""
    try:
        tier = read_json(receipt)["tiers"][shown["tier"]]
        leaf = merkle.field_leaf(bytes.fromhex(shown["salt"]), shown["pointer"], shown["tier"], shown["value"])
        path = [bytes.fromhex(step) for step in shown["path"]]
        top = merkle.root_of_path(leaf, index=shown["index"], size=tier["fields"], path=path)
    except (PassportError, KeyError, TypeError, ValueError):
        return False
    return top is not None and top.hex() == tier["root"]


# -- the four parts -------------------------------------------------------------------------------------------------


def _parts(bundle: Bundle) -> tuple[_Parts | None, list[Finding]]:
    raw = {"payload": bundle.payload, "receipt": bundle.receipt, "proof": bundle.proof, "disclosure": bundle.disclosure}
    found = {name: _canonical_object(each) for name, each in raw.items()}
    right = {
        "payload": found["payload"] is not None,
        "receipt": _is_receipt(found["receipt"]),
        "proof": found["proof"] is not None,
        "disclosure": _is_disclosure(found["disclosure"]),
    }
    malformed = [
        Finding(at=name, code=f"{name.upper()}_MALFORMED", message="is not in canonical form, or no such document")
        for name in raw
        if not right[name]
    ]
    if malformed:
        return None, malformed
    listed = found["disclosure"]["parts"]
    changed = frozenset(name for name in listed if sha256(raw[name]).hexdigest() != listed[name])
    return _Parts(**found, changed=changed), []


def _canonical_object(raw: bytes) -> Any:
    try:
        value = read_json(raw)
        deque(leaves(value), maxlen=0)  # raises for what is nested too deeply
        return value if isinstance(value, dict) and canonical(value) == raw else None
    except PassportError:
        return None


def _is_receipt(value: Any) -> bool:
    return (
        value is not None
        and value.get("format") == RECEIPT
        and all(isinstance(value.get(name), str) for name in ("issuer", "key_id", "version"))
        and all(_is_hex(value.get(name), 64) for name in ("payload_hash", "payload_root"))
        and isinstance(value.get("issued_at"), str)
        and _TIME.fullmatch(value["issued_at"]) is not None
        and _moment(value["issued_at"]) is not None
        and isinstance(value.get("tiers"), dict)
        and set(value["tiers"]) == set(Tier)
        and all(_is_tier(each) for each in value["tiers"].values())
    )


def _is_tier(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"fields", "root"}
        and type(value["fields"]) is int
        and _is_hex(value["root"], 64)
    )


def _is_disclosure(value: Any) -> bool:
    return (
        value is not None
        and set(value) == {"format", "parts", "payload_salt", "fields"}
        and value["format"] == DISCLOSURE
        and isinstance(value["parts"], dict)
        and set(value["parts"]) == {"payload", "receipt", "proof"}
        and all(_is_hex(each, 64) for each in value["parts"].values())
        and (value["payload_salt"] is None or _is_hex(value["payload_salt"], 2 * merkle.SALT))
        and isinstance(value["fields"], list)
        and all(_is_field(each) for each in value["fields"])
    )


def _is_field(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 4
        and isinstance(value[0], str)
        and value[1] in list(Tier)
        and _is_hex(value[2], 2 * merkle.SALT)
        and _is_hex(value[3], 64)
    )


def _is_hex(value: Any, length: int) -> bool:
    """In lower case alone, so that every hash has one spelling."""
    return isinstance(value, str) and len(value) == length and _HEX.fullmatch(value) is not None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


# -- what they say --------------------------------------------------------------------------------------------------


def _signature_findings(parts: _Parts, keys: dict[str, PublicKey]) -> Iterator[Finding]:
    method = str(parts.proof.get("verificationMethod"))
    key = keys.get(method)
    if key and verifies(parts.receipt, parts.proof, public=key.raw):
        yield from _signed_findings(parts, key)
        return
    for name in sorted(parts.changed & {"receipt", "proof"}):
        yield Finding(at=name, code=f"{name.upper()}_CHANGED", message="is not what was signed")
    if parts.changed & {"receipt", "proof"}:
        return
    if key is None:
        yield Finding(at="proof", code="KEY_UNKNOWN", message=f"none of the keys is {method[:200]}")
    else:
        yield Finding(at="proof", code="SIGNATURE_INVALID", message="the key did not sign this receipt")


def _signed_findings(parts: _Parts, key: PublicKey) -> Iterator[Finding]:
    if parts.changed & {"receipt", "proof"}:
        yield Finding(at="disclosure", code="DISCLOSURE_CHANGED", message="has other hashes than those of the parts")
    if key.method != f"{parts.receipt['issuer']}#{parts.receipt['key_id']}":
        yield Finding(at="receipt", code="ISSUER_DIFFERS", message="names another issuer or key than the proof")
    if not key.signs_at(datetime.fromisoformat(parts.receipt["issued_at"])):
        yield Finding(at="proof", code="KEY_NOT_VALID", message="the key was not valid when the passport was issued")


def _root_findings(parts: _Parts) -> Iterator[Finding]:
    tiers = {Tier(tier): (each["fields"], bytes.fromhex(each["root"])) for tier, each in parts.receipt["tiers"].items()}
    if merkle.join(tiers).hex() != parts.receipt["payload_root"]:
        yield Finding(at="receipt", code="ROOT_DIFFERS", message="the roots of the tiers do not make the root")


def _field_findings(parts: _Parts) -> Iterator[Finding]:
    values = dict(leaves(parts.payload)) if parts.payload else {}
    pointers = [pointer for pointer, *_ in parts.disclosure["fields"]]
    if any(order(one) >= order(next_) for one, next_ in pairwise(pointers)):
        yield Finding(at="disclosure", code="DISCLOSURE_CHANGED", message="its fields are not in order")
    for pointer, tier, salt, leaf in parts.disclosure["fields"]:
        if pointer not in values:
            yield Finding(at=pointer, code=parts.blamed, message="is missing from the payload")
        elif merkle.field_leaf(bytes.fromhex(salt), pointer, tier, values[pointer]).hex() != leaf:
            yield Finding(at=pointer, code=parts.blamed, message="has another value or salt than was compiled")
    yield from _extra_findings(parts, values, frozenset(pointers))


def _extra_findings(parts: _Parts, values: dict[str, Any], pointers: frozenset[str]) -> Iterator[Finding]:
    """Null may stand for hidden elements of a list; whatever else is not among the fields was put there."""
    extra = [pointer for pointer, value in values.items() if pointer not in pointers and value is not None]
    for pointer in extra:
        yield Finding(at=pointer, code=parts.blamed, message="is in the payload and not among the fields")
    if not extra and pruned(parts.payload, pointers) != parts.payload:
        yield Finding(at="payload", code=parts.blamed, message="has places for fields that are not there")


def _tier_findings(parts: _Parts) -> Iterator[Finding]:
    for tier, expected in parts.receipt["tiers"].items():
        listed = _listed(parts, tier)
        if not listed and tier != Tier.PUBLIC:
            continue
        if len(listed) != expected["fields"] or merkle.root(listed).hex() != expected["root"]:
            yield Finding(at=tier, code="TIER_INCOMPLETE", message="its fields are not those of the receipt")


def _whole_findings(parts: _Parts, payload: bytes) -> Iterator[Finding]:
    """What is left when everything else fits: the payload as a whole, and the hashes of the parts."""
    salt = parts.disclosure["payload_salt"]
    expected = parts.receipt["payload_hash"]
    if salt and merkle.commitment(bytes.fromhex(salt), sha256(payload).hexdigest()) != expected:
        yield Finding(at="disclosure", code=parts.blamed, message="the payload as a whole is not what was compiled")
    elif parts.changed:
        yield Finding(at="disclosure", code="DISCLOSURE_CHANGED", message="has other hashes than those of the parts")


def _shown(parts: _Parts) -> frozenset[Tier]:
    return frozenset(tier for tier in Tier if len(_listed(parts, tier)) == parts.receipt["tiers"][tier]["fields"])


def _listed(parts: _Parts, tier: str) -> list[bytes]:
    return [bytes.fromhex(leaf) for _, other, _, leaf in parts.disclosure["fields"] if other == tier]
