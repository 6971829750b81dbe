"""A bundle as a file to keep: its five parts, the keys of the issuer, and a program that checks them."""

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.resources import files
from typing import Any

from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.errors import invalid
from leasehold_packs.passports.keys import PublicKey, public_multibase, public_raw

PARTS = ("payload", "receipt", "proof", "log", "disclosure")
MAX_BYTES = 16 * 2**20
_README = """A battery passport, or the part of it that its reader may see.

payload.json     what it says
receipt.json     what was signed: the hash of every field, in trees, one for each tier
proof.json       the signature (Data Integrity, eddsa-jcs-2022)
log.json         its place in the log of the issuer, and a signed head of that log
disclosure.json  the salts of the fields in payload.json, so that their hashes can be made again
keys.json        the keys of the issuer. They came with the bundle: compare them with the did document of the issuer
verify.py        python verify.py checks all of it without a network (needs Python 3.11 and cryptography)

leasehold passports verify THIS.zip does the same.
"""


def zipped(bundle: Bundle, keys: Iterable[PublicKey]) -> bytes:
    """The same bytes for the same bundle and keys."""
    parts = {f"{name}.json": getattr(bundle, name) for name in PARTS}
    parts["keys.json"] = keys_json(keys)
    parts["README.txt"] = _README.encode()
    parts["verify.py"] = verifier()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        put(archive, parts)
    return out.getvalue()


def put(archive: zipfile.ZipFile, members: Mapping[str, bytes]) -> None:
    """Under a date that never changes."""
    for name, raw in members.items():
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), raw, zipfile.ZIP_DEFLATED)


def verifier() -> bytes:
    """The program that checks bundles alone."""
    return (files(__package__) / "verify_standalone.py").read_bytes()


def unzipped(raw: bytes, *, check: Callable[[bytes], None] | None = None) -> tuple[Bundle, list[PublicKey]]:
    """``check`` may refuse the parts before they are parsed."""
    with opened(raw) as archive:
        parts = read(archive, {name: f"{name}.json" for name in (*PARTS, "keys")}, what="the bundle")
    if check:
        check(b",".join(parts.values()))
    return Bundle(**{name: parts[name] for name in PARTS}), keys_from(parts["keys"])


@contextmanager
def opened(raw: bytes) -> Iterator[zipfile.ZipFile]:
    """A file that a stranger calls a zip: whatever is wrong with it, it is no bundle."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            yield archive
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, zlib.error):
        raise invalid("this is no bundle of a passport", hint="a .zip with payload.json, receipt.json, …") from None


def read(archive: zipfile.ZipFile, members: Mapping[str, str], *, what: str) -> dict[str, bytes]:
    """Members by our names. What they unpack to is bounded before anything of it is read."""
    if sum(archive.getinfo(member).file_size for member in members.values()) > MAX_BYTES:
        raise invalid(f"{what} is larger than {MAX_BYTES} bytes")
    return {name: archive.read(member) for name, member in members.items()}


def keys_json(keys: Iterable[PublicKey]) -> bytes:
    return json.dumps([_key_json(key) for key in keys], indent=2).encode()


def keys_from(raw: bytes) -> list[PublicKey]:
    """Keys as a bundle has them."""
    try:
        return [_key(each) for each in json.loads(raw)]
    except (ValueError, KeyError, TypeError):
        raise invalid("keys.json has no keys that we know") from None


def _key_json(key: PublicKey) -> dict[str, Any]:
    return {
        "issuer": key.issuer,
        "publicKeyMultibase": public_multibase(key.raw),
        "not_before": _text(key.not_before),
        "not_after": _text(key.not_after),
        "revoked": _text(key.revoked),
    }


def _key(each: dict[str, Any]) -> PublicKey:
    moments = {name: _moment(each[name]) for name in ("not_before", "not_after", "revoked")}
    return PublicKey(issuer=each["issuer"], raw=public_raw(each["publicKeyMultibase"]), **moments)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
