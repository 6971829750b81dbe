"""The PostgreSQL of a test run, and databases cloned from a migrated template in milliseconds.

The first process of a run starts a guardian (a process of its own), which owns the server. Everybody who uses the
server holds a shared lock on one file; the guardian waits for all of them to let go, which also a killed process does,
and then removes everything.
"""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from leasehold.database.database import Role
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings
from leasehold.testing.databases import Databases

T = TypeVar("T")

#: With this, databases are made on a server that you have already; the URL must be able to create databases and roles.
OWN_SERVER = "LEASEHOLD_TEST_DATABASE_URL"
TENANT = "default"
_FOR_EVER_DAYS = 36500


@dataclass(frozen=True, kw_only=True)
class TemplateServer:
    """A server with a migrated template; ``database`` hands out clones of it."""

    admin_url: str = field(repr=False)
    template: str
    passwords: dict[str, str] | None = field(repr=False)  # None: on a server of the user's own the roles do not log in

    @cached_property
    def databases(self) -> Databases:
        """Those of this process."""
        return Databases(self.admin_url, self.template)

    @contextmanager
    def database(self) -> Iterator[Settings]:
        """A database for the block, as new; the settings that lead to it. For code without an event loop as well."""
        name = apart(self.databases.take)
        try:
            yield self.settings(name)
        finally:
            apart(lambda: self.databases.give_back(name))

    def settings(self, database: str) -> Settings:
        """Settings for this database: the usual ones, with a short poll and a long memory."""
        usual: dict[str, Any] = {
            "tenant": TENANT,
            "poll_seconds": 0.05,
            "grace_seconds": 5.0,
            # A test that moves the clock by a month wants to see its results all the same.
            "result_days": _FOR_EVER_DAYS,
            "history_days": _FOR_EVER_DAYS,
        }
        if self.passwords is None:
            return Settings(database_url=self.url(database), **usual)
        urls: dict[str, Any] = {
            f"{role}_url": self.url(database, role) for role in (Role.API, Role.WORKER, Role.OPERATOR)
        }
        return Settings(**urls, **usual)

    def url(self, database: str, role: Role | None = None) -> str:
        """For the administrator, or for a role that may log in."""
        parts = urlsplit(self.admin_url)
        netloc = parts.netloc
        if role is not None and self.passwords is not None:
            netloc = f"leasehold_{role}:{self.passwords[role]}@{netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))


@contextmanager
def joined(run: str) -> Iterator[TemplateServer]:
    """The server of this run, started by whoever comes first."""
    folder = Path(tempfile.gettempdir()) / f"leasehold-tests-{run}"
    users, server = _join(folder)
    try:
        yield server
    finally:
        server.databases.close()
        os.close(users)


def _join(folder: Path) -> tuple[int, TemplateServer]:
    """A shared lock on the users' file, and the server: found, or started under an exclusive lock."""
    with only_one(folder):
        users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(users, fcntl.LOCK_SH)
            return users, _read(folder) or _start(folder)
        except BaseException:
            os.close(users)
            raise


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """One process at a time. The folder is made, and made again if it was removed while we waited."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / "lock").exists() and os.path.samestat(os.fstat(lock), (folder / "lock").stat()):
                yield
                return
        finally:
            os.close(lock)


def _read(folder: Path) -> TemplateServer | None:
    try:
        return TemplateServer(**json.loads((folder / "server.json").read_text()))
    except FileNotFoundError:
        return None


def _start(folder: Path) -> TemplateServer:
    # A session of its own: Ctrl-C in the terminal is for the tests, and the guardian must outlive them.
    guardian = subprocess.Popen(
        [sys.executable, "-m", "leasehold.testing.guardian", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    assert guardian.stdout is not None
    with guardian.stdout as out:
        said = json.loads(out.readline() or '{"problem": "the process ended without a word"}')
    guardian.returncode = 0  # it ends after us, and nobody waits for it
    if problem := said.get("problem"):
        shutil.rmtree(folder)
        raise LeaseholdError(f"no PostgreSQL for the tests: {problem}", hint=said.get("hint"))
    (folder / "server.json").write_text(json.dumps(said))
    return TemplateServer(**said)


def apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run it in an event loop of its own, whatever loop this thread has or had."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
