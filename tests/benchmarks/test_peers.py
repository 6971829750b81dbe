"""`bench peers` against a harness that only looks like one: nothing is installed and nothing measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leasehold.errors import LeaseholdError, Unreachable
from leasehold_bench.peers import harness
from leasehold_bench.peers.harness import Harness, failures
from tests.cli.program import Said, leasehold
from tests.waiting import until

RUN = """
import json, os, sys
SYSTEMS = {"swift": ("bird", "sys_swift.py", {}), "slow": ("snail", "sys_slow.py", {})}
if __name__ == "__main__":
    given = {}
    for word in sys.argv[1:]:
        if word.startswith("--"):
            given[word] = words = []
        else:
            words.append(word)
    given["environment"] = {name: os.environ.get(name) for name in ("BENCH_PG", "BENCH_ROOT", "LEASEHOLD_TENANT")}
    json.dump(given, open("given.json", "w"))
    print("12:00:00 T swift {}", flush=True)
    print(os.environ.get("FAKE_FAILURE", ""), flush=True)
    results = {"C drain/s x1": {"swift": [100, 300, 200], "leasehold": [500, 300, 400]}}
    json.dump({"settings": {"swift": {}}, "results": results}, open(given["--out"][0], "w"))
"""
SETUP = """
echo "$@" >> installed
for name in "$@"; do
  test "$name" != snail || { mkdir -p "$BENCH_ROOT/venvs/$name"; echo "no such package" >&2; exit 1; }
  mkdir -p "$BENCH_ROOT/venvs/$name/bin" && ln -s "$BENCH_PYTHON" "$BENCH_ROOT/venvs/$name/bin/python"
done
"""
#: What the adapter needs of it for a check.
COMMON = """
import asyncio, json, os
PG = os.environ.get("BENCH_PG", "postgresql://nobody@127.0.0.1:1/")
mark = pg_reset = None
def main(adapter):
    asyncio.run(adapter.producer())
def pg_scalar(database, statement):
    if "shobj_description" in statement:
        return os.environ["FAKE_RUNNER"]
    good = {"jobs": 9, "waiting": 2, "attempts": 7, "outcomes": 7, "leases": 0}
    return json.loads(os.environ.get("FAKE_ROWS", json.dumps(good)))
"""
SERVICES = """
port=$(sed -E 's/.*:([0-9]+).*/\\1/' <<<"$BENCH_PG")
"$BENCH_PYTHON" -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1 &
echo $! > served; sleep 2; echo "redis $!"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "harness"
    folder.mkdir()
    for name, text in {"run.py": RUN, "setup.sh": SETUP, "common.py": COMMON, "services.sh": SERVICES}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def surroundings(folder: Path, tmp_path: Path, own_server: dict[str, str]) -> dict[str, str]:
    return {
        "LEASEHOLD_BENCH": str(folder),
        "BENCH_ROOT": str(tmp_path / "root"),
        "BENCH_PG": own_server["LEASEHOLD_DATABASE_URL"],
        "LEASEHOLD_TENANT": "mine",
    }


def test_peers_are_installed_and_run_beside_us(surroundings: dict[str, str], folder: Path, tmp_path: Path) -> None:
    said = peers("--peers", "swift", "--scenarios", "C,D,H", "--reps", "5", "--json", env=surroundings)
    assert said.code == 0, said.err
    assert (folder / "installed").read_text() == "bird raw\n"
    assert "12:00:00 T swift" in said.err
    given = json.loads((folder / "given.json").read_text())
    assert given["--systems"] == ["swift"]
    assert given["--scenarios"] == ["T", "H"]  # it measures A to D in one go
    assert given["--reps"] == ["5"]
    assert given["--extra"] == [f"leasehold={sys.executable}:{harness.ADAPTER}"]
    assert given["environment"] == {
        "BENCH_PG": surroundings["BENCH_PG"],
        "BENCH_ROOT": str(tmp_path / "root"),
        "LEASEHOLD_TENANT": None,  # settings of ours are no part of it
    }


