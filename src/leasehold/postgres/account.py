"""Which operating system account PostgreSQL runs as, because it refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leasehold.errors import PostgresMissing

PREFERRED = ("postgres", "nobody")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account that is not ours; only root meets one."""

    name: str
    uid: int
    gid: int

    def can_enter(self, folder: Path) -> bool:
        """Try it as the account: permission bits do not tell about mounts and access lists."""
        # Not cwd=folder: the child would change folder before it changes the account.
        return self._succeeds(["/bin/sh", "-c", 'cd "$0"', str(folder)])

    def can_run(self, program: Path) -> bool:
        """Try ``program --version`` as the account."""
        return self._succeeds([str(program), "--version"])

    def _succeeds(self, command: list[str]) -> bool:
        try:
            return subprocess.run(command, capture_output=True, **process_arguments(self)).returncode == 0
        except OSError:
            return False


def choose_account(data: Path) -> Account | None:
    """The account for this data folder (its owner, if it exists); None means ourselves."""
    if os.geteuid() != 0:
        return None
    return _owner(data) or _preferred()


def process_arguments(account: Account | None) -> dict[str, Any]:
    """Keyword arguments that make ``subprocess`` run a program as the account, with a clean environment."""
    common: dict[str, Any] = {"cwd": "/", "env": dict(ENVIRONMENT), "stdin": subprocess.DEVNULL}
    if account is None:
        return common
    return common | {"user": account.uid, "group": account.gid, "extra_groups": []}


def hand_over(path: Path, account: Account | None) -> None:
    """Make the account the owner of a file or folder we created."""
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _owner(data: Path) -> Account | None:
    try:
        found = data.stat()
    except FileNotFoundError:
        return None
    if found.st_uid == 0:
        return None
    return Account(name=_name(found.st_uid), uid=found.st_uid, gid=found.st_gid)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _preferred() -> Account:
    for name in PREFERRED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise PostgresMissing(
        f"PostgreSQL does not run as root, and this system has no account {' or '.join(PREFERRED)}",
        hint="start Leasehold as an ordinary user, or set LEASEHOLD_DATABASE_URL to a PostgreSQL of yours",
    )
