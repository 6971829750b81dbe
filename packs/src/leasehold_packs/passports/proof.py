"""Data Integrity proofs with ``eddsa-jcs-2022``: Ed25519 over SHA-256(JCS(options)) ‖ SHA-256(JCS(document)).

Ed25519 needs no random numbers: signing again after a crash gives the same proof.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from leasehold_packs.passports import multibase
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import Code, PassportError, invalid

SUITE = "eddsa-jcs-2022"
#: What is told of a proof, by the names of Data Integrity; others add their own.
Proof = Mapping[str, Any]


def whole_second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)


def options(*, method: str, created: datetime) -> Proof:
    """What a proof says of itself. ``created`` is given, not asked of a clock, so that a retry signs the same."""
    return {
        "type": "DataIntegrityProof",
        "cryptosuite": SUITE,
        "created": timestamp(created),
        "verificationMethod": method,
        "proofPurpose": "assertionMethod",
    }


def sign(document: Mapping[str, Any], about: Proof, *, seed: bytes | None) -> Proof:
    """The proof of the document, made with the 32 bytes of a private key."""
    if seed is None:
        raise PassportError(Code.SIGNING_KEY_MISSING, "there is no key to sign with", hint="make one for this issuer")
    if len(seed) != 32:
        raise invalid("an Ed25519 private key has 32 bytes")
    config = _config(document, about)
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(signed_bytes(document, config))
    return {**config, "proofValue": multibase.encode(signature)}


def verifies(document: Mapping[str, Any], proof: Mapping[str, Any], *, public: bytes) -> bool:
    """Whether this key made this proof of this document. Nothing that a stranger sends raises."""
    about = {name: value for name, value in proof.items() if name != "proofValue"}
    if about.get("type") != "DataIntegrityProof" or about.get("cryptosuite") != SUITE:
        return False
    if about.get("proofPurpose") != "assertionMethod" or not _same_context(document, about):
        return False
    try:
        signature = multibase.decode(str(proof.get("proofValue")))
        content = signed_bytes(_in_context(document, about), about)
    except PassportError:
        return False
    return signature_fits(public, content, signature)


def signature_fits(public: bytes, content: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def signed_bytes(document: Mapping[str, Any], config: Mapping[str, Any]) -> bytes:
    unsecured = {name: value for name, value in document.items() if name != "proof"}
    return sha256(canonical(dict(config))).digest() + sha256(canonical(unsecured)).digest()


def timestamp(moment: datetime) -> str:
    """Whole seconds in UTC, as in 2027-02-18T00:00:00Z."""
    if moment.tzinfo is None or moment.microsecond:
        raise invalid("a time of a passport has a zone and whole seconds")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _config(document: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    context = {"@context": document["@context"]} if "@context" in document else {}
    return {**about, **context}


def _same_context(document: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """A document may have got more contexts since, but those that were signed come first."""
    if "@context" not in about:
        return True
    signed, there = _listed(about["@context"]), _listed(document.get("@context"))
    return there[: len(signed)] == signed


def _in_context(document: Mapping[str, Any], about: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**document, "@context": about["@context"]} if "@context" in about else document


def _listed(context: Any) -> list[Any]:
    return context if isinstance(context, list) else [context]
