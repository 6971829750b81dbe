"""QR codes: what is printed is what a reader that is not ours reads."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.qr import (
    check_digit,
    digital_link,
    gtin14,
    integrity_symbol,
    integrity_text,
    plain_link,
    symbol,
)
from tests.packs.passports.battery import ISSUE, passport

needs_zbar = pytest.mark.skipif(shutil.which("zbarimg") is None, reason="no zbarimg (Debian package zbar-tools)")
GTIN = "09506000134352"
INTEGRITY = integrity_text(
    version=ISSUE.version, payload_hash="00" * 32, root="ff" * 32, receipt_hash=passport().receipt_hash
)


def _read(png: bytes, folder: Path) -> str:
    image = folder / "symbol.png"
    image.write_bytes(png)
    done = subprocess.run(["zbarimg", "--quiet", "--raw", str(image)], capture_output=True, check=True, timeout=60)
    return done.stdout.decode().removesuffix("\n")


@needs_zbar
@pytest.mark.parametrize(
    "text",
    [
        digital_link("id.maker.example", gtin=GTIN, serial="A/1"),
        digital_link("ID.MAKER.EXAMPLE", gtin=GTIN, serial="4711"),
        plain_link("id.maker.example", "550e8400-e29b-41d4-a716-446655440000"),
    ],
)
def test_an_independent_reader_reads_what_was_written(text: str, tmp_path: Path) -> None:
    assert _read(symbol(text).png, tmp_path) == text


@needs_zbar
def test_an_independent_reader_reads_the_integrity_text(tmp_path: Path) -> None:
    assert _read(integrity_symbol(INTEGRITY).png, tmp_path) == INTEGRITY


def test_the_integrity_text_has_all_its_fields() -> None:
    name, *fields = INTEGRITY.split("|")

    assert name == "BPC1"
    assert [field.partition("=")[0] for field in fields] == ["pv", "ph", "pr", "rh"]
    assert fields[0] == "pv=550e8400-e29b-41d4-a716-446655440000"
    assert fields[1] == f"ph={'A' * 52}"
    assert len(INTEGRITY) == 212
    assert integrity_symbol(INTEGRITY).version == 10


def test_upper_case_makes_a_smaller_symbol() -> None:
    small, large = (
        symbol(digital_link(host, gtin=GTIN, serial="4711")) for host in ("ID.MAKER.EXAMPLE", "id.maker.example")
    )

    assert (small.version, large.version) == (4, 5)


@pytest.mark.parametrize(("scale", "level"), [(10, "Q"), (10, "M"), (3, "Q")])
def test_there_are_four_modules_of_white_around(scale: int, level: str) -> None:
    made = symbol("https://id.maker.example/p/1", level=level, scale=scale)
    modules = 17 + 4 * made.version + 2 * 4

    width = int.from_bytes(made.png[16:20])
    svg = ElementTree.fromstring(made.svg)
    assert width == modules * scale
    assert svg.get("width") == str(modules * scale)


def test_the_same_text_makes_the_same_images() -> None:
    assert symbol("https://a.example/p/1") == symbol("https://a.example/p/1")


def test_a_text_that_does_not_fit_is_too_large() -> None:
    with pytest.raises(PassportError) as refused:
        symbol("x" * 3_000)

    assert refused.value.code == Code.PAYLOAD_TOO_LARGE


def test_links_are_those_of_gs1() -> None:
    assert digital_link("id.maker.example", gtin="9506000134352") == "https://id.maker.example/01/09506000134352"
    assert digital_link("id.maker.example", gtin=GTIN, serial="A/1%") == (
        "https://id.maker.example/01/09506000134352/21/A%2F1%25"
    )


# Examples of the GS1 General Specifications and of common products.
@pytest.mark.parametrize("gtin", ["629104150021" + "3", "9506000134352", "96385074", "036000291452", "00012345600012"])
def test_real_numbers_have_the_right_last_digit(gtin: str) -> None:
    assert gtin14(gtin) == gtin.zfill(14)


@settings(deadline=None)
@given(st.from_regex(r"[0-9]{13}", fullmatch=True), st.integers(0, 12), st.integers(1, 9))
def test_every_wrong_digit_is_caught(digits: str, place: int, more: int) -> None:
    right = digits + check_digit(digits)
    wrong = right[:place] + str((int(right[place]) + more) % 10) + right[place + 1 :]

    assert gtin14(right) == right
    with pytest.raises(PassportError, match="no GTIN"):
        gtin14(wrong)


@pytest.mark.parametrize("gtin", ["", "123", "95060001343521234", "950600013435٢", "9506000134353", "95060001 4352"])
def test_what_is_no_gtin_is_refused(gtin: str) -> None:
    with pytest.raises(PassportError, match="no GTIN"):
        gtin14(gtin)


@pytest.mark.parametrize("serial", ["", "x" * 21, "a b", "größe", "a#b"])
def test_what_is_no_serial_number_is_refused(serial: str) -> None:
    with pytest.raises(PassportError, match="no serial number"):
        digital_link("id.maker.example", gtin=GTIN, serial=serial)


@pytest.mark.parametrize(("host", "passport_id"), [("https://a", "1"), ("a/b", "1"), ("a", "../x"), ("a", "")])
def test_what_is_no_address_is_refused(host: str, passport_id: str) -> None:
    with pytest.raises(PassportError):
        plain_link(host, passport_id)
