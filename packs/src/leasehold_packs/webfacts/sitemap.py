"""Sitemaps and sitemap indexes, plain or gzipped, read in a stream within bounds.

Nothing that a document declares is expanded or fetched, and neither its packed size nor its own word on how much it
holds decides how much is read.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

import ada_url
from lxml import etree

# The limits of sitemaps.org.
MAX_ENTRIES = 50_000
MAX_BYTES = 50 * 1024 * 1024

_GZIP = b"\x1f\x8b"
_CHUNK = 64 * 1024
_MAX_TEXT = 2048
#: What begins as CDATA and does not end goes to the end: to look for it again from each place would take the square.
_DATA = rb"<!\[CDATA\[[^\]]*+(?:\](?!\]>)[^\]]*+)*"
_BARE = re.compile(_DATA + rb"|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


class Kind(StrEnum):
    PAGES = "pages"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """``lastmod`` is as published: sites write dates in more ways than the standard has."""

    kind: Kind
    url: str
    lastmod: str | None = None


class SitemapProblem(Exception):
    """Why reading stopped; what came before it stands."""


def read_sitemap(body: bytes, *, base: str) -> tuple[list[Entry], str | None]:
    """The entries of a document, and why there are no more of them if it was not read to its end."""
    entries: list[Entry] = []
    try:
        for entry in iter_sitemap(_chunks(body), base=base):
            entries.append(entry)  # noqa: PERF402 (what was read before a problem counts)
    except SitemapProblem as problem:
        return entries, str(problem)
    return entries, None


def iter_sitemap(chunks: Iterable[bytes], *, base: str) -> Iterator[Entry]:
    """The entries as they arrive; ends with SitemapProblem where the document goes beyond its bounds or breaks."""
    count = 0
    for entry in _entries(_bounded(_unpacked(iter(chunks)))):
        url = _resolved(entry.url, base)
        if url is None:
            continue
        count += 1
        if count > MAX_ENTRIES:
            raise SitemapProblem(f"more than {MAX_ENTRIES} entries")
        yield Entry(kind=entry.kind, url=url, lastmod=entry.lastmod)


def _chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Gunzipped if it is gzip, whatever its name says, in pieces of limited size."""
    first = next(chunks, b"")
    chunks = chain([first], chunks)
    return _gunzipped(chunks) if first.startswith(_GZIP) else chunks


def _gunzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        while chunk and not unpacker.eof:
            try:
                yield unpacker.decompress(chunk, _CHUNK)
            except zlib.error as problem:
                raise SitemapProblem(f"broken gzip: {problem}") from None
            chunk = unpacker.unconsumed_tail
    if not unpacker.eof:
        raise SitemapProblem("the gzip ends too early")


def _bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_BYTES:
            raise SitemapProblem(f"more than {MAX_BYTES} bytes")
        yield chunk


def _entries(chunks: Iterator[bytes]) -> Iterator[Entry]:
    """XML; or, where the first byte is no bracket, one URL in each line."""
    first = next(chunks, b"")
    chunks = chain([first], chunks)
    return _from_xml(chunks) if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else _from_lines(chunks)


def _from_lines(chunks: Iterator[bytes]) -> Iterator[Entry]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _MAX_TEXT:
            raise SitemapProblem(f"a line of more than {_MAX_TEXT} bytes")
        yield from map(_from_line, lines)
    yield _from_line(rest)


def _from_line(line: bytes) -> Entry:
    return Entry(kind=Kind.PAGES, url=line.decode("utf-8-sig", "replace").strip())


def _from_xml(chunks: Iterator[bytes]) -> Iterator[Entry]:
    """Read as UTF-8, which the standard demands: in no other encoding can a declaration hide from us."""
    parser = etree.XMLPullParser(
        events=("end",),
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
    )
    for piece in _whole_tags(chunks):
        if _DECLARATION.search(piece):
            raise SitemapProblem("it declares a document type, which no sitemap needs")
        yield from _fed(parser, _BARE.sub(_escaped, piece))


def _whole_tags(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces that end with a bracket, so that nothing we look for is cut in two."""
    rest = b""
    for chunk in chunks:
        if b"\x00" in chunk:
            raise SitemapProblem("it is not in UTF-8")
        whole, bracket, rest = (rest + chunk).rpartition(b">")
        if len(rest) > _CHUNK:
            raise SitemapProblem(f"a text of more than {_CHUNK} bytes")
        if bracket:
            yield whole + bracket


def _escaped(found: re.Match[bytes]) -> bytes:
    """The parser would drop a bare ampersand and the name behind it, and leave another URL."""
    return b"&amp;" if found[0] == b"&" else found[0]


def _fed(parser: Any, chunk: bytes) -> Iterator[Entry]:
    try:
        parser.feed(chunk)
        for _, element in parser.read_events():
            if entry := _entry(element):
                yield entry
                _forget(element)
    except etree.XMLSyntaxError as problem:
        raise SitemapProblem(f"broken XML: {problem}") from None


def _entry(element: Any) -> Entry | None:
    """A finished ``url`` or ``sitemap`` element, in whatever namespace."""
    kind = {"url": Kind.PAGES, "sitemap": Kind.INDEX}.get(_local(element))
    if kind is None:
        return None
    return Entry(kind=kind, url=_child(element, "loc") or "", lastmod=_child(element, "lastmod"))


def _local(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _child(element: Any, name: str) -> str | None:
    """The text of a child in the element's own namespace: an image or a video has a ``loc`` too."""
    space = element.tag.rpartition("}")[0]
    for child in element.iterchildren("{*}*"):
        if child.tag.rpartition("}")[0] == space and _local(child) == name:
            return (child.text or "").strip()[:_MAX_TEXT] or None
    return None


def _forget(element: Any) -> None:
    """Read elements leave the tree, or fifty thousand of them would pile up."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _resolved(url: str, base: str) -> str | None:
    """An http(s) URL; None for all else, and for nothing at all, which would resolve to the sitemap itself."""
    try:
        parsed = ada_url.URL(url, base) if url else None
    except ValueError:
        return None
    return parsed.href if parsed and parsed.protocol in ("http:", "https:") else None
