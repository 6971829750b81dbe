"""Checking of a bundle with the keys of its issuer and nothing else: every finding has a name and a place.

    PAYLOAD_CHANGED, RECEIPT_CHANGED, PROOF_CHANGED, LOG_CHANGED, DISCLOSURE_CHANGED    a part is not what was made
    PAYLOAD_MALFORMED, RECEIPT_MALFORMED, …                                a part is not canonical, or no such part
    SIGNATURE_INVALID, KEY_UNKNOWN, KEY_NOT_VALID, ISSUER_DIFFERS          the receipt is not signed by who it says
    TIER_INCOMPLETE                                                        a field was left out, or is of another tier
    ROOT_DIFFERS                                                           the receipt contradicts itself
    LOG_MISSING, LOG_EXCLUDES, LOG_HEAD_INVALID                            the issuer's log does not have the receipt

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

from leasehold_packs.passports import log, merkle
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
    log: dict[str, Any] | None
    disclosure: dict[str, Any]
    raw: dict[str, bytes]
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
    by_method = {key.method: key for key in keys}
    findings = [
        *_signature_findings(parts, by_method),
        *_log_findings(parts, by_method),
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


# -- the parts ------------------------------------------------------------------------------------------------------


def _parts(bundle: Bundle) -> tuple[_Parts | None, list[Finding]]:
    raw = {name: getattr(bundle, name) for name in ("payload", "receipt", "proof", "log", "disclosure")}
    found = {name: _canonical_object(each) for name, each in raw.items()}
    right = {
        "payload": found["payload"] is not None,
        "receipt": _is_receipt(found["receipt"]),
        "proof": found["proof"] is not None,
        "log": raw["log"] == b"null" or _is_log(found["log"]),
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
    return _Parts(**found, raw=raw, changed=changed), []


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
        and _is_time(value.get("issued_at"))
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


def _is_log(value: Any) -> bool:
    return (
        value is not None
        and set(value) == {"format", "index", "path", "head"}
        and value["format"] == log.FORMAT
        and type(value["index"]) is int
        and isinstance(value["path"], list)
        and len(value["path"]) < 64
        and all(_is_hex(each, 64) for each in value["path"])
        and is_head(value["head"])
    )


def is_head(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("format") == log.HEAD
        and isinstance(value.get("issuer"), str)
        and type(value.get("size")) is int
        and 0 < value["size"] < 2**53
        and _is_hex(value.get("root"), 64)
        and _is_time(value.get("at"))
        and isinstance(value.get("proof"), dict)
    )


def _is_disclosure(value: Any) -> bool:
    return (
        value is not None
        and set(value) == {"format", "parts", "payload_salt", "fields"}
        and value["format"] == DISCLOSURE
        and isinstance(value["parts"], dict)
        and set(value["parts"]) == {"payload", "receipt", "proof", "log"}
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


def _is_time(value: Any) -> bool:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


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


def _log_findings(parts: _Parts, keys: dict[str, PublicKey]) -> Iterator[Finding]:
    if parts.log is None:
        yield Finding(at="log", code="LOG_MISSING", message="the bundle does not show its place in the issuer's log")
        return
    found = [*head_findings(parts.log["head"], keys), *_place_findings(parts, parts.log)]
    if found and "log" in parts.changed:
        yield Finding(at="log", code="LOG_CHANGED", message="is not what was bundled")
    yield from found


def _place_findings(parts: _Parts, entry: dict[str, Any]) -> Iterator[Finding]:
    head = entry["head"]
    if head["issuer"] != parts.receipt["issuer"]:
        yield Finding(at="log", code="ISSUER_DIFFERS", message="is the log of another issuer")
    leaf = log.leaf(parts.raw["receipt"], parts.raw["proof"])
    path = [bytes.fromhex(step) for step in entry["path"]]
    root = merkle.root_of_path(leaf, index=entry["index"], size=head["size"], path=path)
    # A receipt or proof that is not what was signed is in no log, and is named already.
    if not parts.changed & {"receipt", "proof"} and (root is None or root.hex() != head["root"]):
        yield Finding(at="log", code="LOG_EXCLUDES", message="its head does not cover this receipt and proof")


def head_findings(head: dict[str, Any], keys: dict[str, PublicKey]) -> Iterator[Finding]:
    """Whether a key of the issuer signed the head, at a time when it could."""
    method = str(head["proof"].get("verificationMethod"))
    key = keys.get(method)
    if key is None:
        yield Finding(at="log", code="KEY_UNKNOWN", message=f"none of the keys is {method[:200]}")
    elif key.issuer != head["issuer"] or not verifies(head, head["proof"], public=key.raw):
        yield Finding(at="log", code="LOG_HEAD_INVALID", message="the key did not sign this head")
    elif not key.signs_at(datetime.fromisoformat(head["at"])):
        yield Finding(at="log", code="KEY_NOT_VALID", message="the key was not valid when the head was signed")


def consistency_findings(shown: Any, keys: Iterable[PublicKey]) -> list[Finding]:
    """Whether two heads are signed, and the newer log begins with all of the older. Nothing raises."""
    if not _is_consistency(shown):
        return [Finding(at="", code="LOG_MALFORMED", message="this is no proof of consistency")]
    by_method, first, second = {key.method: key for key in keys}, shown["first"], shown["second"]
    found = [*head_findings(first, by_method), *head_findings(second, by_method)]
    holds = merkle.is_consistent(
        first=first["size"],
        first_root=bytes.fromhex(first["root"]),
        second=second["size"],
        second_root=bytes.fromhex(second["root"]),
        path=[bytes.fromhex(step) for step in shown["path"]],
    )
    if not holds or first["issuer"] != second["issuer"]:
        words = f"the log of {second['size']} leaves does not begin with the one of {first['size']}"
        found.append(Finding(at="log", code="LOG_INCONSISTENT", message=words))
    return found


def _is_consistency(shown: Any) -> bool:
    return (
        isinstance(shown, dict)
        and shown.get("format") == log.CONSISTENCY
        and is_head(shown.get("first"))
        and is_head(shown.get("second"))
        and isinstance(shown.get("path"), list)
        and len(shown["path"]) < 128
        and all(_is_hex(each, 64) for each in shown["path"])
    )


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
