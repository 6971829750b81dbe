"""A running server as its data folder tells of it: the file ``postmaster.pid`` and the process behind it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from leasehold.errors import LeaseholdError

POLL_SECONDS = 0.02
QUIT_SECONDS = 10.0
SOCKET_FOLDERS = Path("/tmp")
SOCKET_PREFIX = "leasehold-socket-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postmaster:
    """What ``postmaster.pid`` says; a killed server's file still says ``ready``."""

    data: Path
    pid: int
    port: int
    sockets: str
    status: str


def find(data: Path) -> Postmaster | None:
    """The live server of this data folder."""
    said = read(data)
    return said if said and serves(said.pid, data) else None


def read(data: Path) -> Postmaster | None:
    """What the file says, true or not."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    # A server that is just starting has written its first lines only.
    pid, _, _, port, sockets, _, _, status = (*lines, *[""] * 8)[:8]
    if not pid.lstrip("-").isdigit():
        return None
    return Postmaster(data=data, pid=abs(int(pid)), port=int(port or 0), sockets=sockets.strip(), status=status.strip())


def serves(pid: int, data: Path) -> bool:
    """Whether this process is a live postgres whose data folder is this one."""
    if not Path("/proc/self/cmdline").exists():
        return f"postgres -D {data} -c " in _command_by_ps(pid)
    # The command line, not /proc/<pid>/exe: root in a container may not read the links of another account's process.
    program, *arguments = _command(pid)
    if Path(program).name != "postgres" or "-D" not in arguments[:-1]:
        return False
    return Path(arguments[arguments.index("-D") + 1]).resolve() == data.resolve()


def stop(server: Postmaster, *, timeout: float) -> None:
    """Ask for a fast shutdown, then for an immediate one; the server need not be our child."""
    for number, patience in ((signal.SIGINT, timeout), (signal.SIGQUIT, QUIT_SECONDS)):
        if not serves(server.pid, server.data):
            break
        with suppress(ProcessLookupError):
            os.kill(server.pid, number)
        if _gone_within(server, patience):
            break
    else:
        raise LeaseholdError(
            f"PostgreSQL of {server.data} (pid {server.pid}) does not stop",
            hint=f"end it with `kill -9 {server.pid}`: the next start recovers what was committed",
        )
    remove_socket_folder(server.sockets)


def forget_dead(data: Path) -> None:
    """Make the remains of a killed server harmless when its pid belongs to another program now."""
    said = read(data)
    if said is None or serves(said.pid, data):
        return
    for remains in data.glob(".s.PGSQL.*"):
        remains.unlink()
    remove_socket_folder(said.sockets)
    _claim_lock_file(data)


def make_socket_folder() -> Path:
    """A fresh private folder with a path short enough for a socket."""
    return Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=SOCKET_FOLDERS))


def remove_socket_folder(sockets: str) -> None:
    """Remove a folder that ``make_socket_folder`` made; any other stays."""
    folder = Path(sockets.strip('"'))
    if folder.parent == SOCKET_FOLDERS and folder.name.startswith(SOCKET_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def _claim_lock_file(data: Path) -> None:
    # PostgreSQL refuses to start while the pid in its lock file is alive, whatever program that is now, but it never
    # believes in the pid of its own parent, which we are about to be. The rest of the file stays: it names the shared
    # memory, one of the ways in which PostgreSQL finds out that a part of the dead server is still at work.
    lock = data / "postmaster.pid"
    owner, lines = lock.stat(), lock.read_text().splitlines(keepends=True)
    descriptor, fresh = tempfile.mkstemp(prefix="postmaster.", dir=data)
    with open(descriptor, "w") as file:
        file.writelines([f"{os.getpid()}\n", *lines[1:]])
    os.chown(fresh, owner.st_uid, owner.st_gid)
    os.replace(fresh, lock)


def _gone_within(server: Postmaster, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while serves(server.pid, server.data):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _command(pid: int) -> list[str]:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
    except OSError:
        return [""]


def _command_by_ps(pid: int) -> str:
    return subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout
