"""PostgreSQL as operators run it: a replica of another server, or one that other machines can reach."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from leasehold.postgres import Endpoint, choose_account, find_binaries, postmaster
from leasehold.postgres.account import Account, process_arguments
from leasehold.postgres.runtime import runnable
from leasehold.postgres.server import DEFAULTS, EPHEMERAL, free_port
from tests.waiting import until


class Bare:
    """A server on this folder, on a port of its own."""

    def __init__(self, data: Path, options: Mapping[str, str] = {}) -> None:
        self.data, self.port = data, free_port()
        self.log = data.parent / "bare.log"
        self._options = options
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = {
            **DEFAULTS,
            **EPHEMERAL,
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            **self._options,
        }
        command = [_program("postgres", self.data), "-D", str(self.data)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, **process_arguments(_account(self.data))
            )
        until(self._is_ready, what=f"PostgreSQL on {self.data}: {self.log.read_text()}")

    def url(self, endpoint: Endpoint, database: str = "postgres") -> str:
        """The superuser's, which is the same as on the server that this one is a copy of."""
        return endpoint.url(database).replace(f":{endpoint.port}/", f":{self.port}/")

    def stop(self) -> None:
        """At once: nothing here is to be kept."""
        if self._child is not None:
            self._child.send_signal(signal.SIGQUIT)
            self._child.wait()
            self._child = None

    def kill(self) -> None:
        """As if its machine had lost power: no process of it does anything any more."""
        assert self._child is not None
        listed = ["ps", "-o", "pid=", "--ppid", str(self._child.pid)]
        children = subprocess.check_output(listed, text=True).split()
        for pid in (self._child.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        self._child.wait()
        self._child = None

    def _is_ready(self) -> bool:
        assert self._child is not None
        assert self._child.poll() is None, self.log.read_text()
        said = postmaster.read(self.data)
        return said is not None and said.pid == self._child.pid and said.status in ("ready", "standby")


@contextmanager
def running(bare: Bare) -> Iterator[Bare]:
    try:
        bare.start()
        yield bare
    finally:
        bare.stop()


def base_backup(endpoint: Endpoint, folder: Path) -> Path:
    """A copy by pg_basebackup that follows its origin once it is started."""
    account = _account(endpoint.data)
    if account:
        os.chown(folder, account.uid, account.gid)
    arguments = process_arguments(account)
    arguments["env"] |= {"PGPASSWORD": endpoint.password}
    command = [_program("pg_basebackup", endpoint.data), "-D", str(folder / "data"), "-h", endpoint.host]
    command += ["-p", str(endpoint.port), "-U", endpoint.user, "-X", "stream", "-c", "fast", "-R", "--no-sync"]
    done = subprocess.run(command, capture_output=True, text=True, **arguments)
    assert done.returncode == 0, done.stderr
    return folder / "data"


def _program(name: str, data: Path) -> str:
    return str(runnable(find_binaries(None), account=_account(data), home=data.parent).bin / name)


def _account(data: Path) -> Account | None:
    return choose_account(data)
