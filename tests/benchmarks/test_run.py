"""Our own scenarios, tiny, through the real command: no figure is judged here, only that there is one."""

import json
import re
import signal
from pathlib import Path

import asyncpg
import pytest

from leasehold.errors import BadInput
from leasehold.settings import Settings
from leasehold_bench.report import Report
from leasehold_bench.run import measure
from leasehold_bench.scenarios import SCENARIOS, choose
from leasehold_bench.server import administer, database_url, find_server
from leasehold_bench.sizes import Bench, Sizes
from tests.cli.program import Said, started

pytestmark = pytest.mark.long

TINY = ("--scale", "0.01", "--reps", "1")
MEASURES = {
    "W,X": [
        "W p95 ms, all answer",
        "W p95 ms, 1 in 10 hangs",
        "W ratio",
        "X bare client/s",
        "X fetch/s",
        "X ratio",
    ],
    "A,B,H": ["A enqueue/s", "B bulk/s", "H enqueue/s, 50 callers"],
    "C,D,G,J": ["C drain/s x1", "D drain/s x2", "G first/s", "G last/s", "G windows/s", "J drain/s, groups"],
    "E,I": ["E p50 ms", "E p99 ms", "I p95 ms, flood of 100", "I p95 ms, flood of 10,000"],
    "F,L": ["F load s", "F drain/s, backlog", "L idle MB", "L busy MB"],
    "K,M": [
        "K load s",
        "K database MB",
        "K drain/s, history",
        "M WAL bytes/job, enqueued one by one",
        "M WAL bytes/job, enqueued in bulk",
        "M WAL bytes/job, drained",
        "M commits/job, drained",
    ],
}
#: One outcome is swallowed, as if it had been lost.
LOSE_ONE = """
create sequence losses;
grant usage on sequence losses to public;
create function lose_one() returns trigger language plpgsql as $$
begin
  if nextval('public.losses') = 1 then delete from leasehold.job where job_id = new.job_id; end if;
  return new;
end $$;
create trigger lose_one before insert on leasehold.outcome for each row execute function lose_one();
"""


def test_every_scenario_is_tried_here() -> None:
    assert sorted("".join(MEASURES).replace(",", "")) == sorted(SCENARIOS)


