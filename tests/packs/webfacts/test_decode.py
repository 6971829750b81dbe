"""Bytes to text."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts.decode import decode, encoding_of


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("grün".encode(), None, "grün"),
        ("grün".encode("cp1252"), None, "grün"),
        (codecs.BOM_UTF8 + "grün".encode(), "text/html; charset=latin1", "grün"),  # the mark wins
        (codecs.BOM_UTF16_LE + "grün".encode("utf-16-le"), None, "grün"),
        ("цена".encode("cp1251"), 'text/html; charset="windows-1251"', "цена"),
        ('<meta charset="windows-1251">цена'.encode("cp1251"), None, '<meta charset="windows-1251">цена'),
        (
            "<?xml version='1.0' encoding='koi8-r'?>цена".encode("koi8-r"),
            None,
            "<?xml version='1.0' encoding='koi8-r'?>цена",
        ),
        (b"10 \x80", "text/html; charset=iso-8859-1", "10 €"),  # the web's latin-1 has a euro
        ('<meta charset="utf-16">grün'.encode(), None, '<meta charset="utf-16">grün'),
        ("価格".encode("cp932"), "text/html; charset=Shift_JIS", "価格"),
        (b"a\xffb", "text/html; charset=utf-8", "a\ufffdb"),
        (b"a\x00b", None, "a\ufffdb"),
        (b"+AGE-", "text/html; charset=utf-7", "+AGE-"),  # a way to smuggle markup past filters
        (b"eA==", "text/html; charset=base64", "eA=="),
        (b"x", "text/html; charset=no-such-thing", "x"),
    ],
)
def test_a_body_is_read_as_a_browser_would(body: bytes, content_type: str | None, text: str) -> None:
    assert decode(body, content_type=content_type) == text


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300), st.text(max_size=40) | st.none())
def test_no_bytes_are_an_error(body: bytes, charset: str | None) -> None:
    decode(body, content_type=f"text/html; charset={charset}").encode()
    codecs.lookup(encoding_of(b'<meta charset="' + body))