def test_the_document_is_the_harness_s_own_with_ratios(surroundings: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    said = peers("swift", "--json", "--out", str(out), env=surroundings).json
    assert said == json.loads(out.read_text())
    assert said["settings"] == {"swift": {}}
    assert said["results"]["C drain/s x1"] == {"swift": [100, 300, 200], "leasehold": [500, 300, 400]}
    assert said["ratios"] == {"C drain/s x1": {"swift": 2.0}}
    assert said["failed"] == []
    assert said["machine"]["python"]
    assert said["command"].startswith("leasehold bench peers swift")


def test_the_table_has_a_column_for_each_peer(surroundings: dict[str, str]) -> None:
    assert peers("swift", env=surroundings).out == "C drain/s x1\t400 (300–500)\t200 (100–300) (2×)\n"


def test_what_is_installed_is_not_installed_again(surroundings: dict[str, str], folder: Path) -> None:
    peers("swift", env=surroundings)
    peers("swift", env=surroundings)
    assert (folder / "installed").read_text() == "bird raw\n"


def test_what_was_half_installed_is_installed_again(surroundings: dict[str, str], tmp_path: Path) -> None:
    said = peers("slow", env=surroundings)
    assert said.code == 1
    assert "no such package" in said.err
    assert not (tmp_path / "root" / "venvs" / "snail").exists()


@pytest.mark.parametrize(
    "rows",
    [
        {"jobs": 9, "waiting": 2, "attempts": 7, "outcomes": 6, "leases": 0},  # an outcome is lost
        {"jobs": 9, "waiting": 2, "attempts": 8, "outcomes": 7, "leases": 0},  # a job was run twice
        {"jobs": 9, "waiting": 1, "attempts": 7, "outcomes": 7, "leases": 0},  # a job is nowhere
        {"jobs": 9, "waiting": 2, "attempts": 7, "outcomes": 7, "leases": 1},  # a job is held by nobody
    ],
    ids=str,
)
def test_a_run_of_ours_that_lost_something_is_void(rows: dict[str, int], surroundings: dict[str, str]) -> None:
    said = peers("swift", "--json", env=surroundings | {"FAKE_ROWS": json.dumps(rows)})
    assert said.code == 1
    assert "void" in said.json["failed"][0]


@pytest.mark.parametrize("ours", [True, False], ids=["this run", "an earlier one"])
def test_what_this_run_of_the_harness_lost_is_found_by_its_next_command(
    ours: bool,
    folder: Path,
) -> None:
    rows = {"jobs": 9, "waiting": 2, "attempts": 7, "outcomes": 6, "leases": 0}
    runner = f"runner {os.getpid() if ours else 1}"
    env = {"PYTHONPATH": str(folder), "FAKE_RUNNER": runner, "FAKE_ROWS": json.dumps(rows)}
    command = [sys.executable, str(harness.ADAPTER), "bulk", "1"]
    said = subprocess.run(command, env=os.environ | env, capture_output=True, text=True)
    assert ("void" in said.stderr) == ours


def test_what_the_harness_says_has_failed_is_kept(surroundings: dict[str, str]) -> None:
    said = peers("swift", "--json", env=surroundings | {"FAKE_FAILURE": "FAILED T leasehold Traceback\n  KeyError: 1"})
    assert said.code == 1
    assert said.json["failed"] == ["T leasehold: KeyError: 1"]


def test_a_failure_ends_where_the_next_line_of_progress_begins() -> None:
    lines = ["FAILED T a first", "", "last", "", "12:00:00 T b {}", "more", "FAILED H c only", "| system |"]
    assert failures(lines) == ["T a: last", "H c: only"]


def test_an_unknown_peer_is_refused_with_the_known_ones(surroundings: dict[str, str]) -> None:
    said = peers("swift", "H", env=surroundings)
    assert said.code == 2
    assert "knows no H" in said.err
    assert "swift, slow" in said.err


def test_without_a_harness_the_way_out_is_named(tmp_path: Path) -> None:
    said = peers(env={"LEASEHOLD_BENCH": str(tmp_path)})
    assert said.code == 3
    assert f"no benchmark harness in {tmp_path}" in said.err
    assert "LEASEHOLD_BENCH" in said.err


async def test_services_that_were_started_are_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setattr(harness, "_POSTGRES", f"postgresql://postgres@127.0.0.1:{unused_tcp_port}/")
    said: list[str] = []
    own = Harness(folder=folder, root=tmp_path / "root", postgres=None, say=said.append)
    with pytest.raises(LeaseholdError, match="in between"):
        async with own.services():
            pid = int((folder / "served").read_text())
            assert is_alive(pid)
            raise LeaseholdError("in between")
    until(lambda: not is_alive(pid), what="the end of the service")
    assert said == ["starting the harness's services", "stopping redis"]


async def test_a_server_that_is_named_and_does_not_answer_is_not_replaced(
    folder: Path, tmp_path: Path, unused_tcp_port: int
) -> None:
    url = f"postgresql://postgres@127.0.0.1:{unused_tcp_port}/"
    own = Harness(folder=folder, root=tmp_path / "root", postgres=url, say=print)
    with pytest.raises(Unreachable, match="BENCH_PG"):
        async with own.services():
            pass
    assert not (folder / "served").exists()


def peers(*arguments: str, env: dict[str, str]) -> Said:
    return leasehold("bench", "peers", *arguments, env=env)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
