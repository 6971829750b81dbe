"""Bounded decompression: small pieces, at most one coding. Pure."""

import zlib
from collections.abc import Iterable, Iterator

from leasehold.errors import BadResponse

ACCEPT_ENCODING = "gzip"
PIECE = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS


class Decoder:
    """Feed it the body as it comes; what comes out is never more than ``PIECE`` bytes at once."""

    def __init__(self, codings: Iterable[str]) -> None:
        """``codings`` are the values of the Content-Encoding headers."""
        self._gzip = zlib.decompressobj(_GZIP) if _coding(codings) else None
        self._begun = self._finished = False

    @property
    def is_identity(self) -> bool:
        return self._gzip is None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._gzip is None:
            yield data
            return
        while data and not self._finished:
            self._begun = True
            try:
                piece = self._gzip.decompress(data, PIECE)
            except zlib.error:
                raise BadResponse("the body is not the gzip it says it is") from None
            data = self._gzip.unconsumed_tail
            if self._gzip.eof:
                data = self._next_member(self._gzip.unused_data)
            if piece:
                yield piece

    def _next_member(self, rest: bytes) -> bytes:
        """gzip files may be joined end to end; anything else behind the end is padding."""
        if rest and not rest.startswith(b"\x1f"):
            self._finished = True
            return b""
        self._gzip = zlib.decompressobj(_GZIP)
        self._begun = False
        return rest

    def end(self) -> None:
        if self._begun and not self._finished:
            raise BadResponse("the compressed body ends too early")


def _coding(values: Iterable[str]) -> bool:
    """Whether it is gzip; a body may be packed once, and by nothing else."""
    codings = [coding for value in values for coding in value.lower().replace(" ", "").split(",") if coding]
    codings = ["gzip" if coding == "x-gzip" else coding for coding in codings if coding != "identity"]
    if len(codings) > 1:
        raise BadResponse(f"the body is packed {len(codings)} times; once is allowed")
    if codings and codings != ["gzip"]:
        raise BadResponse(f"the body is packed with {codings[0]!r}; only gzip was asked for")
    return bool(codings)
