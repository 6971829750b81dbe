"""API keys: ``lh_<env>_<id>_<secret><checksum>``. How one is made, taken apart and compared; no database here.

The tokens of people's sessions and login links have the same form, with a word of their own in the place of ``env``.

The checksum tells a typing error or junk from a key without asking anybody. The id finds the key's row. Of the key
itself only its HMAC under a pepper is kept: a secret of 256 random bits needs no slow hash.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID = 22
_SECRET = 43
_CHECKSUM = 6
_KEY = re.compile(rf"lh_([a-z0-9]{{1,12}})_([0-9A-Za-z]{{{_ID}}})_[0-9A-Za-z]{{{_SECRET + _CHECKSUM}}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A whole key. ``text`` is the secret: show it once and keep it nowhere."""

    env: str
    key_id: str
    text: str = field(repr=False)


def make(env: str, *, key_id: str | None = None) -> Key:
    """A new key; with an id, another one in the place of the key that has it."""
    key_id = key_id or _random(_ID)
    body = f"lh_{env}_{key_id}_{_random(_SECRET)}"
    return Key(env=env, key_id=key_id, text=body + _checksum(body))


def parse(text: str) -> Key | None:
    """The parts of a key, or None for what cannot be one."""
    found = _KEY.fullmatch(text)
    if found is None or _checksum(text[:-_CHECKSUM]) != text[-_CHECKSUM:]:
        return None
    return Key(env=found[1], key_id=found[2], text=text)


@dataclass(frozen=True, slots=True)
class Peppers:
    """The secrets that digests are made with: the first for new keys, the others for keys that were made before it."""

    values: Sequence[str] = field(repr=False)

    @property
    def newest(self) -> str:
        return pepper_id(self.values[0])

    def digest(self, key: Key, pepper: str) -> bytes:
        """The digest of a key under the pepper of this id; under the newest where that one is not known."""
        return hmac.digest(self._of(pepper) or self._newest, key.text.encode(), "sha256")

    def derived(self, key: Key, pepper: str, purpose: str) -> str:
        """Another secret, which only whoever has the key can know, and which does not tell the key."""
        text = f"leasehold {purpose}\0{key.text}"
        return hmac.digest(self._of(pepper) or self._newest, text.encode(), "sha256").hex()

    def signing_key(self, pepper: str) -> bytes | None:
        """What tokens are signed with that carry no secret of their own; None for a pepper that is not known."""
        found = self._of(pepper)
        return hmac.digest(found, b"leasehold tokens", "sha256") if found else None

    def fits(self, key: Key, digest: bytes, pepper: str) -> bool:
        """Whether the digest is this key's; takes the same time whatever differs."""
        return hmac.compare_digest(self.digest(key, pepper), digest)

    @property
    def _newest(self) -> bytes:
        return self.values[0].encode()

    def _of(self, pepper: str) -> bytes | None:
        return next((value.encode() for value in self.values if pepper_id(value) == pepper), None)


def pepper_id(pepper: str) -> str:
    return hashlib.sha256(b"leasehold pepper\0" + pepper.encode()).hexdigest()[:12]


def _random(length: int) -> str:
    return "".join(secrets.choice(_DIGITS) for _ in range(length))


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(_CHECKSUM):
        number, digit = divmod(number, 62)
        digits = _DIGITS[digit] + digits
    return digits


def ticket_digest(ticket: str) -> bytes:
    """Of a ticket for one stream, only this is stored."""
    return hashlib.sha256(ticket.encode("utf-8", "backslashreplace")).digest()
