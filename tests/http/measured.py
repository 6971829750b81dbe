"""A server in a thread of its own, and how long it let nobody else have a turn, in time of the processor."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from leasehold.http.server import serving
from leasehold.plugins.discovery import InstalledFeature
from leasehold.settings import Settings


class _Loop(asyncio.SelectorEventLoop):
    """Knows the turn that took its thread the most."""

    longest_turn = 0.0

    def _run_once(self) -> None:
        began = time.thread_time()
        super()._run_once()  # type: ignore[misc]
        self.longest_turn = max(self.longest_turn, time.thread_time() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    turn_ms: float  # of the loop's thread, in one turn of the loop
    held_ms: float  # of the server's threads, between two turns of another thread


class Measured:
    def __init__(self, loop: _Loop, url: str) -> None:
        self.url = url
        self._loop = loop
        self._held = 0.0
        self._is_over = threading.Event()

    @contextmanager
    def measuring(self) -> Iterator[list[Measures]]:
        """What is asked of the server inside of the block is measured; the list has it after the block."""
        found: list[Measures] = []
        gc.collect()
        self._loop.longest_turn, self._held = 0.0, 0.0
        self._is_over.clear()
        ticking = threading.Thread(target=self._tick)
        ticking.start()
        try:
            yield found
        finally:
            for _ in range(2):  # the turn that sent the answer is over
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result()
            self._is_over.set()
            ticking.join()
        found.append(Measures(turn_ms=self._loop.longest_turn * 1000, held_ms=self._held * 1000))

    def _tick(self) -> None:
        mine = threading.get_ident()
        before: dict[int, float] = {}
        while not self._is_over.is_set():
            now = {}
            for one in threading.enumerate():
                ours = one.name == "server" or one.name.startswith("large-bodies")
                if one.ident and one.ident != mine and ours:
                    now[one.ident] = time.clock_gettime(time.pthread_getcpuclockid(one.ident))
            self._held = max([self._held, *(now[ident] - before[ident] for ident in now if ident in before)])
            before = now
            time.sleep(0)


@contextmanager
def measured(settings: Settings, packs: list[InstalledFeature]) -> Iterator[Measured]:
    loop = _Loop()
    at: list[str] = []
    is_up = threading.Event()
    end = asyncio.Event()

    async def serve() -> None:
        async with serving(settings, packs=packs) as url:
            at.append(url)
            is_up.set()
            await end.wait()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(serve())
        finally:
            is_up.set()

    thread = threading.Thread(target=run, name="server")
    thread.start()
    is_up.wait()
    gc.collect()
    gc.freeze()  # what the tests hold is not the server's to look through
    try:
        yield Measured(loop, at[0])
    finally:
        gc.unfreeze()
        loop.call_soon_threadsafe(end.set)
        thread.join()
