import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from leasehold.errors import AlreadyRunning, BadSetting, LeaseholdError
from leasehold.postgres import Home, instance_home

HOLD = """
import sys
from pathlib import Path
from leasehold.postgres import Home
home = Home(Path(sys.argv[1]))
home.acquire()
home.write_endpoint({"url": "http://user:hush@127.0.0.1:8080/"})
print("held", flush=True)
sys.stdin.read()
"""


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_asked_for_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert instance_home(Path("here")) == tmp_path / "here"


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_every_folder_of_a_checkout_has_the_same_home(mark: str, tmp_path: Path) -> None:
    top = tmp_path / "My Shop (new)"
    (top / "src" / "shop").mkdir(parents=True)
    (top / mark).mkdir()
    home = instance_home(None, top / "src" / "shop")
    assert home == instance_home(None, top)
    assert home.name[:-9] == "my-shop-new"
    assert home != instance_home(None, tmp_path)


def test_two_checkouts_of_one_name_have_two_homes(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "shop" / ".git").mkdir(parents=True)
    assert instance_home(None, tmp_path / "a" / "shop") != instance_home(None, tmp_path / "b" / "shop")


@pytest.mark.parametrize(("name", "plain"), [("x" * 60, "x" * 40), ("čšž", "instance"), ("_Ab__9_", "ab-9")])
def test_a_home_has_a_plain_name(name: str, plain: str, tmp_path: Path) -> None:
    (tmp_path / name / ".git").mkdir(parents=True)
    assert instance_home(None, tmp_path / name).name[:-9] == plain


def test_root_and_users_have_different_bases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert instance_home(None, tmp_path).parent == Path("/var/lib/leasehold")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert instance_home(None, tmp_path).parent.name == "leasehold"


def test_the_lock_names_who_holds_it_and_where(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.holder() is None
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert home.holder() == other.pid
        with pytest.raises(AlreadyRunning) as caught:
            home.acquire()
        with pytest.raises(AlreadyRunning):
            home.wipe()
        other.kill()
    assert f"pid {other.pid} at http://127.0.0.1:8080/" in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.hint == "leasehold down"
    assert home.holder() is None
    with home.lock():
        assert home.holder() == os.getpid()


def test_what_holds_secrets_is_for_us_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    before = os.umask(0)
    try:
        with home.lock():
            home.secret("api")
            home.write_endpoint({"url": "x"})
    finally:
        os.umask(before)
    assert {name: _mode(home.path / name) for name in ("lock", "secrets.json", "endpoint.json")} == {
        "lock": 0o600,
        "secrets.json": 0o600,
        "endpoint.json": 0o600,
    }
    assert _mode(home.path) == (0o755 if os.geteuid() == 0 else 0o700)


def test_a_secret_stays_the_same_and_no_two_are_alike(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    first = home.secret("api")
    assert Home(home.path).secret("api") == first != home.secret("worker")
    assert len(first) == 32


def test_the_endpoint_is_read_as_written_and_missing_is_none(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.read_endpoint() is None
    home.write_endpoint({"url": "http://x", "port": 1})
    assert home.read_endpoint() == {"url": "http://x", "port": 1}


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    (home.path / "secrets.json").write_text("{")
    with pytest.raises(LeaseholdError, match=r"secrets\.json is not JSON"):
        home.secret("api")


def test_permissions_of_parents_stay_and_those_of_new_folders_are_ours(tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    parent.chmod(0o711)
    Home(parent / "between" / "home").make()
    assert _mode(parent) == 0o711
    assert _mode(parent / "between") == (0o755 if os.geteuid() == 0 else 0o700)


def test_a_folder_with_other_things_in_it_is_neither_used_nor_wiped(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    home = Home(tmp_path)
    for use in (home.acquire, home.wipe):
        with pytest.raises(BadSetting, match="not empty"):
            use()
    assert (tmp_path / "thesis.txt").exists()


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LeaseholdError, match="cannot be used: Not a directory"):
        Home(tmp_path / "file").make()


def test_wipe_removes_the_folder_and_a_second_wipe_is_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.secret("api")
    home.wipe()
    home.wipe()
    assert not home.path.exists()
