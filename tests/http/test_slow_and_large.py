"""What a connection may bring, and in what time: real sockets that send too much, or never finish."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from leasehold.http.large_bodies import Room
from leasehold.http.server import serving
from leasehold.tokens import Key
from tests.cell import Cell
from tests.http.conftest import PROBLEM, Keys, bearer, settings_of
from tests.waiting import PATIENCE_SECONDS

KIB = 1024


class Wire:
    """One connection, and what came back on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """One answer that says how long it is."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])}
            body = await self.reader.readexactly(int(headers["content-length"]))
        return int(head[0].split(" ")[1]), headers, body

    async def is_closed(self) -> bool:
        async with asyncio.timeout(PATIENCE_SECONDS):
            try:
                return await self.reader.read(1) == b""
            except ConnectionResetError:
                return True

    async def refused(self, status: int, code: str) -> None:
        """Answered with this problem, and closed."""
        found, headers, body = await self.answer()
        told = json.loads(body)
        assert (found, told["status"], told["code"]) == (status, status, code), body
        assert (headers["content-type"], headers["connection"]) == (PROBLEM, "close")
        assert told["request_id"] == headers["x-request-id"]
        assert await self.is_closed()


class Place:
    def __init__(self, url: str) -> None:
        self.url = url
        self._at = urlsplit(url)

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection(self._at.hostname, self._at.port)
        try:
            yield Wire(reader, writer)
        finally:
            writer.close()


@pytest.fixture
async def patient(cell: Cell) -> AsyncIterator[Place]:
    """A server that waits for requests as long as it does by default."""
    async with serving(settings_of(cell, port=0)) as url:
        yield Place(url)


@pytest.fixture
async def hasty(cell: Cell) -> AsyncIterator[Place]:
    """One that waits for half a second."""
    async with serving(settings_of(cell, port=0, request_seconds=0.5)) as url:
        yield Place(url)


def head(path: str = "/healthz", *lines: str, method: str = "GET", end: str = "\r\n") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, end]).encode()


async def test_three_hundred_half_sent_requests_are_told_so_and_closed(hasty: Place) -> None:
    async with asyncio.TaskGroup() as group:

        async def begin(sent: bytes) -> None:
            async with hasty.wire() as wire:
                await wire.send(sent)
                await wire.refused(408, "request_timeout")

        for n in range(300):
            group.create_task(begin(head("/healthz", f"X-N: {n}", end="X-Never")))


async def test_a_request_whose_headers_come_a_byte_at_a_time_has_no_more_time_than_others(hasty: Place) -> None:
    async with hasty.wire() as wire:
        answer = asyncio.create_task(wire.refused(408, "request_timeout"))
        sent = 0
        while not answer.done():  # a header that goes on for as long as the connection is there
            await wire.send(b"GET /healthz HTTP/1.1\r\nX-Long: "[sent : sent + 1] or b"x")
            sent += 1
            await asyncio.sleep(0.01)
        await answer


async def test_a_connection_that_says_nothing_or_only_empty_lines_is_closed(hasty: Place) -> None:
    for sent in (b"", b"\r\n"):
        async with hasty.wire() as wire:
            await wire.send(sent)
            assert await wire.is_closed()
    async with hasty.wire() as wire:  # the same after a request
        await wire.send(head())
        assert (await wire.answer())[0] == 200
        await wire.send(b"\r\n")
        assert await wire.is_closed()


async def test_a_second_request_on_a_connection_has_its_own_time(hasty: Place) -> None:
    async with hasty.wire() as wire:
        for _ in range(2):
            await wire.send(head())
            assert (await wire.answer())[0] == 200
        await wire.send(b"GET /hea")
        await wire.refused(408, "request_timeout")


async def test_headers_without_an_end_are_refused_soon(patient: Place) -> None:
    """Of 150 MB a few hundred kilobytes are taken, most of them by the buffers of the sockets."""
    for line in (b"X-Many: " + b"x" * 1000 + b"\r\n", b"x" * 1010):
        async with patient.wire() as wire:
            await wire.send(head(end="X-Long: "))
            answer = asyncio.create_task(wire.answer())
            sent = 0
            try:
                while sent < 150_000_000 and not answer.done():
                    await wire.send(line * 100)
                    sent += len(line) * 100
            except (ConnectionResetError, BrokenPipeError):
                pass
            status, headers, body = await answer
            assert (status, json.loads(body)["code"]) == (431, "headers_too_large")
            assert headers["connection"] == "close"
            assert sent < 15_000_000
            assert await wire.is_closed()


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (head("/healthz", *(f"X-{n}: y" for n in range(99))), 200, None),  # beside Host
        (head("/healthz", *(f"X-{n}: y" for n in range(100))), 431, "headers_too_large"),
        (head("/healthz", *(f"X-{n}: {'y' * 1500}" for n in range(10))), 200, None),
        (head("/healthz", *(f"X-{n}: {'y' * 1700}" for n in range(10))), 431, "headers_too_large"),
        (head("/healthz", "X: " + "y" * 17 * KIB), 431, "headers_too_large"),
        (head("/healthz", f"{'x' * 17 * KIB}: y"), 431, "headers_too_large"),
        (head("/healthz", "X: " + "y" * 1000 * KIB), 431, "headers_too_large"),
        (head("/nothing/" + "x" * 8000), 404, None),
        (head("/nothing?" + "x" * 8 * KIB), 414, "url_too_long"),
        (head("/nothing?" + "x" * 1000 * KIB), 414, "url_too_long"),
        (b"no request at all\r\n\r\n", 400, "bad_request"),
    ],
)
async def test_what_stands_before_a_body_has_a_bound(
    patient: Place, sent: bytes, status: int, code: str | None
) -> None:
    async with patient.wire() as wire:
        await wire.send(sent)
        if code:
            await wire.refused(status, code)
        else:
            assert (await wire.answer())[0] == status


async def test_the_bound_is_the_same_however_the_bytes_are_cut(patient: Place) -> None:
    for lines, status in ((15, 200), (17, 431)):
        async with patient.wire() as wire:
            await wire.send(head(end=""))
            for n in range(lines):
                await wire.send(f"X-{n}: ".encode() + b"y" * 500)
                await asyncio.sleep(0)
                await wire.send(b"y" * 515 + b"\r\n")
            await wire.send(b"\r\n")
            assert (await wire.answer())[0] == status


async def test_headers_that_follow_a_body_in_chunks_have_the_same_bound(patient: Place, key: Keys) -> None:
    signed = [f"{name}: {value}" for name, value in bearer(key.a).items()]
    begun = head("/v1/jobs", *signed, "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST")
    async with patient.wire() as wire:
        await wire.send(begun + b"2\r\n{}\r\n0\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(200)))
        await wire.refused(431, "headers_too_large")
    async with patient.wire() as wire:
        await wire.send(begun + b"11\r\n" + b'{"kind":"t.work"}' + b"\r\n0\r\nX-Checksum: 7\r\n\r\n")
        assert (await wire.answer())[0] == 202


async def test_a_body_that_does_not_come_is_told_so_and_its_connection_closed(hasty: Place, key: Keys) -> None:
    signed = [f"{name}: {value}" for name, value in bearer(key.a).items()]
    for how in ("Content-Length: 1000", "Transfer-Encoding: chunked"):
        async with hasty.wire() as wire:
            await wire.send(head("/v1/jobs", *signed, "Content-Type: application/json", how, method="POST"))
            await wire.send(b'3e8\r\n{"kind":' if "chunked" in how else b'{"kind":')
            await wire.refused(408, "request_timeout")


async def test_a_body_that_comes_a_byte_at_a_time_is_ended_too(hasty: Place, key: Keys) -> None:
    signed = [f"{name}: {value}" for name, value in bearer(key.a).items()]
    async with hasty.wire() as wire:
        asked = head("/v1/jobs", *signed, "Content-Type: application/json", "Content-Length: 9999999", method="POST")
        await wire.send(asked)
        answer = asyncio.create_task(wire.refused(408, "request_timeout"))
        while not answer.done():
            await wire.send(b" ")
            await asyncio.sleep(0.01)
        await answer


async def test_a_large_body_has_more_time_while_it_comes(cell: Cell, key: Keys) -> None:
    """Its pauses together are longer than the time, and none of them by far."""
    payload = b'{"kind":"t.work","payload":"' + b"x" * 3_000_000 + b'"}'
    lines = [f"{name}: {value}" for name, value in bearer(key.a).items()]
    lines += ["Content-Type: application/json", f"Content-Length: {len(payload)}"]
    async with (
        serving(settings_of(cell, port=0, request_seconds=1)) as url,
        Place(url).wire() as wire,
    ):
        await wire.send(head("/v1/jobs", *lines, method="POST"))
        for at in range(0, len(payload), 700_000):
            await asyncio.sleep(0.25)
            await wire.send(payload[at : at + 700_000])
        assert (await wire.answer())[0] == 202


async def test_a_body_that_nobody_reads_does_not_keep_its_connection(hasty: Place) -> None:
    """An answer of 401 comes before the body, which then never ends."""
    async with hasty.wire() as wire:
        await wire.send(head("/v1/jobs", "Content-Type: application/json", "Content-Length: 99999999", method="POST"))
        assert (await wire.answer())[0] == 401
        closed = asyncio.create_task(wire.is_closed())
        while not closed.done():
            try:
                await wire.send(b"x")
            except ConnectionError:
                break
            await asyncio.sleep(0.01)
        assert await closed


async def test_a_body_that_nobody_reads_may_end_and_the_connection_goes_on(patient: Place) -> None:
    async with patient.wire() as wire:
        await wire.send(head("/v1/jobs", "Content-Type: application/json", "Content-Length: 200000", method="POST"))
        assert (await wire.answer())[0] == 401
        await wire.send(b"x" * 200_000 + head())
        assert (await wire.answer())[0] == 200


async def test_hundreds_of_requests_in_one_packet_are_answered_one_by_one(patient: Place) -> None:
    """Each is parsed when its turn is near: what waits is bytes, not requests."""
    async with patient.wire() as wire:
        for _ in range(10):
            await wire.send(head() * 50)
        for _ in range(500):
            assert (await wire.answer())[0] == 200


async def test_an_answer_that_takes_long_is_not_cut_off(hasty: Place, key: Keys) -> None:
    async with httpx.AsyncClient(base_url=hasty.url, headers=bearer(key.a), timeout=PATIENCE_SECONDS) as client:
        waited = await client.post("/v1/jobs", json={"kind": "t.work"}, headers={"Prefer": "wait=1"})
        assert waited.status_code == 202


async def test_what_was_refused_is_counted_with_the_other_answers(patient: Place) -> None:
    async with patient.wire() as wire:
        await wire.send(head("/nothing?" + "x" * 9 * KIB))
        await wire.refused(414, "url_too_long")
    async with httpx.AsyncClient(base_url=patient.url) as client:
        assert 'leasehold_http_answers_total{status="414"} 1' in (await client.get("/metrics")).text


async def test_large_bodies_wait_for_room_and_a_tenant_has_half_of_it(
    cell: Cell, key: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(cell, port=0, large_bodies_bytes=400_000, max_body_bytes=200_000)
    taken = asyncio.Semaphore(0)
    take = Room.take

    def taking(room: Room) -> None:
        take(room)
        taken.release()

    monkeypatch.setattr(Room, "take", taking)

    def asked(who: Key, size: int) -> tuple[bytes, bytes]:
        body = b'{"kind":"t.work","payload":"' + b"x" * size + b'"}'
        lines = [f"{name}: {value}" for name, value in bearer(who).items()]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return head("/v1/jobs", *lines, method="POST") + body[:70_000], body[70_000:]

    async with (
        serving(settings) as url,
        Place(url).wire() as first,
        Place(url).wire() as second,
        Place(url).wire() as third,
        Place(url).wire() as small,
    ):
        begun, rest = asked(key.a, 150_000)
        await first.send(begun)
        await taken.acquire()
        held, left = asked(key.a, 100_000)
        await second.send(held + left)
        other, end = asked(key.b, 150_000)
        await third.send(other + end)
        assert (await third.answer())[0] == 202, "another tenant has its own half"
        await small.send(b"".join(asked(key.a, 50_000)))
        assert (await small.answer())[0] == 202, "small bodies need no room"
        await first.send(rest)
        assert [(await wire.answer())[0] for wire in (first, second)] == [202, 202]
        for _ in (second, third):
            await taken.acquire()

        monkeypatch.setattr("leasehold.http.large_bodies._WAIT_SECONDS", 0.1)
        await first.send(begun)
        await taken.acquire()
        await second.send(held + left)
        status, headers, body = await second.answer()
        assert (status, json.loads(body)["code"], headers["retry-after"]) == (503, "busy", "2")
        await first.send(rest)
        assert (await first.answer())[0] == 202


async def test_a_caller_that_leaves_gives_its_room_back(cell: Cell, key: Keys) -> None:
    settings = settings_of(cell, port=0, large_bodies_bytes=200_000, max_body_bytes=200_000)
    body = b'{"kind":"t.work","payload":"' + b"x" * 150_000 + b'"}'
    lines = [f"{name}: {value}" for name, value in bearer(key.a).items()]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    asked = head("/v1/jobs", *lines, method="POST")
    async with serving(settings) as url:
        for _ in range(3):
            async with Place(url).wire() as wire:
                await wire.send(asked + body[:100_000])
        async with Place(url).wire() as wire:
            await wire.send(asked + body)
            assert (await wire.answer())[0] == 202
