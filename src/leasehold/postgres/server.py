"""One PostgreSQL server on one home: started or adopted, and stopped again."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from leasehold.errors import LeaseholdError
from leasehold.postgres import cluster, lifeline, postmaster
from leasehold.postgres.account import Account, choose_account, hand_over, process_arguments
from leasehold.postgres.binaries import Binaries, find_binaries
from leasehold.postgres.home import Home
from leasehold.postgres.postmaster import Postmaster
from leasehold.postgres.runtime import runnable

HOST = "127.0.0.1"
DEFAULTS = {"shared_buffers": "128MB", "max_connections": "200"}
#: Without these a crash of the machine (not of the server) loses the data, which is to be thrown away anyway.
EPHEMERAL = {"fsync": "off", "full_page_writes": "off"}
#: Crash recovery of a big database takes minutes, and is waited for.
READY_SECONDS = 300.0
#: How long we try again when a port was lost to someone else, or a killed server's last process is still there.
RETRY_SECONDS = 15.0
LOG_LIMIT_BYTES = 10 * 1024 * 1024
SOCKET_PATH_LIMIT = 90
_MEMORY = "/dev/shm"
_ROOM_BYTES = 4 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a running server is reached; ``adopted`` says that it ran before we came."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    version: str
    data: Path
    pid: int
    adopted: bool
    origin: str

    def url(self, database: str = "postgres", user: str | None = None, password: str | None = None) -> str:
        """A ``postgresql://`` URL, with our superuser unless another role is named (then with its password)."""
        if user is None:
            user, password = self.user, password if password is not None else self.password
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{quote(user, safe='')}{secret}@{self.host}:{self.port}/{quote(database, safe='')}"


