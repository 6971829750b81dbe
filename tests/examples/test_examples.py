"""Every example, run as its first lines say."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from leasehold.testing import Kit
from tests.cli.program import Said, leasehold, started

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
ON_SCREEN = {
    "01_enqueue.py": ["the same key is the same job: True", "Hello, Ada!"],
    "02_handler.py": ["Receipt(number='r-17')", "failed after attempt 1: nothing to refund"],
    "03_transaction.py": ["ordered 12", "not ordered 13 because we do not sell that", "rows: [12]"],
    "04_sqlalchemy.py": ["committed: queued", "rolled back: None"],
    "07_flow.py": [
        "watch these? yes",
        "succeeded {'failed': 1, 'succeeded': 10}",
        "mug: 900 → 800",
        "pen: still 250",
        "vase: 4000 → gone",
    ],
    "05_sync.py": ["accepted: queued", "in a transaction of its own: scheduled"],
}


@pytest.fixture
def env(leasehold: Kit) -> dict[str, str]:
    return leasehold.environment | {"DATABASE_URL": leasehold.admin_url, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def worker(env: dict[str, str]) -> Iterator[None]:
    with started("worker", "02_handler:app", env=env, cwd=EXAMPLES) as running:
        yield
        assert running.stopped().code == 0


def python(*arguments: str, env: dict[str, str], cwd: Path = EXAMPLES) -> Said:
    with started(*arguments, env=env, cwd=cwd, command=(sys.executable,)) as program:
        return program.ended(120)


def test_there_is_no_example_that_is_not_run() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == {*ON_SCREEN, "06_testing.py"}
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in (*scripts, "your_own_pack") if name not in listed] == []


@pytest.mark.parametrize("name", ["01_enqueue.py", "02_handler.py"])
def test_an_example_that_waits_for_a_worker(name: str, env: dict[str, str], worker: None) -> None:
    said = python(name, env=env)
    assert (said.code, said.out.splitlines()) == (0, ON_SCREEN[name]), said.err


def test_the_example_of_flows(env: dict[str, str]) -> None:
    with started("worker", "07_flow:app", env=env, cwd=EXAMPLES) as running:
        said = python("07_flow.py", env=env)
        assert (said.code, said.out.splitlines()) == (0, ON_SCREEN["07_flow.py"]), said.err
        assert running.stopped().code == 0


@pytest.mark.parametrize(("name", "jobs"), [("03_transaction.py", 1), ("04_sqlalchemy.py", 1), ("05_sync.py", 2)])
def test_an_example_with_rows_of_its_own(name: str, jobs: int, env: dict[str, str], leasehold: Kit) -> None:
    said = python(name, env=env)
    assert (said.code, said.out.splitlines()) == (0, ON_SCREEN[name]), said.err
    leasehold.sync.assert_enqueued("demo.hello", count=jobs)


def test_the_example_of_tests() -> None:
    said = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "06_testing.py", "-c", "/dev/null", env={})
    assert said.code == 0, said.out + said.err
    assert "4 passed" in said.out


def test_the_pack_to_copy_is_installed_found_tested_and_run(tmp_path: Path) -> None:
    copy, site = tmp_path / "pack", tmp_path / "site"
    shutil.copytree(EXAMPLES / "your_own_pack", copy)
    env = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    install = (
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "--target",
        str(site),
        str(copy),
    )
    said = python(*install, env={}, cwd=tmp_path)
    assert said.code == 0, said.err
    said = python("-m", "pytest", "-q", "-p", "no:cacheprovider", env=env, cwd=copy)
    assert said.code == 0, said.out + said.err
    with started("up", "--ephemeral", "--json", env=env) as up:
        api = {"LEASEHOLD_API_URL": up.document()["database_url"]}
        said = leasehold("run", "notes.write", "text=hello", "--follow", env=env | api)
        assert (said.code, said.out) == (0, "1\n"), said.err
        said = leasehold("notes", "count", env=env | api)
        assert (said.code, said.out) == (0, "1\n"), said.err
        refused = httpx.get(f"{up.document()['api']}/v1/notes")
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
        for public, status in (("true", 200), ("false", 404)):
            said = leasehold("run", "notes.write", "text=hi", f"public={public}", "--follow", "--json", env=env | api)
            seen = httpx.get(f"{up.document()['api']}/n/{said.json['job_id']}")
            assert seen.status_code == status, seen.text
        assert up.stopped().code == 0
