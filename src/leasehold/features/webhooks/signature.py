"""Signing and checking of webhooks, in four schemes. Pure but for the clock; Ed25519 needs the extra ``ed25519``.

    STANDARD      webhook-signature: v1,<base64> …      over id.timestamp.body     Standard Webhooks
    TIMESTAMPED   Stripe-Signature: t=…,v1=<hex>,…      over timestamp.body
    SLACK         X-Slack-Signature: v0=<hex>           over v0:timestamp:body
    PLAIN         X-Hub-Signature-256: sha256=<hex>     over the body              says nothing about when

Header names are part of a scheme: ``replace(TIMESTAMPED, signature="X-Shop-Signature")``.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets as random_secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from leasehold.errors import BadInput, BadSignature

#: Seconds that a message may be old, or from the future.
TOLERANCE = 300
#: A header with more is an attempt to make us work.
MAX_SIGNATURES = 32

_SECRET, _PRIVATE, _PUBLIC = "whsec_", "whsk_", "whpk_"
_DIGITS = re.compile(r"[0-9]{1,12}")
_ID = re.compile(r"[\x21-\x2d\x2f-\x7e]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """How a signature is written and what it is over."""

    name: str
    signature: str
    message_id: str | None = None
    timestamp: str | None = None


STANDARD = Scheme(
    name="standard", signature="webhook-signature", message_id="webhook-id", timestamp="webhook-timestamp"
)
TIMESTAMPED = Scheme(name="timestamped", signature="Stripe-Signature")
SLACK = Scheme(name="slack", signature="X-Slack-Signature", timestamp="X-Slack-Request-Timestamp")
PLAIN = Scheme(name="plain", signature="X-Hub-Signature-256")


def sign(
    body: bytes, *, secrets: Sequence[str], message_id: str, timestamp: int, scheme: Scheme = STANDARD
) -> dict[str, str]:
    """The headers to send with exactly these bytes.

    All live secrets sign, so that receivers can change theirs; where there is room for one signature, the first.
    """
    if not secrets:
        raise BadInput("there is no secret to sign with")
    if not _ID.fullmatch(message_id):
        raise BadInput(f"{message_id!r} cannot be the id of a message", hint="visible ASCII without a dot, at most 256")
    headers = {scheme.signature: _WRITERS[scheme.name](body, secrets, message_id, timestamp)}
    if scheme.message_id:
        headers[scheme.message_id] = message_id
    if scheme.timestamp:
        headers[scheme.timestamp] = str(timestamp)
    return headers


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    scheme: Scheme = STANDARD,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> None:
    """Return if a secret signed these bytes now, else raise BadSignature. ``body`` is what came, before any parsing."""
    found = _by_name(headers)
    signature = _required(found, scheme.signature)
    message_id = _required(found, scheme.message_id) if scheme.message_id else ""
    stamp = _required(found, scheme.timestamp) if scheme.timestamp else _stamp_inside(signature, scheme)
    if stamp is not None:
        _check_time(stamp, tolerance=tolerance, now=time.time() if now is None else now)
    secrets = [secret] if isinstance(secret, str) else secret
    if not _READERS[scheme.name](body, secrets, message_id, stamp or "", signature):
        raise BadSignature(
            "none of the signatures fits the body", hint="check the secret, and that the body is the bytes as they came"
        )


def _by_name(headers: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers.items():
        if found.setdefault(name.lower(), value) != value:
            raise BadSignature(f"the header {name} is there twice")
    return found


def _required(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name.lower())
    if not value:
        raise BadSignature(f"the header {name} is missing")
    return value


def _check_time(stamp: str, *, tolerance: float, now: float) -> None:
    if not _DIGITS.fullmatch(stamp):  # int() would also read " 1", "+1", "1_0" and digits of other scripts
        raise BadSignature("the timestamp is not a number of seconds")
    if abs(now - int(stamp)) > tolerance:
        raise BadSignature(
            f"the message is more than {tolerance:g} s old, or from the future", hint="check the clocks of both sides"
        )


# -- Standard Webhooks ----------------------------------------------------------------------------------------------


def _write_standard(body: bytes, secrets: Sequence[str], message_id: str, timestamp: int) -> str:
    content = _standard_content(body, message_id, str(timestamp))
    return " ".join(_standard_signature(content, secret) for secret in secrets)


def _standard_signature(content: bytes, secret: str) -> str:
    if secret.startswith(_PRIVATE):
        return f"v1a,{_base64(ed25519_sign(_key(secret, _PRIVATE)[:32], content))}"
    return f"v1,{_base64(hmac_sha256(_key(secret, _SECRET), content))}"


def _read_standard(body: bytes, secrets: Iterable[str], message_id: str, stamp: str, header: str) -> bool:
    content = _standard_content(body, message_id, stamp)
    given = [tuple(part.split(",", 1)) for part in header.split(" ")[:MAX_SIGNATURES] if "," in part]
    return any(_fits_standard(content, secret, given) for secret in secrets)


def _fits_standard(content: bytes, secret: str, given: list[tuple[str, ...]]) -> bool:
    if secret.startswith(_PUBLIC):
        public = _key(secret, _PUBLIC)
        signatures = [_unbase64(text) for version, text in given if version == "v1a"]
        return any(ed25519_verifies(public, content, signature) for signature in signatures)
    expected = _base64(hmac_sha256(_key(secret, _SECRET), content))
    return _any_same(expected, [text for version, text in given if version == "v1"])


def _standard_content(body: bytes, message_id: str, stamp: str) -> bytes:
    if not _ID.fullmatch(message_id):  # with a dot in it, two messages could have the same content
        raise BadSignature("the id of the message has characters that ids cannot have")
    return b".".join((message_id.encode(), stamp.encode(), body))


# -- the others: the secret is used as it is written ----------------------------------------------------------------


def _write_timestamped(body: bytes, secrets: Sequence[str], message_id: str, timestamp: int) -> str:
    content = b"%d.%s" % (timestamp, body)
    return ",".join([f"t={timestamp}", *(f"v1={_hex(secret, content)}" for secret in secrets)])


def _read_timestamped(body: bytes, secrets: Iterable[str], message_id: str, stamp: str, header: str) -> bool:
    content = b"%s.%s" % (stamp.encode(), body)
    return _any_hex(secrets, content, _values(header, "v1"))


def _stamp_inside(header: str, scheme: Scheme) -> str | None:
    if scheme.name != TIMESTAMPED.name:
        return None
    stamps = _values(header, "t")
    if len(stamps) != 1:
        raise BadSignature(f"the header {scheme.signature} does not have one timestamp")
    return stamps[0]


def _write_slack(body: bytes, secrets: Sequence[str], message_id: str, timestamp: int) -> str:
    return f"v0={_hex(secrets[0], b'v0:%d:%s' % (timestamp, body))}"


def _read_slack(body: bytes, secrets: Iterable[str], message_id: str, stamp: str, header: str) -> bool:
    return _any_hex(secrets, b"v0:%s:%s" % (stamp.encode(), body), _values(header, "v0"))


def _write_plain(body: bytes, secrets: Sequence[str], message_id: str, timestamp: int) -> str:
    return f"sha256={_hex(secrets[0], body)}"


def _read_plain(body: bytes, secrets: Iterable[str], message_id: str, stamp: str, header: str) -> bool:
    return _any_hex(secrets, body, _values(header, "sha256"))


def _values(header: str, name: str) -> list[str]:
    pairs = [part.strip().partition("=") for part in header.split(",")[:MAX_SIGNATURES]]
    return [value for key, _, value in pairs if key == name]


_WRITERS: dict[str, Callable[[bytes, Sequence[str], str, int], str]] = {
    "standard": _write_standard,
    "timestamped": _write_timestamped,
    "slack": _write_slack,
    "plain": _write_plain,
}
_READERS: dict[str, Callable[[bytes, Iterable[str], str, str, str], bool]] = {
    "standard": _read_standard,
    "timestamped": _read_timestamped,
    "slack": _read_slack,
    "plain": _read_plain,
}


def new_secret() -> str:
    """A secret that both sides have."""
    return _SECRET + _base64(random_secrets.token_bytes(32))


def new_pair() -> tuple[str, str]:
    """A private key to sign with, and the public one that receivers verify with."""
    with _cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    return _PRIVATE + _base64(private.private_bytes_raw()), _PUBLIC + _base64(private.public_key().public_bytes_raw())


# -- keys and digests -----------------------------------------------------------------------------------------------


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, hashlib.sha256)


def _hex(secret: str, content: bytes) -> str:
    return hmac_sha256(secret.encode(), content).hex()


def _any_hex(secrets: Iterable[str], content: bytes, given: list[str]) -> bool:
    return any(_any_same(_hex(secret, content), given) for secret in secrets)


def _any_same(expected: str, given: list[str]) -> bool:
    # As bytes: compare_digest raises for text that is not ASCII.
    return any(hmac.compare_digest(expected.encode(), text.encode("utf-8", "surrogatepass")) for text in given)


def _key(secret: str, prefix: str) -> bytes:
    key = _unbase64(secret.removeprefix(prefix))
    if not key:
        raise BadInput(f"the secret is not {prefix} and base64", hint="copy it whole from the endpoint's settings")
    return key


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _unbase64(text: str) -> bytes:
    """Empty for what is no base64: it fits nothing."""
    try:
        return base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, UnicodeError):
        return b""


def ed25519_sign(seed: bytes, content: bytes) -> bytes:
    with _cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        return Ed25519PrivateKey.from_private_bytes(seed).sign(content)
    except ValueError:
        raise BadInput(f"the private key is not {_PRIVATE} and base64 of 32 or 64 bytes") from None


def ed25519_verifies(public: bytes, content: bytes, signature: bytes) -> bool:
    with _cryptography():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


@contextmanager
def _cryptography() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise BadInput("Ed25519 needs a library that is not here", hint="pip install 'leasehold[ed25519]'") from None
