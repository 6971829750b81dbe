"""Public keys and where they are published: a JWKS, and the document of a did:web."""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from leasehold_packs.passports import multibase
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import invalid

_ED25519_PUBLIC = b"\xed\x01"
_ED25519_PRIVATE = b"\x80\x26"
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """An Ed25519 key of an issuer. It signs from ``not_before`` until ``not_after``, and nothing since ``revoked``."""

    issuer: str
    raw: bytes
    not_before: datetime | None = None
    not_after: datetime | None = None
    revoked: datetime | None = None

    def __post_init__(self) -> None:
        if len(self.raw) != 32:
            raise invalid("an Ed25519 key has 32 bytes")

    @property
    def key_id(self) -> str:
        """The thumbprint of RFC 7638: the key names itself."""
        return _base64url(sha256(canonical({"crv": "Ed25519", "kty": "OKP", "x": _base64url(self.raw)})).digest())

    @property
    def method(self) -> str:
        return f"{self.issuer}#{self.key_id}"

    def signs_at(self, moment: datetime) -> bool:
        return (
            (self.not_before is None or self.not_before <= moment)
            and (self.not_after is None or moment <= self.not_after)
            and (self.revoked is None or moment < self.revoked)
        )

    def as_jwk(self) -> dict[str, str]:
        return {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": _base64url(self.raw),
            "kid": self.key_id,
            "alg": "EdDSA",
            "use": "sig",
        }

    def as_method(self) -> dict[str, str]:
        """A key that was revoked says so. One that only signs no more has no end: what it signed goes on to hold."""
        return {
            "id": self.method,
            "type": "Multikey",
            "controller": self.issuer,
            "publicKeyMultibase": public_multibase(self.raw),
            **({"revoked": f"{self.revoked.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"} if self.revoked else {}),
        }


def jwks(keys: Iterable[PublicKey]) -> dict[str, Any]:
    return {"keys": [key.as_jwk() for key in keys]}


def did_web(host: str, *path: str) -> str:
    """did:web:example.com%3A8443:makers:acme for the host example.com:8443 and the path makers, acme."""
    if not _HOST.fullmatch(host):
        raise invalid(f"{host!r} cannot be the host of a did:web", hint="lower case, with a port if need be")
    return ":".join(["did:web", host.replace(":", "%3A"), *(quote(part, safe="") for part in path)])


def did_document(issuer: str, keys: Iterable[PublicKey]) -> dict[str, Any]:
    methods = [key.as_method() for key in keys if key.issuer == issuer]
    return {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "id": issuer,
        "verificationMethod": methods,
        "assertionMethod": [method["id"] for method in methods],
    }


def keys_of(document: Mapping[str, Any]) -> list[PublicKey]:
    """The keys that a did document says make assertions."""
    try:
        return [
            PublicKey(
                issuer=document["id"],
                raw=public_raw(method["publicKeyMultibase"]),
                revoked=datetime.fromisoformat(method["revoked"]) if "revoked" in method else None,
            )
            for method in document["verificationMethod"]
            if method["type"] == "Multikey" and method["id"] in document["assertionMethod"]
        ]
    except (KeyError, TypeError, ValueError):
        raise invalid("this is no did document with Ed25519 keys") from None


def public_multibase(raw: bytes) -> str:
    return multibase.encode(_ED25519_PUBLIC + raw)


def public_raw(text: str) -> bytes:
    return _without(text, _ED25519_PUBLIC)


def private_raw(text: str) -> bytes:
    return _without(text, _ED25519_PRIVATE)


def _without(text: str, prefix: bytes) -> bytes:
    raw = multibase.decode(text)
    if not raw.startswith(prefix) or len(raw) != len(prefix) + 32:
        raise invalid("this is no Ed25519 key of the kind that is wanted")
    return raw.removeprefix(prefix)


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
