"""Several worker processes under one parent that does nothing but start, restart and stop them.

A child that retires (``max_jobs``, ``max_memory_mb``) stops in good order and is replaced after it has ended, while the
others go on. A child that dies is replaced after a pause that grows while they die young. Each child holds the read
end of a pipe: when the parent is killed, however hard, the pipe ends and the children stop in good order.
"""

import asyncio
import logging
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from leasehold.log import emit
from leasehold.worker.reload import watch

#: A child that lived this long was all right; its successor starts without a pause.
_GOOD_LIFE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 30.0


class Supervisor:
    """Keeps ``processes`` children alive, each `leasehold worker` with these arguments."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        processes: int,
        name: str | None = None,
        reload: Path | None = None,
        port: int | None = None,
    ) -> None:
        self._arguments = arguments
        self._processes = processes
        self._name = name
        self._reload = reload  # a folder: children start anew whenever a Python file in it changes
        self._port = port  # of the first child; the others count up from it
        self._children: dict[int, asyncio.subprocess.Process] = {}  # by number
        self._stopping = asyncio.Event()
        self._lifeline, self._parent_end = os.pipe()

    async def run(self) -> None:
        """Until stopped; then all children have ended."""
        emit("supervisor started", pid=os.getpid(), processes=self._processes)
        watching = asyncio.create_task(watch(self._reload, self.restart)) if self._reload else None
        try:
            await asyncio.gather(*(self._keep(number) for number in range(1, self._processes + 1)))
        finally:
            if watching:
                watching.cancel()
            os.close(self._parent_end)
            os.close(self._lifeline)
        emit("supervisor stopped", pid=os.getpid())

    def stop(self) -> None:
        """Ask all children to stop. Asked again, they do not wait for what they run."""
        self._stopping.set()
        self.restart()

    def restart(self) -> None:
        """Ask all children to stop in good order; unless we are stopping ourselves, others take their places."""
        for child in self._children.values():
            with suppress(ProcessLookupError):
                child.send_signal(signal.SIGTERM)

    async def _keep(self, number: int) -> None:
        """Start a child, again and again."""
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._live(number)
            if self._stopping.is_set():
                return
            young = time.monotonic() - began < _GOOD_LIFE_SECONDS
            failures = 0 if code == 0 else failures + 1 if young else 1
            pause = pause_before(failures)
            level = logging.INFO if code == 0 else logging.WARNING
            emit("child ended", level=level, number=number, code=code, next_in_s=round(pause, 2))
            await self._wait(pause)

    async def _live(self, number: int) -> int:
        """One child from start to end; its exit code."""
        name = ["--name", f"{self._name}-{number}"] if self._name else []
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "leasehold", "worker", *self._arguments, *name,
            "--lifeline", str(self._lifeline),
            pass_fds=[self._lifeline],
            stdin=asyncio.subprocess.DEVNULL,
            env={**os.environ, **self._port_of(number)},
            start_new_session=True,  # Ctrl-C is for the parent, which passes it on
        )  # fmt: skip
        self._children[number] = child
        emit("child started", number=number, child=child.pid)
        if self._stopping.is_set():  # asked while the child was being made
            self.stop()
        try:
            return await child.wait()
        finally:
            del self._children[number]

    def _port_of(self, number: int) -> dict[str, str]:
        return {"LEASEHOLD_WORKER_PORT": str(self._port + number - 1)} if self._port else {}

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            pass


def pause_before(failures: int) -> float:
    """Seconds before the next start, after so many early deaths in a row: jittered, and twice as long each time."""
    if failures == 0:
        return 0.0
    return float(random.uniform(0.5, 1.0) * min(_LONGEST_PAUSE_SECONDS, 0.2 * 2 ** min(failures, 10)))