@pytest.mark.parametrize("letters", MEASURES)
def test_a_scenario_gives_its_figures_and_leaves_nothing_behind(
    letters: str, own_server: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    said = bench("--scenarios", letters, *TINY, "--json", "--out", str(out), env=own_server)
    assert said.code == 0, said.err
    assert said.json == json.loads(out.read_text())
    assert said.json["void"] == []
    assert list(said.json["notes"]) == [letter for letter in letters.split(",") if SCENARIOS[letter].note]
    assert list(said.json["results"]) == MEASURES[letters]
    assert all(value for systems in said.json["results"].values() for value in systems["leasehold"])
    assert databases(own_server, said.err) == []


def test_the_document_says_on_what_it_was_measured(own_server: dict[str, str]) -> None:
    said = bench("--scenarios", "A", "--scale", "0.01", "--reps", "3", "--json", env=own_server).json
    assert said["command"] == "leasehold bench --scenarios A --scale 0.01 --reps 3 --json"
    assert said["machine"]["cores"] >= 1
    assert said["server"]["settings"]["synchronous_commit"] == "on"
    assert not said["server"]["embedded"]
    assert said["worker"]["slots"] == Settings().slots
    assert said["sizes"]["enqueue"] == 15
    assert len(said["results"]["A enqueue/s"]["leasehold"]) == 3
    assert said["medians"]["A enqueue/s"]["leasehold"] == sorted(said["results"]["A enqueue/s"]["leasehold"])[1]


def test_the_table_is_for_people_and_can_be_shown_again(own_server: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    said = bench("run", "--scenarios", "A", *TINY, "--out", str(out), env=own_server)
    assert re.fullmatch(r"A enqueue/s\t[\d.,]+\n", said.out)
    assert bench("show", str(out)).out == said.out


async def test_a_run_that_lost_a_row_is_void(own_server: dict[str, str]) -> None:
    said: list[str] = []
    report = Report(about={})
    async with find_server(Settings(database_url=own_server["LEASEHOLD_DATABASE_URL"])) as server:
        await administer(database_url(server.admin_url, server.template), LOSE_ONE)
        tiny = Bench(server=server, sizes=Sizes.chosen(quick=True, scale=0.01), repetitions=1)
        await measure(tiny, SCENARIOS["C"], 0, report, said.append)
    assert report.results == {}
    assert [void["scenario"] for void in report.void] == ["C"]
    assert "there are -1 jobs, 600 attempts, 600 outcomes" in report.void[0]["why"]
    assert "void" in said[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_benchmark_leaves_nothing_behind(number: signal.Signals, own_server: dict[str, str]) -> None:
    with started("bench", "--scenarios", "K", "--scale", "0.1", env=own_server) as program:
        program.said("K drain")
        assert databases(own_server, program.err) != []
        program.kill(number)
        program.kill(number)  # somebody who is impatient
        said = program.ended()
    assert said.code == 130
    assert databases(own_server, said.err) == []


def test_a_login_that_may_not_create_databases_is_told_what_to_do(own_server: dict[str, str]) -> None:
    url = own_server["LEASEHOLD_DATABASE_URL"]
    run_sync(url, "create role modest login password 'modest'")
    try:
        modest = re.sub("//.*@", "//modest:modest@", url)
        said = bench("--scenarios", "A", *TINY, env={"LEASEHOLD_DATABASE_URL": modest})
    finally:
        run_sync(url, "drop role modest")
    assert said.code == 1
    assert "modest may not create databases" in said.err
    assert 'alter role "modest" createdb' in said.err


def test_without_a_url_an_embedded_server_is_durable_and_gone_afterwards(homes: Path) -> None:
    said = bench("--scenarios", "A", *TINY, "--json", env={"LEASEHOLD_HOME": str(homes / "home")})
    assert said.code == 0, said.err
    assert said.json["server"]["embedded"]
    assert said.json["server"]["settings"]["fsync"] == "on"
    assert list(homes.iterdir()) == []


def test_a_quick_run_has_a_tenth_of_the_jobs_where_there_are_a_million() -> None:
    full, quick = Sizes.chosen(quick=False, scale=1.0), Sizes.chosen(quick=True, scale=1.0)
    assert (full.backlog, full.great_flood, full.history) == (1_000_000, 1_000_000, 10_000_000)
    assert (quick.backlog, quick.great_flood, quick.history) == (100_000, 100_000, 1_000_000)
    assert quick.drain == full.drain == 60_000


def test_an_unknown_scenario_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="no scenario Z") as caught:
        choose("A,Z")
    assert "C drain, 1 process" in (caught.value.hint or "")


def test_a_file_that_cannot_be_written_or_read_is_found_out_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    said = bench("--out", str(tmp_path / "nowhere" / "out.json"))
    assert (said.code, "there is no folder" in said.err) == (2, True)
    said = bench("show", str(tmp_path / "nothing.json"))
    assert (said.code, "is no document of a benchmark" in said.err) == (2, True)


def bench(*arguments: str, env: dict[str, str] | None = None) -> Said:
    with started("bench", *arguments, env=env or {}) as program:
        return program.ended(180.0)


def databases(own_server: dict[str, str], said: str) -> list[str]:
    """Those that the benchmark which said this has on the server now."""
    name = re.search(r"leasehold_bench_\w+", said)
    assert name, said
    found = run_sync(
        own_server["LEASEHOLD_DATABASE_URL"],
        "select datname from pg_database where starts_with(datname, $1)",
        name[0],
    )
    return [row[0] for row in found]


def run_sync(url: str, statement: str, *args: str) -> list[asyncpg.Record]:
    from leasehold.testing.server import apart

    async def run() -> list[asyncpg.Record]:
        connection = await asyncpg.connect(url)
        try:
            return list(await connection.fetch(statement, *args))
        finally:
            await connection.close()

    return apart(run)
