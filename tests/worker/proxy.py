"""A TCP proxy between a worker and its database that can cut, swallow, delay and lose answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pairs: set[_Pair] = set()
        self._abandoned: set[_Pair] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._doomed: bytes | None = None
        self._lost: bytes | None = None
        self._after = b""
        self._armed = 0
        self.refuses = False
        self.delay_seconds = 0.0  # before each piece is passed on
        self.lost_answers = 0
        self.lost_messages = 0

    def swallow(self) -> None:
        """A black hole: connections stay, new ones are accepted, nothing arrives."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    def abandon(self) -> int:
        """Half-open for good: connections that are there now stay, and carry nothing; new ones work. How many."""
        fresh = self._pairs - self._abandoned
        self._abandoned |= fresh
        return len(fresh)

    def cut(self) -> int:
        """Reset every connection; how many there were."""
        open_ = [writer for writer in self._writers if not writer.transport.is_closing()]
        for writer in open_:
            writer.transport.abort()
        self._writers.clear()
        return len(open_) // 2

    def lose_answer_to(self, words: bytes, *, after: bytes = b"") -> None:
        """Pass the next message with these words on to the server, let it commit, and cut instead of answering.

        ``after``: only on a connection that carried these other words since now.
        """
        self._doomed, self._after = words, after
        self._armed += 1

    def lose(self, words: bytes, *, after: bytes = b"") -> None:
        """Cut instead of passing the next message with these words on: the server never hears it."""
        self._lost, self._after = words, after
        self._armed += 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(self._host, self._port)
        except OSError:  # the database is down
            writer.transport.abort()
            return
        pair = _Pair(writer, back)
        self._pairs.add(pair)
        self._writers |= {writer, back}
        for source, sink, up in ((reader, back, True), (there, writer, False)):
            task = asyncio.create_task(self._pump(source, sink, pair, up=up))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, pair: "_Pair", *, up: bool) -> None:
        try:
            while data := await source.read(65536):
                if pair in self._abandoned:  # read, so that TCP acknowledges it, and forgotten
                    continue
                await self._flowing.wait()
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                if up and self._after in data:
                    pair.primed = self._armed
                if up and self._lost and self._lost in data and pair.primed == self._armed:
                    self._lost = None
                    self.lost_messages += 1
                    break
                if up and self._doomed and self._doomed in data and pair.primed == self._armed:
                    self._doomed, pair.doomed = None, True
                if not up and pair.doomed:
                    self.lost_answers += 1
                    break
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            if pair not in self._abandoned or not up:  # that the client has gone is not told either
                pair.abort()
                self._pairs.discard(pair)

    async def close(self) -> None:
        self.flow()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Pair:
    def __init__(self, *writers: asyncio.StreamWriter) -> None:
        self._writers = writers
        self.doomed = False
        self.primed = -1

    def abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy in front of this database, and the URL that goes through it."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    proxy = Proxy(parts.hostname, parts.port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield proxy, urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{port}")))
    finally:
        server.close()
        await proxy.close()
