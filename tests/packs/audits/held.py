"""A server that keeps to HTTP, and keeps some answers back."""

import asyncio

from tests.fetch.world import Site, page


class Held(Site):
    """Answers for pages that are held come when they are let go; HEAD has no body."""

    def __init__(self, pages: dict[str, bytes], *held: str) -> None:
        super().__init__(pages)
        self.held, self.go = set(held), asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            self.asked.append(head)
            path = head.split(b" ")[1].decode()
            if path in self.held:
                await self.go.wait()
            answer = self.pages.get(path, page(b"not here", status="404 Not Found"))
            writer.write(answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if head.startswith(b"HEAD") else answer)
            await writer.drain()

    def times(self, path: str) -> int:
        return sum(head.split(b" ")[1].decode() == path for head in self.asked)
