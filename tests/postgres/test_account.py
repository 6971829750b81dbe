import os
import pwd
import subprocess
from pathlib import Path

import pytest

from leasehold.errors import PostgresMissing
from leasehold.postgres import choose_account
from leasehold.postgres.account import process_arguments

NOWHERE = Path("/nonexistent")


def _only(*names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def getpwnam(name: str) -> pwd.struct_passwd:
        if name not in names:
            raise KeyError(name)
        return pwd.struct_passwd((name, "x", 4242, 4243, "", "/", "/bin/false"))

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", getpwnam)


@pytest.mark.parametrize(
    ("accounts", "chosen"),
    [
        (("postgres", "nobody"), "postgres"),
        (("nobody",), "nobody"),
    ],
)
def test_root_takes_postgres_and_else_nobody(
    accounts: tuple[str, ...], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only(*accounts, monkeypatch=monkeypatch)
    account = choose_account(NOWHERE)
    assert account is not None
    assert (account.name, account.uid, account.gid) == (chosen, 4242, 4243)


def test_root_without_an_account_is_told_to_bring_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch=monkeypatch)
    with pytest.raises(PostgresMissing) as caught:
        choose_account(NOWHERE)
    assert "LEASEHOLD_DATABASE_URL" in (caught.value.hint or "")


def test_an_ordinary_user_needs_no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert choose_account(NOWHERE) is None


@pytest.mark.usefixtures("as_root")
def test_the_owner_of_an_existing_data_folder_wins(folder: Path) -> None:
    os.chown(folder, 54321, 54322)
    account = choose_account(folder)
    assert account is not None
    assert (account.name, account.uid, account.gid) == ("uid 54321", 54321, 54322)


@pytest.mark.usefixtures("as_root")
def test_programs_run_as_the_account_with_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    account = choose_account(NOWHERE)
    assert account is not None
    said = subprocess.run(
        ["/bin/sh", "-c", "id -u; id -G; pwd; env"], capture_output=True, text=True, **process_arguments(account)
    ).stdout
    assert said.splitlines()[:3] == [str(account.uid), str(account.gid), "/"]
    assert "SECRET_OF_OURS" not in said