class Server:
    """The server of one home. Hold ``Home.lock()`` around it: two starts of one home are not kept apart here.

    It ends with this process, even if that is killed, unless it ``outlives`` it.
    """

    def __init__(
        self,
        home: Path,
        *,
        pg_bin: Path | None = None,
        options: Mapping[str, str] = {},
        ephemeral: bool = False,
        outlives: bool = False,
    ) -> None:
        self._home = Home(home)
        self._data = self._home.path / "data"
        self._log = self._home.path / "postgres.log"
        self._pg_bin = pg_bin
        self._options = DEFAULTS | (EPHEMERAL if ephemeral else {}) | dict(options)
        self._outlives = outlives
        self._running: Postmaster | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._lifeline: lifeline.Lifeline | None = None

    def start(self) -> Endpoint:
        """Start the server and wait until it is ready, or adopt the one that a killed process left running."""
        binaries = find_binaries(self._pg_bin)
        self._home.make()
        account = choose_account(self._data)
        cluster.refuse_other_major(self._data, binaries, account)
        self._require_password()
        if postmaster.find(self._data) is None:
            self._let_go()
        if self._lifeline is None and not self._outlives:
            lifeline.wait_for_last(self._home.path)
        self._running = self._adopt(account) or self._launch(binaries, account)
        return self._endpoint(self._running, binaries)

    def stop(self, timeout: float = 30.0) -> None:
        """Stop the server we started or adopted, and no other; open transactions are rolled back."""
        if self._running is None:
            return
        postmaster.stop(self._running, timeout=timeout)
        self._running = None
        self._reap()
        self._let_go()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _adopt(self, account: Account | None) -> Postmaster | None:
        deadline = time.monotonic() + READY_SECONDS
        # One that starts, recovers or stops is waited for; after a stop there is none.
        while server := postmaster.find(self._data):
            if server.status == "ready":
                if self._lifeline is None:
                    self._hold(server.pid, server.sockets.strip('"'), account)
                return server
            if time.monotonic() > deadline:
                raise self._failure(f"PostgreSQL (pid {server.pid}) has been {server.status} for too long", start=0)
            time.sleep(postmaster.POLL_SECONDS)
        return None

    def _launch(self, binaries: Binaries, account: Account | None) -> Postmaster:
        self._abandon()
        self._require_reach(account)
        binaries = runnable(binaries, account=account, home=self._home.path)
        self._require_cluster(binaries, account)
        self._trim_log()
        sockets = self._socket_folder(account)
        try:
            return self._launch_on_some_port(binaries, account, sockets)
        except BaseException:
            self._abandon()
            postmaster.remove_socket_folder(str(sockets))
            raise

    def _require_reach(self, account: Account | None) -> None:
        if account is not None and not account.can_enter(self._home.path):
            raise LeaseholdError(
                f"PostgreSQL runs as the account {account.name}, which cannot reach {self._home.path}",
                hint="set LEASEHOLD_HOME to a folder whose parents every account may enter, such as /var/lib/leasehold",
            )

    def _require_cluster(self, binaries: Binaries, account: Account | None) -> None:
        cluster.remove_unfinished(self._data)
        if cluster.major_of(self._data) is None:
            password = self._home.secret(cluster.SUPERUSER)
            cluster.create(self._data, binaries=binaries, account=account, password=password)

    def _require_password(self) -> None:
        if cluster.major_of(self._data) is not None and not self._home.has_secret(cluster.SUPERUSER):
            raise LeaseholdError(
                f"the password of {self._data} is lost: {self._home.path / 'secrets.json'} does not have it",
                hint="restore secrets.json from a backup, or wipe this instance",
            )

    def _launch_on_some_port(self, binaries: Binaries, account: Account | None, sockets: Path) -> Postmaster:
        deadline = time.monotonic() + RETRY_SECONDS
        port = self._remembered_port() or free_port()
        while True:
            postmaster.forget_dead(self._data)
            written = self._log_size()
            self._child = self._spawn(binaries, account, sockets, port)
            self._hold(self._child.pid, str(sockets), account)
            if server := self._wait_until_ready(self._child):
                self._remember_port(port)
                return server
            said = self._log_since(written)
            if time.monotonic() > deadline or not (_lost_port(said) or _still_dying(said)):
                raise self._failure(f"PostgreSQL {binaries.version} does not start", start=written)
            if _lost_port(said):
                port = free_port()
            time.sleep(postmaster.POLL_SECONDS)

    def _spawn(self, binaries: Binaries, account: Account | None, sockets: Path, port: int) -> subprocess.Popen[bytes]:
        # Ours come last and therefore win over the caller's options.
        quoted = str(sockets).replace('"', '""')
        options = self._options | {
            "port": str(port),
            "listen_addresses": HOST,
            "unix_socket_directories": f'"{quoted}"',
        }
        command = [str(binaries.bin / "postgres"), "-D", str(self._data)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with open(os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, **process_arguments(account)
            )

    def _hold(self, pid: int, sockets: str, account: Account | None) -> None:
        """Let the server of this pid end with this process."""
        self._let_go()
        if not self._outlives:
            self._lifeline = lifeline.Lifeline(self._home.path, self._data, pid, sockets, account)

    def _let_go(self) -> None:
        if self._lifeline is not None:
            if self._child is not None:
                self._child.poll()  # a dead child that nobody waited for looks alive to the shell
            self._lifeline.let_go()
            self._lifeline = None

    def _wait_until_ready(self, child: subprocess.Popen[bytes]) -> Postmaster | None:
        deadline = time.monotonic() + READY_SECONDS
        while child.poll() is None:
            said = postmaster.read(self._data)
            # The file of a killed server says ``ready`` too, hence the pid.
            if said and said.pid == child.pid and said.status == "ready":
                return said
            if time.monotonic() > deadline:
                raise self._failure(f"PostgreSQL (pid {child.pid}) is not ready after {READY_SECONDS:g} s", start=0)
            time.sleep(postmaster.POLL_SECONDS)
        return None

    def _endpoint(self, server: Postmaster, binaries: Binaries) -> Endpoint:
        return Endpoint(
            host=HOST,
            port=server.port,
            user=cluster.SUPERUSER,
            password=self._home.secret(cluster.SUPERUSER),
            version=binaries.version,
            data=self._data,
            pid=server.pid,
            adopted=self._child is None or self._child.pid != server.pid,
            origin=binaries.origin,
        )

    def _socket_folder(self, account: Account | None) -> Path:
        if len(os.fsencode(self._data / ".s.PGSQL.65535")) < SOCKET_PATH_LIMIT:
            return self._data
        folder = postmaster.make_socket_folder()
        hand_over(folder, account)
        return folder

    def _remembered_port(self) -> int | None:
        try:
            port = int((self._home.path / "port").read_text())
        except (FileNotFoundError, ValueError):
            return None
        return port if is_free(port) else None

    def _remember_port(self, port: int) -> None:
        (self._home.path / "port").write_text(f"{port}\n")

    def _trim_log(self) -> None:
        if self._log_size() > LOG_LIMIT_BYTES:
            os.truncate(self._log, 0)

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def _log_since(self, start: int) -> str:
        with suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")
        return ""

    def _failure(self, message: str, *, start: int) -> LeaseholdError:
        last = "\n".join(self._log_since(start).splitlines()[-15:])
        return LeaseholdError(f"{message}; its last words:\n{last}", hint=f"the whole log is {self._log}")

    def _abandon(self) -> None:
        if self._child is not None:
            self._child.send_signal(signal.SIGQUIT)
            try:
                self._child.wait(postmaster.QUIT_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
            self._reap()
        self._let_go()

    def _reap(self) -> None:
        if self._child is not None:
            self._child.wait()
            self._child = None


def ephemeral_home(*, in_memory: bool = False) -> Path:
    """A fresh folder for throw-away data that PostgreSQL's account can reach; the caller removes it.

    In memory, where there is room: to clone and drop databases is mostly the making and removing of files.
    """
    account = choose_account(Path("/nonexistent"))
    bases = [tempfile.gettempdir(), "/var/tmp", "/tmp", _MEMORY]
    if in_memory and _has_room(_MEMORY):
        bases.insert(0, _MEMORY)
    for base in dict.fromkeys(bases):
        with suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="leasehold-", dir=base))
            if account is None:
                return folder
            folder.chmod(0o755)
            if account.can_enter(folder):
                return folder
            folder.rmdir()
    raise LeaseholdError(
        "no temporary folder that PostgreSQL's account can reach",
        hint="set LEASEHOLD_HOME to a folder whose parents every account may enter",
    )


def _has_room(folder: str) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(folder).free >= _ROOM_BYTES
    return False


def free_port() -> int:
    """A port that is free now; by the time it is used someone else may have it."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket() as probe:
        # As PostgreSQL does: connections that are just closing do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _lost_port(log: str) -> bool:
    return "could not bind" in log or "Address already in use" in log


def _still_dying(log: str) -> bool:
    # Of a killed server some processes live on for a moment; PostgreSQL sees them by the shared memory they hold.
    return "pre-existing shared memory block" in log
