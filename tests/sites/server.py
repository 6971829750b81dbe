"""The site over HTTP/1.1 on loopback: hosts by the Host header, answers with their delay."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from tests.sites.model import Answer


@asynccontextmanager
async def serving(
    answers: Mapping[str, Answer], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """A port on loopback; what is asked there is asked by https where there is TLS."""
    scheme = "https" if tls else "http"
    writers: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, url = _asked(head, scheme)
                answer = answers.get(
                    url,
                    Answer(status=404, headers={"Content-Type": "text/plain"}, body=b"not here"),
                )
                await asyncio.sleep(answer.delay_s)
                writer.write(_written(answer, with_body=method != "HEAD"))
                await writer.drain()
        writers.discard(writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in list(writers):
            writer.transport.abort()


def _asked(head: bytes, scheme: str) -> tuple[str, str]:
    lines = head.decode("latin-1").split("\r\n")
    method, path, _ = lines[0].split(" ")
    host = next(
        value.strip()
        for name, _, value in (line.partition(":") for line in lines)
        if name.lower() == "host"
    )
    return method, f"{scheme}://{host}{path}"


def _written(answer: Answer, *, with_body: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        f"Content-Length: {len(answer.body)}",
    ]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + (answer.body if with_body else b"")
