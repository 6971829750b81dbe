"""Many bundles as one file to keep: a folder for each version, the keys of the issuer, and a program that checks all.

It is written piece by piece, so that only what was not taken yet is held. Pure.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leasehold import csv_line
from leasehold_packs.passports.bundle import Bundle
from leasehold_packs.passports.bundle_zip import PARTS, keys_from, keys_json, opened, put, read, verifier
from leasehold_packs.passports.keys import PublicKey

INDEX = "index.csv"
_COLUMNS = ("folder", "passport", "name", "gtin", "serial", "version", "number", "state", "issued_at")
_README = """Battery passports, or the parts of them that their reader may see.

index.csv        what is here: a line for each version
<passport>/<number>/payload.json, receipt.json, proof.json, log.json, disclosure.json
keys.json        the keys of the issuer. They came with this file: compare them with the did document of the issuer
verify.py        python verify.py checks all of it without a network (needs Python 3.11 and cryptography)

leasehold passports verify THIS.zip does the same.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Which version a bundle is of."""

    passport_id: UUID
    name: str
    gtin: str | None
    serial: str
    version_id: UUID
    number: int
    state: str
    issued_at: str

    @property
    def folder(self) -> str:
        return f"{self.passport_id}/{self.number}"


class Archive:
    """Every call gives the bytes that follow those of the call before."""

    def __init__(self, keys: Iterable[PublicKey]) -> None:
        self.size = 0
        self.entries = 0
        self._out = _Pieces()
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED)
        self._index = [csv_line(_COLUMNS)]
        put(self._zip, {"README.txt": _README.encode(), "keys.json": keys_json(keys), "verify.py": verifier()})

    def add(self, entry: Entry, bundle: Bundle) -> bytes:
        put(self._zip, {f"{entry.folder}/{name}.json": getattr(bundle, name) for name in PARTS})
        about = (entry.passport_id, entry.name, entry.gtin, entry.serial, entry.version_id, entry.number, entry.state)
        self._index.append(csv_line((entry.folder, *about, entry.issued_at)))
        self.entries += 1
        return self._taken()

    def end(self) -> bytes:
        put(self._zip, {INDEX: "".join(self._index).encode()})
        self._zip.close()
        return self._taken()

    def _taken(self) -> bytes:
        taken = self._out.taken()
        self.size += len(taken)
        return taken


class _Pieces(io.RawIOBase):
    """A file that cannot be read or gone back in, which is all that a zip needs."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def taken(self) -> bytes:
        taken = bytes(self._held)
        self._held.clear()
        return taken


def is_archive(raw: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return INDEX in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return False


def bundles_in(raw: bytes) -> Iterator[tuple[str, Bundle, list[PublicKey]]]:
    """The folder, bundle and keys of each version, one after the other."""
    with opened(raw) as archive:
        keys = keys_from(archive.read("keys.json"))
        ends = [name for name in archive.namelist() if name.endswith("/receipt.json")]
        for folder in (name.removesuffix("/receipt.json") for name in ends):
            parts = read(archive, {part: f"{folder}/{part}.json" for part in PARTS}, what=folder)
            yield folder, Bundle(**parts), keys
