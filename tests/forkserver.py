"""Processes of the program without its imports: each is forked from one process that has imported everything.

Imports take most of the CPU of most commands. All else is real: a process of its own with its own arguments,
environment, folder, signals and end. What is about the start itself asks for one that is not forked.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

#: Of these the program reads no more at its start than we set again. Others are read by Python or
#: by imports.
_VARIABLES = (
    "LEASEHOLD_",
    "CHAOS_",
    "NO_PROXY",
    "PGPASSFILE",
    "JOBS_URL",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTEST_CURRENT_TEST",
)
_MODULES = ("leasehold", "leasehold_packs")
_NOT_IMPORTED = ("leasehold.testing", "leasehold.aws_lambda")
_LATE = ("rich.markdown", "rich.traceback", "typer._adapters", "typer._click.decorators")
_IS_POSSIBLE = sys.platform == "linux"


class Forked:
    """What tests need of ``subprocess.Popen``, for a process whose parent is the fork server."""

    def __init__(self, server: "ForkServer", pid: int, args: list[str]) -> None:
        self._reaping = threading.Lock()
        self.pid = pid
        self.args = args
        self.returncode: int | None = None
        self._server = server
        self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        if self.returncode is None and self._has_ended(0):
            self._reap()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not self._has_ended(timeout):
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._reap()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # until it is reaped, no other process has its number
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        ready = select.poll()
        ready.register(self._handle, select.POLLIN)
        return bool(ready.poll(None if timeout is None else timeout * 1000))

    def _reap(self) -> None:
        with self._reaping:  # several threads may wait for it
            if self.returncode is not None:
                return
            self.returncode = self._server.ask({"reap": self.pid})["code"]
            os.close(self._handle)


class ForkServer:
    """The process that forks, as its user sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._environment = _kept(os.environ)
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            command = [sys.executable, "-m", "tests.forkserver", str(other.fileno())]
            self._process = subprocess.Popen(
                command,
                cwd=Path(__file__).parents[1],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def starts(self, command: list[str], environment: Mapping[str, str]) -> bool:
        """Whether a process that it forks equals one that is started with this command."""
        is_ours = command[1:3] == ["-m", "leasehold"] or command[1].endswith(".py")
        if command[0] != sys.executable or not is_ours or _brings_our_modules(environment):
            return False
        return _kept(environment) == self._environment

    def start(self, command: list[str], environment: Mapping[str, str], cwd: str, files: list[int]) -> Forked:
        """``files``: its standard input, output and errors."""
        request = {"start": command[1:], "env": dict(environment), "cwd": cwd}
        return Forked(self, self.ask(request, files)["pid"], command)

    def ask(self, request: dict[str, Any], files: list[int] | None = None) -> Any:
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(request).encode()], files or [])
            answer = self._socket.recv(1 << 16)
        if not answer:
            raise RuntimeError(f"the fork server has ended with {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def server() -> ForkServer | None:
    """That of this process, from its first use on."""
    if not _IS_POSSIBLE:
        return None
    started = ForkServer()
    atexit.register(started.close)
    return started


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_VARIABLES)}


# -- the process itself ---------------------------------------------------------------------------------------------


def main(handle: int) -> None:
    """Answer requests until the other end is closed; in a forked process, be the program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    atexit.register(_end_quickly)  # the first to be registered is the last to be called
    _import_everything()
    gc.collect()
    gc.freeze()
    requests = socket.socket(fileno=handle)
    while True:
        message, files, _, _ = socket.recv_fds(requests, 1 << 20, 3)
        if not message:
            return None
        request = json.loads(message)
        if pid := request.get("reap"):
            _, status = os.waitpid(pid, 0)
            requests.send(json.dumps({"code": os.waitstatus_to_exitcode(status)}).encode())
            continue
        pid = os.fork()
        if pid == 0:
            _become(request, files)
            return _run(request["start"])
        for file in files:
            os.close(file)
        requests.send(json.dumps({"pid": pid}).encode())


_code: list[int] = []  # with which a forked process ends


def _import_everything() -> None:
    for name in _LATE:
        importlib.import_module(name)
    for name in _MODULES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}.", onerror=_raise):
            if not module.name.startswith(_NOT_IMPORTED) and not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def _raise(name: str) -> NoReturn:
    raise ImportError(name)


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Take what a new process would be given: files, folder, environment and signals."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 1024)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(request["cwd"])
    _change_path(_folders(os.environ), _folders(request["env"]))
    os.environ.clear()
    os.environ.update(request["env"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    tempfile.tempdir = None
    time.tzset()
    importlib.invalidate_caches()


def _folders(environment: Mapping[str, str]) -> list[str]:
    return [name for name in environment.get("PYTHONPATH", "").split(os.pathsep) if name]


def _brings_our_modules(environment: Mapping[str, str]) -> bool:
    """A release of its own, say: what has been imported already is of another."""
    return any(Path(folder, name).is_dir() for folder in _folders(environment) for name in _MODULES)


def _change_path(before: list[str], after: list[str]) -> None:
    """The first entry is the program's folder; those of PYTHONPATH come next."""
    left = [name for name in sys.path[1:] if name not in before]
    sys.path[1:] = [*after, *left]


def _run(arguments: list[str]) -> None:
    try:
        if arguments[0] == "-m":
            sys.path[0] = os.getcwd()
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(arguments[0]).resolve().parent)
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
        _code.append(0)
    except SystemExit as end:
        if isinstance(end.code, int):
            _code.append(end.code)
        raise


def _end_quickly() -> None:
    """Without taking apart each module: that takes longer than most commands."""
    if _code:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_code[0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
