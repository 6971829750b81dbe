"""Servers that mean harm: each ends within its deadline and its budget, and costs little memory."""

import asyncio
import gzip
import json
import random
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest

from leasehold.errors import BadResponse, FetchError, FetchTooLarge, FetchTooSlow, FetchUnreachable
from leasehold.settings import Settings
from tests.fetch.world import Handler, page, serving, world

MEGABYTE = 1 << 20
#: A server that would go on for ever is cut off here; a budget ends long before it.
DEADLINE = 5.0
LIMIT = 1_000_000


def packed(size: int, times: int = 1) -> bytes:
    """Zeros, packed piece by piece, so that this side stays small too."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(size // MEGABYTE)) + packer.flush()
    for _ in range(times - 1):
        data = gzip.compress(data, 9)
    return data


def sends(*parts: bytes) -> Handler:
    """A server that says this, whatever it is asked, and hangs up."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()
        writer.write_eof()
        await reader.read()

    return handler


def goes_on(head: bytes, again: bytes, pause: float = 0) -> Handler:
    """A server that never ends."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

HOSTILE: dict[str, tuple[Callable[[], Handler], type[FetchError], str]] = {
    "a gzip bomb": (
        lambda: sends(page(packed(256 * MEGABYTE), "Content-Encoding: gzip")),
        FetchTooLarge,
        "the body has more than 1000000 bytes",
    ),
    "a gzip bomb in a gzip": (
        lambda: sends(page(packed(256 * MEGABYTE, times=2), "Content-Encoding: gzip, gzip")),
        BadResponse,
        "packed 2 times",
    ),
    "the same in two headers": (
        lambda: sends(page(packed(MEGABYTE, times=2), "Content-Encoding: gzip", "Content-Encoding: gzip")),
        BadResponse,
        "packed 2 times",
    ),
    "many small gzips": (
        lambda: sends(page(gzip.compress(b"") * 200_000, "Content-Encoding: gzip")),
        FetchTooLarge,
        "more bytes on the wire",
    ),
    "a coding that was not asked for": (
        lambda: sends(page(b"x", "Content-Encoding: br")),
        BadResponse,
        "packed with 'br'",
    ),
    "gzip that is none": (lambda: sends(page(b"x" * 99, "Content-Encoding: gzip")), BadResponse, "not the gzip"),
    "gzip that is cut": (
        lambda: sends(page(packed(MEGABYTE)[:100], "Content-Encoding: gzip")),
        BadResponse,
        "ends too early",
    ),
    "an endless body": (lambda: goes_on(OK + b"\r\n", bytes(65536)), FetchTooLarge, "more than 1000000 bytes"),
    "endless chunks": (lambda: goes_on(CHUNKED, b"8000\r\n" + bytes(0x8000) + b"\r\n"), FetchTooLarge, "more than"),
    "endless chunk extensions": (
        lambda: goes_on(CHUNKED, b"1;" + b"e" * 8000 + b"\r\nx\r\n"),
        FetchTooLarge,
        "more bytes on the wire",
    ),
    "one endless chunk extension": (lambda: goes_on(CHUNKED + b"1;", b"e" * 8000), BadResponse, "not valid HTTP"),
    "endless trailers": (lambda: goes_on(CHUNKED + b"0\r\n", b"X: y\r\n" * 1000), BadResponse, "not valid HTTP"),
    "an announced giant": (lambda: sends(OK + b"Content-Length: 99999999999\r\n\r\n"), FetchTooLarge, "more than"),
    "endless early hints": (
        lambda: goes_on(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100),
        FetchTooLarge,
        "128 KiB of headers",
    ),
    "endless headers": (lambda: goes_on(OK, b"X-Y: " + b"z" * 1000 + b"\r\n"), FetchError, "valid HTTP|KiB of headers"),
    "one endless header": (lambda: goes_on(OK + b"X: ", b"y" * 8000), FetchError, "valid HTTP|KiB of headers"),
    "a huge header": (
        lambda: sends(OK + b"X: " + b"y" * 300_000 + b"\r\n\r\n"),
        FetchError,
        "valid HTTP|KiB of headers",
    ),
    "an endless status line": (lambda: goes_on(b"HTTP/1.1 200 ", b"O" * 8000), FetchError, "valid HTTP|KiB of headers"),
    "no HTTP at all": (lambda: sends(b"SSH-2.0-OpenSSH_9.9\r\n"), FetchError, "valid HTTP|broke"),
    "a negative length": (lambda: sends(OK + b"Content-Length: -5\r\n\r\nhello"), BadResponse, "not valid HTTP"),
    "two lengths": (
        lambda: sends(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        BadResponse,
        "not valid HTTP",
    ),
    "a length that is too long": (
        lambda: sends(OK + b"Content-Length: 50\r\n\r\nhello"),
        FetchUnreachable,
        "broke before the answer was complete",
    ),
    "nothing at all": (lambda: sends(b""), FetchUnreachable, "broke before the answer was complete"),
    "another protocol": (
        lambda: sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        FetchError,
        "protocol|valid HTTP",
    ),
}

SLOW: dict[str, Handler] = {
    "a body that drips": goes_on(OK + b"Content-Length: 100000\r\n\r\n", b"x", pause=0.01),
    "headers that drip": goes_on(OK, b"X: y\r\n", pause=0.01),
    "early hints that drip": goes_on(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.01),
    "silence": goes_on(b"", b"", pause=0.01),
    "silence after the head": goes_on(OK + b"Content-Length: 5\r\n\r\n", b"", pause=0.01),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_server_is_left_with_a_reason(name: str) -> None:
    make, kind, reason = HOSTILE[name]
    async with world() as w, serving(make()) as server:
        w.put("evil.test", server)
        started = time.monotonic()
        with pytest.raises(kind, match=reason):
            await w.fetcher.get("http://evil.test/", max_bytes=LIMIT, timeout=DEADLINE)
        assert time.monotonic() - started < DEADLINE


@pytest.mark.parametrize("name", SLOW)
async def test_a_slow_server_is_left_at_the_deadline(name: str) -> None:
    async with world() as w, serving(SLOW[name]) as server:
        w.put("slow.test", server)
        started = time.monotonic()
        with pytest.raises(FetchTooSlow, match="slow.test took longer than 0.3 s") as failed:
            await w.fetcher.get("http://slow.test/", timeout=0.3)
        assert failed.value.transient
        assert time.monotonic() - started < DEADLINE


async def test_a_slow_reader_of_a_stream_is_under_the_same_deadline() -> None:
    async with world() as w, serving(goes_on(OK + b"\r\n", b"x", pause=0.01)) as server:
        w.put("slow.test", server)
        with pytest.raises(FetchTooSlow):
            async with w.fetcher.stream("GET", "http://slow.test/", timeout=0.2) as answer:
                async for _ in answer.chunks():
                    pass


async def test_redirects_share_one_deadline() -> None:
    async def lead_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        n = int(head.split(b"/")[1].split(b" ")[0])
        await asyncio.sleep(0.1)
        writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /%d\r\n\r\n" % (n + 1))
        await reader.read()

    async with world(Settings(fetch_max_redirects=1000)) as w, serving(lead_on) as server:
        w.put("maze.test", server)
        with pytest.raises(FetchTooSlow):
            await w.fetcher.get("http://maze.test/0", timeout=0.35)
    assert len(w.dialer.attempts) <= 5


async def test_many_chunks_of_one_byte_are_a_body_like_any_other() -> None:
    body = CHUNKED + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
    async with world() as w, serving(sends(body)) as server:
        w.put("chatty.test", server)
        assert (await w.fetcher.get("http://chatty.test/", max_bytes=100_000)).body == b"x" * 20_000


def mangled(seed: int) -> bytes:
    """A good answer with a few bytes changed, lost, doubled or moved."""
    chance = random.Random(seed)
    body = gzip.compress(b"hello" * 100)
    answer = bytearray(
        page(body, "Content-Encoding: gzip", "Location: /x", status=chance.choice(["200 OK", "302 Found"]))
    )
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(answer))
        answer[at : at + chance.randint(0, 3)] = chance.choice([b"", b"\r\n", b"\0", b"\xff", b":", answer[:20], b"1"])
    return bytes(answer)


async def test_answers_with_mistakes_are_read_or_refused_and_nothing_else() -> None:
    answers = [mangled(seed) for seed in range(300)]

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(answers[int(head.split(b"?")[1].split(b" ")[0])] if b"?" in head else page(b"moved"))
        writer.write_eof()
        await reader.read()

    good = 0
    async with world() as w, serving(handler) as server:
        w.put("odd.test", server)
        for n in range(len(answers)):
            with suppress(FetchError):
                good += (await w.fetcher.get(f"http://odd.test/?{n}", timeout=DEADLINE)).status > 0
    assert 0 < good < len(answers)


@pytest.mark.long
def test_all_of_it_costs_less_than_64_megabytes() -> None:
    """In a process of its own, against what it had when idle; the server is another one."""
    program = [sys.executable, "-m", "tests.fetch.hostile_memory"]
    told = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stderr
    growth = json.loads(told.stdout)
    assert set(growth) == {"a gzip bomb", "a gzip bomb in a gzip", "a whole body", "chunk extensions", "early hints"}
    assert max(growth.values()) < 64, growth
