"""A web server of a benchmark, as a process of its own: one small page at every address. It ends with its parent."""

import asyncio
import sys

_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nhello, world"


class Page(asyncio.Protocol):
    """Answers each request when its head is complete."""

    def __init__(self) -> None:
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._held = (self._held + data).split(b"\r\n\r\n")
        self._transport.write(_PAGE * len(heads))


async def serve() -> None:
    """Print the port, and serve until our input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Page, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
