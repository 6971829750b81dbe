"""The real ``leasehold`` as a process, with what it says kept apart: data on stdout, everything else on stderr."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.forkserver import Forked, server
from tests.waiting import PATIENCE_SECONDS, until

LEASEHOLD = (sys.executable, "-m", "leasehold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command that has ended said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)


def leasehold(*arguments: str, env: Mapping[str, str] = {}, command: tuple[str, ...] = LEASEHOLD) -> Said:
    """Run one command to its end."""
    with started(*arguments, env=env, command=command) as program:
        return program.ended()


class Program:
    """A process that runs, and can be read meanwhile."""

    def __init__(self, process: "subprocess.Popen[bytes] | Forked", out: IO[bytes], err: IO[bytes]) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def out(self) -> str:
        return _text(self._out)

    @property
    def err(self) -> str:
        return _text(self._err)

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = PATIENCE_SECONDS) -> Said:
        """Wait for its end."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.process.args!r} still runs after {seconds:g} s: {self.out}\n{self.err}"
            ) from None
        return Said(code=code, out=self.out, err=self.err)

    def stopped(self) -> Said:
        """Ask it to stop, and wait. Not before its first word: until then a signal would just end it."""
        until(lambda: bool(self.out + self.err) or self.has_ended, what="a first word")
        self.kill(signal.SIGTERM)
        return self.ended()

    def said(self, words: str) -> None:
        """Wait until it has said these words, on whichever stream."""
        until(lambda: words in self.out + self.err or self.has_ended, what=f"{words!r} in {self.err}")
        assert words in self.out + self.err, f"ended without {words!r}: {self.out}\n{self.err}"

    def document(self) -> Any:
        """Wait for the first line of JSON on stdout."""
        until(lambda: "\n" in self.out or self.has_ended, what="a line on stdout")
        assert "\n" in self.out, f"ended without a word: {self.err}"
        return json.loads(self.out.splitlines()[0])


@contextmanager
def started(
    *arguments: str,
    env: Mapping[str, str] = {},
    command: tuple[str, ...] = LEASEHOLD,
    cwd: str | Path | None = None,
    forked: bool = True,
) -> Iterator[Program]:
    """A process that is gone at the end of the block, whatever happens. Forked, it has all of ours imported already."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _start([*command, *arguments], environment(env), cwd, out, err, forked)
        try:
            yield Program(process, out, err)
        finally:
            process.kill()
            process.wait()


def _start(
    command: list[str], env: dict[str, str], cwd: str | Path | None, out: IO[bytes], err: IO[bytes], forked: bool
) -> "subprocess.Popen[bytes] | Forked":
    forks = server() if forked else None
    if forks and forks.starts(command, env):
        with open(os.devnull) as nothing:
            return forks.start(command, env, str(cwd or Path.cwd()), [nothing.fileno(), out.fileno(), err.fileno()])
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd, preexec_fn=_hear_signals
    )


def _hear_signals() -> None:
    """A shell that starts something in the background makes it deaf to Ctrl-C, `nohup` to the end of a terminal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours without any setting of Leasehold, and these."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
    return mine | {"NO_PROXY": "*"} | dict(extra)


def _text(file: IO[bytes]) -> str:
    # The position is shared with the process that writes: read without moving it.
    return os.pread(file.fileno(), 1 << 24, 0).decode()
