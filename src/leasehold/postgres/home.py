"""The folder of one instance: its lock, its secrets, and where it can be reached."""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from leasehold.errors import AlreadyRunning, BadSetting, LeaseholdError
from leasehold.postgres import postmaster

#: A folder that holds any of these is one of ours.
MARKS = ("lock", "lifeline", "secrets.json", "endpoint.json")
LOCK_PATIENCE_SECONDS = 0.3


def instance_home(home: Path | None, start: Path | None = None) -> Path:
    """The folder asked for, else one per checkout: two checkouts on one machine never share a database."""
    if home is not None:
        return Path(os.path.abspath(home))
    folder = _checkout(Path(start or Path.cwd()).resolve())
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return _base() / f"{_plain(folder.name)}-{digest}"


class Home:
    """An instance's folder; nothing is made on disk before it is used."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path))
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"Home({str(self.path)!r})"

    def make(self) -> None:
        """Make the folder if it is missing; refuse one with other things in it, because ``wipe`` removes it all."""
        _make_folders(self.path)
        if os.geteuid() not in (0, self.path.stat().st_uid):
            raise self._not_ours()
        self._refuse_foreign()
        self.path.chmod(_folder_mode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold this instance; raises AlreadyRunning at once if another process does."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def acquire(self) -> None:
        """Hold this instance until ``release`` or the end of the process."""
        self.make()
        deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
        # Again for a moment, because a look at ``holder`` takes the lock for an instant.
        while (descriptor := self._try_lock()) is None:
            if time.monotonic() > deadline:
                raise self._already_running()
            time.sleep(0.02)
        _record_pid(descriptor)
        self._lock = descriptor

    def release(self) -> None:
        """Let go; does nothing if this object holds no lock."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def holder(self) -> int | None:
        """The pid of the live process that holds this instance."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise self._not_ours() from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _recorded_pid(descriptor)
        finally:
            os.close(descriptor)
        return None

    def write_endpoint(self, endpoint: Mapping[str, Any]) -> None:
        """Tell other processes of ours where this instance can be reached."""
        self._write("endpoint.json", endpoint)

    def read_endpoint(self) -> dict[str, Any] | None:
        """What was last written; it may be of a process that is gone (ask ``holder``)."""
        return self._read("endpoint.json")

    def secret(self, name: str) -> str:
        """A password of this instance, made at its first use."""
        known = self._read("secrets.json") or {}
        if name not in known:
            known[name] = secrets.token_urlsafe(24)
            self._write("secrets.json", known)
        return str(known[name])

    def has_secret(self, name: str) -> bool:
        """Whether this password was made already."""
        return name in (self._read("secrets.json") or {})

    def wipe(self) -> None:
        """Remove the folder with all data, and stop a server that a killed process left in it."""
        if not self.path.exists():
            return
        self._refuse_foreign()
        held_before = self._lock is not None
        if not held_before:
            self.acquire()
        try:
            if server := postmaster.find(self.path / "data"):
                postmaster.stop(server, timeout=10.0)
            _remove_contents(self.path)
        finally:
            if not held_before:
                self.release()
        # The folder may be a mount point, or its parent may not be ours; it is empty in any case.
        with suppress(OSError):
            self.path.rmdir()

    def _not_ours(self) -> LeaseholdError:
        return LeaseholdError(f"{self.path} belongs to another account", hint="set LEASEHOLD_HOME to a folder of yours")

    def _refuse_foreign(self) -> None:
        names = {entry.name for entry in self.path.iterdir()} - {"lost+found"}
        if names and not names.intersection(MARKS):
            raise BadSetting(
                f"{self.path} is not empty, and what is in it is not Leasehold's",
                hint="set LEASEHOLD_HOME to a new or empty folder",
            )

    def _try_lock(self) -> int | None:
        path = self.path / "lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A wipe may have removed the file between our open and our lock.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError:
            pass
        os.close(descriptor)
        return None

    def _already_running(self) -> AlreadyRunning:
        who = f"pid {pid}" if (pid := self.holder()) else "another process"
        url = (self.read_endpoint() or {}).get("url")
        where = f" at {_without_password(url)}" if isinstance(url, str) else ""
        return AlreadyRunning(f"this instance is up already: {who}{where} holds {self.path}", hint="leasehold down")

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            found = json.loads((self.path / name).read_text())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise self._not_ours() from None
        except ValueError:
            raise LeaseholdError(
                f"{self.path / name} is not JSON", hint="restore it from a backup, or wipe this instance"
            ) from None
        return found if isinstance(found, dict) else None

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        self.make()
        # mkstemp gives 0600 from the first moment on; a chmod afterwards would come too late for a reader.
        descriptor, fresh = tempfile.mkstemp(prefix=f".{name}.", dir=self.path)
        with open(descriptor, "w") as file:
            json.dump(content, file, indent=2)
            file.flush()
            os.fsync(descriptor)
        os.replace(fresh, self.path / name)


def _checkout(folder: Path) -> Path:
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists() or (parent / "pyproject.toml").exists():
            return parent
    return folder


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:40].strip("-") or "instance"


def _base() -> Path:
    return Path("/var/lib/leasehold") if os.geteuid() == 0 else Path(platformdirs.user_data_dir("leasehold"))


def _folder_mode() -> int:
    # Root's PostgreSQL runs as another account, which must get through to the data.
    return 0o755 if os.geteuid() == 0 else 0o700


def _make_folders(path: Path) -> None:
    try:
        for folder in [parent for parent in reversed((path, *path.parents)) if not parent.exists()]:
            folder.mkdir(exist_ok=True)
            folder.chmod(_folder_mode())
        os.listdir(path)
    except OSError as error:
        raise LeaseholdError(
            f"{path} cannot be used: {error.strerror}", hint="set LEASEHOLD_HOME to a folder you may write to"
        ) from None


def _record_pid(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"pid": os.getpid()}).encode(), 0)


def _recorded_pid(descriptor: int) -> int | None:
    try:
        return int(json.loads(os.pread(descriptor, 100, 0))["pid"])
    except (ValueError, KeyError, TypeError):
        return None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _remove_contents(folder: Path) -> None:
    # The lock last: until then nobody else can start here.
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name == "lock"):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
