"""Bounded decompression."""

import gzip
import random

import pytest

from leasehold.errors import BadResponse
from leasehold.fetch.decompress import PIECE, Decoder


def decoded(data: bytes, *codings: str, step: int = 1000) -> bytes:
    decoder = Decoder(codings)
    pieces = [piece for at in range(0, len(data), step) for piece in decoder.feed(data[at : at + step])]
    decoder.end()
    assert max(map(len, pieces), default=0) <= max(PIECE, step)
    return b"".join(pieces)


BODY = random.Random(7).randbytes(50_000) + bytes(300_000)


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
def test_a_body_comes_out_as_it_went_in(step: int) -> None:
    assert decoded(gzip.compress(BODY), "gzip", step=step) == BODY
    assert decoded(BODY[:50_000], step=max(step, 1000)) == BODY[:50_000]


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", " gzip ", "identity, gzip", "gzip,", ",gzip"])
def test_gzip_has_several_spellings(coding: str) -> None:
    assert decoded(gzip.compress(b"hello"), coding) == b"hello"


@pytest.mark.parametrize("coding", ["", "identity", "identity, identity"])
def test_no_coding_is_no_coding(coding: str) -> None:
    assert decoded(b"hello", coding) == b"hello"


@pytest.mark.parametrize("codings", [("gzip, gzip",), ("gzip", "gzip"), ("gzip, br",), ("x-gzip", "identity, gzip")])
def test_a_body_is_packed_at_most_once(codings: tuple[str, ...]) -> None:
    with pytest.raises(BadResponse, match="packed 2 times"):
        Decoder(codings)


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "compress", "nonsense"])
def test_only_what_was_asked_for_is_unpacked(coding: str) -> None:
    with pytest.raises(BadResponse, match=f"packed with '{coding}'"):
        Decoder([coding])


def test_joined_members_are_one_body_and_padding_is_none() -> None:
    assert decoded(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", step=5) == b"one two"
    assert decoded(gzip.compress(b"one") + bytes(5000), "gzip") == b"one"


def test_an_empty_body_is_not_an_early_end() -> None:
    assert decoded(b"", "gzip") == b""


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_an_early_end_is_noticed(cut: int) -> None:
    with pytest.raises(BadResponse, match="ends too early"):
        decoded(gzip.compress(BODY)[:-cut], "gzip")
