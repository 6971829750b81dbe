"""A receiver of webhooks for trying things out: verifies, prints, answers 204 or 401."""

import asyncio
import json

from leasehold.cli.output import print_json, say
from leasehold.errors import BadSignature
from leasehold.features.webhooks.signature import Scheme, verify

_MAX_BODY = 1_000_000


async def receive(port: int, *, secret: str, scheme: Scheme) -> None:
    """Until it is cancelled."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            headers, body = await _read(reader)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            writer.close()
            return
        status = _judge(headers, body, secret, scheme)
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    here = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    say(f"listening at http://{here}/; worker and server call it with LEASEHOLD_FETCH_ALLOW={here}")
    async with server:
        await server.serve_forever()


async def _read(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    pairs = [line.partition(":") for line in head.split("\r\n")[1:] if line]
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= _MAX_BODY:
        raise ValueError
    return headers, await reader.readexactly(length)


def _judge(headers: dict[str, str], body: bytes, secret: str, scheme: Scheme) -> str:
    try:
        verify(body, headers, secret, scheme=scheme)
        event = json.loads(body)
    except BadSignature as problem:
        say(f"refused: {problem}")
        return "401 Unauthorized"
    except ValueError:
        say("refused: the body is not JSON")
        return "400 Bad Request"
    print_json(event)
    return "204 No Content"
