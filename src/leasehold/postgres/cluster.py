"""The data folder: made once by ``initdb``, and only opened by the major version that made it."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from leasehold.errors import LeaseholdError, PostgresMissing
from leasehold.postgres import postmaster
from leasehold.postgres.account import Account, hand_over, process_arguments
from leasehold.postgres.binaries import Binaries, find_major

SUPERUSER = "postgres"


def major_of(data: Path) -> int | None:
    """The major version that made this data folder; None if there is none yet."""
    try:
        return int((data / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None


def refuse_other_major(data: Path, binaries: Binaries, account: Account | None) -> None:
    """A new major version cannot read the files of an old one: say how to move the data."""
    made_by = major_of(data)
    if made_by is not None and made_by != binaries.major:
        raise PostgresMissing(
            f"{data} was made by PostgreSQL {made_by}, and {binaries.bin} is PostgreSQL {binaries.version}",
            hint=_ways_out(data, binaries, made_by, account),
        )


def create(data: Path, *, binaries: Binaries, account: Account | None, password: str) -> None:
    """Make the data folder, in one step as others see it: an interrupted ``initdb`` leaves nothing that looks done."""
    _refuse_other_content(data)
    remove_unfinished(data)
    workshop = data.with_name("data.new")
    workshop.mkdir(mode=0o700)
    try:
        secret = _password_file(workshop, password, account)
        hand_over(workshop, account)
        _initdb(workshop / "data", secret, binaries, account)
        (workshop / "data").rename(data)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def remove_unfinished(data: Path) -> None:
    """Remove what an interrupted ``create`` left, the password file in it first of all."""
    shutil.rmtree(data.with_name("data.new"), ignore_errors=True)


def _refuse_other_content(data: Path) -> None:
    if data.exists() and any(data.iterdir()):
        raise LeaseholdError(
            f"{data} is not empty, but it is no data folder of PostgreSQL: it has no file PG_VERSION",
            hint=f"move {data} away, or set LEASEHOLD_HOME to a new folder",
        )


def _password_file(folder: Path, password: str, account: Account | None) -> Path:
    path = folder / "password"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
    hand_over(path, account)
    return path


def _initdb(data: Path, password_file: Path, binaries: Binaries, account: Account | None) -> None:
    command = [str(binaries.bin / "initdb"), "-D", str(data), "-U", SUPERUSER, "--pwfile", str(password_file)]
    command += ["--auth-local=scram-sha-256", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"]
    command += ["--no-sync", "--no-instructions"]
    if binaries.major >= 17:
        command.append("--locale-provider=builtin")
    done = subprocess.run(command, capture_output=True, text=True, **process_arguments(account))
    if done.returncode != 0:
        raise LeaseholdError(
            f"initdb of PostgreSQL {binaries.version} failed: {(done.stderr or done.stdout).strip()}",
            hint="is the disk full or read-only? LEASEHOLD_HOME moves the data elsewhere",
        )


def _ways_out(data: Path, binaries: Binaries, made_by: int, account: Account | None) -> str:
    old = str(find_major(made_by) or f"/usr/lib/postgresql/{made_by}/bin")
    return "\n".join(
        [
            f"keep PostgreSQL {made_by}:  export LEASEHOLD_PG_BIN={shlex.quote(old)}",
            f"or move the data to PostgreSQL {binaries.major} with these commands:",
            *(f"  {line}" for line in _move_commands(data, old, binaries, made_by, account)),
            f"then start Leasehold again; delete {data}-{made_by} when all is well",
        ]
    )


def _move_commands(data: Path, old: str, binaries: Binaries, made_by: int, account: Account | None) -> list[str]:
    home, kept = shlex.quote(str(data.parent)), shlex.quote(f"{data}-{made_by}")
    old, new, python = shlex.quote(old), shlex.quote(str(binaries.bin)), shlex.quote(sys.executable)
    port = f"54{made_by}"
    # setpriv, not sudo: containers, where people are root, have no sudo.
    become = f"setpriv --reuid={account.uid} --regid={account.gid} --clear-groups " if account else ""
    read_password = f'import json; print(json.load(open("secrets.json"))["{SUPERUSER}"])'
    options = ", outlives=True"
    if binaries.origin == "LEASEHOLD_PG_BIN":
        options += f", pg_bin=Path({str(binaries.bin)!r})"
    start_new = (
        "from pathlib import Path; from leasehold.postgres import Server;"
        f" print(Server(Path.cwd(){options}).start().port)"
    )
    stop_running = [f"{become}{old}/pg_ctl -D data -m fast -w stop"] if postmaster.find(data) else []
    return [
        f"cd {home}",
        *stop_running,
        f"mv data {kept}",
        f"export PGHOST=127.0.0.1 PGUSER={SUPERUSER} PGPASSWORD=$({python} -c {shlex.quote(read_password)})",
        f"""{become}{old}/pg_ctl -D {kept} -o "-p {port} -h 127.0.0.1 -k ''" -l /dev/null -w start""",
        f"new_port=$({python} -c {shlex.quote(start_new)})",
        f"{old}/pg_dumpall -p {port} | {new}/psql -p $new_port -d postgres -q",
        f"{become}{old}/pg_ctl -D {kept} -m fast -w stop",
    ]
