"""The shop of the demo on loopback: a server of a few lines, for one machine and no stranger."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from leasehold_packs.monitors.demo.shop import Shop


async def serve(shop: Shop, *, port: int, seconds_per_day: float) -> None:
    """Until it is cancelled."""
    begun = time.monotonic()
    async with serving(shop, port=port, day=lambda: int((time.monotonic() - begun) / seconds_per_day)):
        await asyncio.Event().wait()


@asynccontextmanager
async def serving(shop: Shop, *, port: int, day: Callable[[], int]) -> AsyncIterator[None]:
    """The shop as it is on a day."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            path = head.split(b" ")[1].decode("latin-1").partition("?")[0]
            writer.write(answer(shop, path, day=day(), base=f"http://127.0.0.1:{port}"))
            await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass  # whoever asked is gone, or did not ask
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", port):
        yield


def answer(shop: Shop, path: str, *, day: int, base: str) -> bytes:
    """A whole HTTP answer."""
    if path == "/robots.txt":
        return _answer(f"User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n", "text/plain")
    if path == "/sitemap.xml":
        return _answer(shop.sitemap(base), "application/xml")
    if (text := shop.page(path, day, base)) is None:
        return _answer("<title>404</title><p>There is nothing here.</p>", "text/html", "404 Not Found")
    return _answer(text, "text/html")


def _answer(text: str, media_type: str, status: str = "200 OK") -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body
