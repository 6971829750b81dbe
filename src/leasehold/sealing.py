"""Sealing of tenants' secrets: AES-256-GCM under a random key for each secret, which is sealed under a key of ours.

Pure. What is sealed is bound to its tenant and its name: a row that is moved to another place does not open there. The
keys of the installation are not in the database. To change them, only the wrapped keys are sealed anew.
"""

import base64
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from leasehold.errors import BadInput, Conflict
from leasehold.redact import MIN_LITERAL

MAX_LENGTH = 65_536
_NONCE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A secret as the database keeps it: ``wrapped`` is its own key under the key ``key_id``, ``box`` is the value."""

    tenant_id: UUID
    name: str
    key_id: str
    wrapped: bytes = field(repr=False)
    box: bytes = field(repr=False)


class Keys:
    """The keys of the installation, newest first: the first one seals, all of them open."""

    __slots__ = ("_keys", "_links", "newest")

    def __init__(self, texts: Sequence[str]) -> None:
        self._keys = {_key_id(text): _derived(text, b"leasehold secrets") for text in texts}
        self._links = {_key_id(text): _derived(text, b"leasehold links") for text in texts}
        self.newest = _key_id(texts[0])

    def __repr__(self) -> str:
        return f"Keys({', '.join(self._keys)})"

    def sign(self, about: str) -> str:
        """A mark that only whoever has these keys can make."""
        return _mark(self._links[self.newest], about)

    def has_signed(self, about: str, mark: str) -> bool:
        given = mark.encode("utf-8", "replace")
        return any(hmac.compare_digest(_mark(key, about).encode(), given) for key in self._links.values())

    def seal(self, value: str, *, tenant: UUID, name: str) -> Sealed:
        raw = value.encode()
        if len(value) < MIN_LITERAL or len(raw) > MAX_LENGTH:
            raise BadInput(
                f"a secret has {MIN_LITERAL} characters to {MAX_LENGTH} bytes",
                hint="a shorter one could not be told from ordinary words in a log",
            )
        own = AESGCM.generate_key(256)
        box = _encrypt(own, raw, _about(tenant, name))
        return self._wrapped(Sealed(tenant_id=tenant, name=name, key_id="", wrapped=b"", box=box), own)

    def open(self, sealed: Sealed) -> str:
        return _decrypt(self._own_key(sealed), sealed.box, _about(sealed.tenant_id, sealed.name), sealed).decode()

    def rewrap(self, sealed: Sealed) -> Sealed:
        """The same under the newest key. The box stays as it is, and need not be there."""
        return self._wrapped(sealed, self._own_key(sealed))

    def _wrapped(self, sealed: Sealed, own: bytes) -> Sealed:
        sealed = replace(sealed, key_id=self.newest)
        return replace(sealed, wrapped=_encrypt(self._keys[self.newest], own, _wrapping(sealed)))

    def _own_key(self, sealed: Sealed) -> bytes:
        if sealed.key_id not in self._keys:
            raise Conflict(
                f"{sealed.name} was sealed with the key {sealed.key_id}, which is not here",
                hint=f"add it to LEASEHOLD_SECRET_KEYS (there: {', '.join(self._keys)}), or set the secret again",
            )
        return _decrypt(self._keys[sealed.key_id], sealed.wrapped, _wrapping(sealed), sealed)


def _about(tenant: UUID, name: str) -> bytes:
    return b"leasehold secret\0" + tenant.bytes + name.encode()


def _wrapping(sealed: Sealed) -> bytes:
    return b"%s\0%s" % (sealed.key_id.encode(), _about(sealed.tenant_id, sealed.name))


def _encrypt(key: bytes, raw: bytes, about: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, raw, about)


def _decrypt(key: bytes, box: bytes, about: bytes, sealed: Sealed) -> bytes:
    try:
        return AESGCM(key).decrypt(box[:_NONCE], box[_NONCE:], about)
    except (InvalidTag, ValueError):
        raise Conflict(
            f"{sealed.name} does not open: it was changed, or belongs elsewhere", hint="set the secret again"
        ) from None


def _mark(key: bytes, about: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(key, about.encode(), "sha256")).decode().rstrip("=")


def _derived(text: str, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(text.encode())


def _key_id(text: str) -> str:
    return sha256(b"leasehold secret key\0" + text.encode()).hexdigest()[:12]
