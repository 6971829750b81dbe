"""What is printed on a battery: a GS1 Digital Link or a plain address as a QR code, in SVG or PNG.

The text of the integrity check BPC-QR-1 is there for those who print it; for a label it is long (QR version 10).
"""

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote
from uuid import UUID

import segno

from leasehold_packs.passports.errors import invalid, too_large

#: Modules of white around the symbol, without which readers may not find it.
QUIET_ZONE = 4
#: What the largest symbol of level Q has room for, in bytes.
_MOST_BYTES = 1_663
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
_GTIN = re.compile(r"[0-9]{8}|[0-9]{12,14}")
# GS1 General Specifications: a serial number has up to 20 characters of this set.
_SERIAL = re.compile(r"[!\"%&'()*+,\-./0-9:;<=>?A-Z_a-z]{1,20}")
_PASSPORT = re.compile(r"[A-Za-z0-9._~-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A QR code. ``version`` tells how many modules it has: 17 + 4 for each."""

    text: str
    version: int
    svg: bytes
    png: bytes


def symbol(text: str, *, level: str = "Q", scale: int = 10) -> Symbol:
    """For labels, level Q: a quarter of the symbol may be scratched. A module of a PNG is ``scale`` pixels wide."""
    code = encoded(text, level=level)
    svg, png = io.BytesIO(), io.BytesIO()
    code.save(svg, kind="svg", border=QUIET_ZONE, scale=scale)
    code.save(png, kind="png", border=QUIET_ZONE, scale=scale)
    return Symbol(text=text, version=int(code.version), svg=svg.getvalue(), png=png.getvalue())


def label(text: str, lines: Sequence[str], *, millimetres: int = 30) -> bytes:
    """What is glued on a battery, in SVG: the symbol in print size, and below it what a person can read."""
    code = encoded(text)
    side = code.symbol_size(border=QUIET_ZONE)[0]
    inner = code.svg_inline(border=QUIET_ZONE, omitsize=True).replace(
        "<svg ", f'<svg width="{side}" height="{side}" ', 1
    )
    size = min(2.4, 1.6 * side / max(len(line) for line in lines))  # the longest line fits below the symbol
    height = side + 3 * len(lines)
    texts = "".join(
        f'<text x="{side / 2}" y="{side + 3 * place + 1}" font-size="{size:.2f}" font-family="monospace"'
        f' text-anchor="middle">{escape(line)}</text>'
        for place, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {height}" width="{millimetres}mm"'
        f' height="{millimetres * height / side:.1f}mm"><rect width="100%" height="100%" fill="#fff"/>'
        f"{inner}{texts}</svg>"
    ).encode()


def identifiers(passport_id: UUID, gtin: str | None, serial: str) -> list[str]:
    """What a person reads: the numbers of GS1, or the id of the passport."""
    if not gtin:
        return [str(passport_id)]
    return [f"(01) {gtin}", *([f"(21) {serial}"] if serial else [])]


def encoded(text: str, *, level: str = "Q") -> segno.QRCode:
    """The modules alone, without an image; PAYLOAD_TOO_LARGE for a text that does not fit."""
    try:
        return segno.make_qr(text, error=level, boost_error=False)
    except segno.DataOverflowError:
        raise too_large(f"{len(text)} characters do not fit into a QR code of level {level}") from None


def checked_fit(text: str) -> str:
    """A text that fits whatever its characters are, without making the symbol."""
    if len(text.encode()) > _MOST_BYTES:
        raise too_large(f"{len(text)} characters may not fit into a QR code of level Q")
    return text


def integrity_symbol(text: str) -> Symbol:
    """The symbol for BPC-QR-1: level M, modules of 10 pixels, and a quiet zone like any other."""
    return symbol(text, level="M", scale=10)


def digital_link(host: str, *, gtin: str, serial: str | None = None) -> str:
    """https://host/01/gtin/21/serial. A host in upper case makes the scheme so too, and the symbol smaller."""
    link = f"{_start(host)}/01/{gtin14(gtin)}"
    return link if serial is None else f"{link}/21/{quote(checked_serial(serial), safe='')}"


def plain_link(host: str, passport: str) -> str:
    if not _PASSPORT.fullmatch(passport):
        raise invalid(f"{passport!r} cannot stand in an address")
    return f"{_start(host)}/p/{passport}"


def checked_serial(serial: str) -> str:
    if not _SERIAL.fullmatch(serial):
        raise invalid(f"{serial!r} is no serial number of GS1", hint="1 to 20 letters, digits and some signs")
    return serial


def gtin14(gtin: str) -> str:
    """With leading zeros. Its last digit must be the right one."""
    if not _GTIN.fullmatch(gtin):
        raise invalid(f"{gtin!r} is no GTIN", hint="8, 12, 13 or 14 digits")
    full = gtin.zfill(14)
    if check_digit(full[:-1]) != full[-1]:
        raise invalid(f"{gtin} is no GTIN: its last digit would be {check_digit(full[:-1])}")
    return full


def check_digit(digits: str) -> str:
    """From the right, every other digit counts three times."""
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(reversed(digits)))
    return str(-total % 10)


def integrity_text(*, version: UUID, payload_hash: str, root: str, receipt_hash: str) -> str:
    """BPC1|pv=…|ph=…|pr=…|rh=…: the version and three hashes, which are given in hexadecimal."""
    hashes = {"ph": payload_hash, "pr": root, "rh": receipt_hash}
    return "|".join(["BPC1", f"pv={version}", *(f"{name}={_base32(text)}" for name, text in hashes.items())])


def _start(host: str) -> str:
    if not _HOST.fullmatch(host):
        raise invalid(f"{host!r} is no host", hint="a name, and a port if need be, without https://")
    return f"{'HTTPS' if host.isupper() else 'https'}://{host}"


def _base32(digest: str) -> str:
    return base64.b32encode(bytes.fromhex(digest)).rstrip(b"=").decode()
