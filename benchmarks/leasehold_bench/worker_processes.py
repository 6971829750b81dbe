"""Worker processes of a benchmark: the real ``leasehold worker`` with its default settings."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

from leasehold.errors import LeaseholdError
from leasehold.settings import Settings

_APP = "leasehold_bench.handlers:app"
_STOP_SECONDS = 20.0
_LAST_WORDS = 600


class Workers:
    """Processes that run until the end of the block."""

    def __init__(self, processes: list[subprocess.Popen[bytes]], log: IO[bytes]) -> None:
        self._processes = processes
        self._log = log

    def __len__(self) -> int:
        return len(self._processes)

    def require_alive(self) -> None:
        if any(process.poll() is not None for process in self._processes):
            raise LeaseholdError(f"a worker process has ended; its last words: {self.last_words}")

    def resident_mb(self) -> float:
        """Megabytes of memory, for each process on average."""
        return sum(_resident_kb(process.pid) for process in self._processes) / len(self._processes) / 1024

    @property
    def last_words(self) -> str:
        self._log.seek(0)
        return self._log.read()[-_LAST_WORDS:].decode(errors="replace").strip() or "none"

    async def stop(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                await asyncio.to_thread(process.wait, _STOP_SECONDS)
            finally:
                process.kill()
                process.wait()


@asynccontextmanager
async def started(settings: Settings, processes: int, environment: Mapping[str, str]) -> AsyncIterator[Workers]:
    """Worker processes. They end with us, also if we are killed: nothing is ever sent through the pipe they watch."""
    end, ours = os.pipe()
    with tempfile.TemporaryFile() as log:
        try:
            workers = Workers([_start(settings, environment, end, log) for _ in range(processes)], log)
            try:
                yield workers
            finally:
                with suppress(subprocess.TimeoutExpired):
                    await workers.stop()
        finally:
            os.close(end)
            os.close(ours)


def _start(
    settings: Settings, environment: Mapping[str, str], lifeline: int, log: IO[bytes]
) -> subprocess.Popen[bytes]:
    assert settings.database_url is not None
    mine = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
    return subprocess.Popen(
        [sys.executable, "-m", "leasehold", "worker", _APP, "--lifeline", str(lifeline)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=mine | {"LEASEHOLD_DATABASE_URL": settings.database_url, "LEASEHOLD_PACKS": "none", **environment},
        pass_fds=[lifeline],
        start_new_session=True,  # Ctrl-C is for us, and then we stop them
    )


def _resident_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        return int(status.read_text().partition("VmRSS:")[2].split()[0])
    return int(subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True).stdout)
