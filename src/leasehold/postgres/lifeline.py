"""A server that ends with the process that owns it, however that process ends: a closed terminal, `kill -9`.

A shell reads from a pipe whose other end the owner holds open and never writes to. When the owner is gone the pipe
ends, and the shell stops the server. The kernel's own means will not do: a parent-death signal follows the thread that
forked, is forgotten when PostgreSQL's account is taken on, and is known to Linux only.
"""

import fcntl
import os
import subprocess
import time
from pathlib import Path

from leasehold.errors import LeaseholdError
from leasehold.postgres.account import Account, process_arguments

#: The data folder is $0, the server's pid $1, the folder of its socket $2. Fast shutdown, then an immediate one.
_WATCH = """
# of Leasehold: stops the PostgreSQL of this data folder when its owner is gone
serves() { read -r first < "$0/postmaster.pid" && [ "$first" = "$1" ] && kill -0 "$1"; } 2> /dev/null
read -r _
serves "$1" && kill -INT "$1"
tries=0
while serves "$1" && [ "$tries" -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
serves "$1" && kill -QUIT "$1"
[ "$2" = "$0" ] || rmdir "$2"
"""
_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.02


class Lifeline:
    """Our end of the pipe. It stays open until ``let_go`` or the end of this process."""

    def __init__(self, home: Path, data: Path, pid: int, sockets: str, account: Account | None) -> None:
        read_end, self._own_end = os.pipe()
        # The shell holds this lock as long as it lives: see wait_for_last.
        lock = _open_lock(home)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, str(data), str(pid), sockets],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what ends our terminal must not end it
                pass_fds=[lock],
                **process_arguments(account) | {"stdin": read_end},
            )
        finally:
            os.close(read_end)
            os.close(lock)

    def let_go(self) -> None:
        """End the shell, after the server has ended or in order to end it."""
        os.close(self._own_end)
        self._shell.wait()


def wait_for_last(home: Path) -> None:
    """Wait while the shell of an owner that is gone stops its server: what is stopping must not be adopted."""
    deadline = time.monotonic() + _WAIT_SECONDS
    lock = _open_lock(home)
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LeaseholdError(
                        f"the PostgreSQL of {home} belongs to a process that is alive", hint="leasehold down"
                    ) from None
            time.sleep(_POLL_SECONDS)
    finally:
        os.close(lock)


def _open_lock(home: Path) -> int:
    return os.open(home / "lifeline", os.O_RDWR | os.O_CREAT, 0o600)
