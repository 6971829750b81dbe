"""Real servers, each in a folder of its own that PostgreSQL's account can reach; pytest's own is private to root."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leasehold.postgres import Endpoint, Home, ephemeral_home, find_binaries, postmaster

OLD = Path("/usr/lib/postgresql/15/bin")


@pytest.fixture
def folder() -> Iterator[Path]:
    made = ephemeral_home(in_memory=True)
    yield made
    for lock in list(made.rglob("postmaster.pid")):
        if left := postmaster.find(lock.parent):
            postmaster.stop(left, timeout=10)
    for parent in {secrets.parent for secrets in made.rglob("secrets.json")}:
        Home(parent).wipe()
    shutil.rmtree(made)


@pytest.fixture
def home(folder: Path) -> Path:
    return folder / "a home, with spaces"


@pytest.fixture(scope="session")
def psql() -> Callable[[Endpoint, str], str]:
    program = find_binaries().bin / "psql"

    def ask(endpoint: Endpoint, sql: str) -> str:
        command = [str(program), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", endpoint.url(), "-c", sql]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
        ).stdout.strip()

    return ask


@pytest.fixture
def old_bin() -> Path:
    if not OLD.exists():
        pytest.skip("PostgreSQL 15 is not installed here")
    return OLD


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root runs PostgreSQL as another account")
