"""Threads for sync handlers.

Not a ThreadPoolExecutor: the interpreter waits for its threads at exit, and a handler that hangs would keep a stopped
worker alive for ever.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

_Answer = tuple[Any, BaseException | None]


class Threads:
    """At most ``size`` threads, started when they are needed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._busy = 0  # both numbers are kept in the event loop's thread only
        self._started = 0

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run the function in a thread, with the caller's context variables."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Answer] = loop.create_future()
        self._busy += 1
        in_context = partial(contextvars.copy_context().run, function, *args)
        self._work.put(partial(_run, in_context, loop, partial(self._deliver, answer)))
        if self._busy > self._started and self._started < self._size:
            self._started += 1
            threading.Thread(target=self._serve, name=f"leasehold-handler-{self._started}", daemon=True).start()
        # A pair, because an exception set on a future is not every exception that a function may raise.
        result, error = await answer
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Let idle threads end; those that still run are left behind."""
        for _ in range(self._started):
            self._work.put(None)

    def _serve(self) -> None:
        while work := self._work.get():
            work()

    def _deliver(self, answer: "asyncio.Future[_Answer]", value: _Answer) -> None:
        self._busy -= 1
        if not answer.done():
            answer.set_result(value)


def _run(function: Callable[[], Any], loop: asyncio.AbstractEventLoop, deliver: Callable[[_Answer], None]) -> None:
    try:
        answer: _Answer = (function(), None)
    except BaseException as error:
        answer = (None, error)
    with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits for the answer
        loop.call_soon_threadsafe(deliver, answer)
