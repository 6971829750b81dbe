"""`leasehold up` and `leasehold down`: whole instances in folders of their own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest

from leasehold.postgres import Home, Server, postmaster
from tests.cli.program import LEASEHOLD, environment, leasehold, started
from tests.waiting import PATIENCE_SECONDS, eventually, until

NewHome = Callable[[], Path]


def at(home: Path, **more: str) -> dict[str, str]:
    return {"LEASEHOLD_HOME": str(home), "LEASEHOLD_POLL_SECONDS": "0.05"} | more


def server_of(home: Path) -> postmaster.Postmaster | None:
    return postmaster.find(home / "data")


def listed(home: Path) -> list[str]:
    return [job["job_id"] for job in leasehold("jobs", "list", "--json", env=at(home)).json]


async def test_up_says_where_it_is_in_one_line_of_json_and_the_folder_is_all_a_command_needs(
    home: Path,
) -> None:
    with started("up", "--json", env=at(home)) as up:
        ready = up.document()
        assert {"api", "dashboard", "database_url", "key", "login", "pid"} <= set(ready)
        assert ready["pid"] == up.process.pid
        connection = await asyncpg.connect(ready["database_url"])
        try:
            assert await connection.fetchval("select current_user") == "leasehold_api"
        finally:
            await connection.close()

        said = leasehold("run", "demo.hello", "name=Ada", "steps=1", "--follow", "--json", env=at(home))
        assert (said.code, said.json["state"], said.json["result"]) == (0, "succeeded", "Hello, Ada!")
        assert leasehold("db", "status", env=at(home)).code == 0
        assert up.stopped().code == 0


@pytest.mark.long
async def test_up_with_the_demo_shows_work_of_every_kind(home: Path) -> None:
    with started("up", "--demo", "--json", env=at(home)) as up:
        connection = await asyncpg.connect(up.document()["database_url"])
        try:
            demo = await connection.fetchval("select leasehold.find_tenant('demo')")
            await connection.execute("select set_config('leasehold.tenant', $1, false)", str(demo))

            async def has(query: str, *expected: str) -> bool:
                return {row[0] for row in await connection.fetch(query)} >= set(expected)

            found = "select jobs from leasehold.find_jobs('{}', null, 200)"
            jobs = f"select state from leasehold.list_jobs_operator(({found}))"
            for query, *expected in (
                (jobs, "succeeded", "failed", "running", "scheduled", "canceled"),
                ("select flow from leasehold.list_approvals()", "order"),
                ("select state from leasehold.list_deliveries()", "delivered"),
                ("select name from leasehold.list_schedules()", "nightly-report", "poll-the-feed", "weekly-digest"),
                ("select gate from leasehold.list_gates()", "host:bank.example.com"),
            ):
                await eventually(partial(has, query, *expected), what=f"{expected} of {query}")
        finally:
            await connection.close()
        assert leasehold("demo", "--seconds", "0", env=at(home)).code == 0  # once more does no harm
        assert up.stopped().code == 0


@pytest.mark.long
def test_a_second_up_of_the_same_folder_is_refused_by_the_pid_of_the_first(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        up.document()
        second = leasehold("up", "--json", env=at(home))
        assert (second.code, second.out) == (4, "")
        assert f"pid {up.process.pid}" in second.err
        assert "leasehold down" in second.err
        assert not up.has_ended
        assert server_of(home)
        up.stopped()


@pytest.mark.long
def test_sigterm_stops_everything_and_the_next_start_finds_the_data(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        up.document()
        job_id = leasehold("run", "demo.hello", "steps=1", "--follow", "--json", env=at(home)).json["job_id"]
        server = server_of(home)
        assert server
        assert up.stopped().code == 0
    assert not postmaster.serves(server.pid, server.data)
    assert server_of(home) is None
    with started("up", "--json", env=at(home)) as up:
        up.document()
        assert listed(home) == [job_id]
        up.stopped()


def test_an_ephemeral_instance_prints_a_key_that_a_script_can_use(home: Path) -> None:
    with started("up", "--ephemeral", "--json", env=at(home, LEASEHOLD_PORT="0")) as up:
        ready = up.document()
        headers = {"Authorization": f"Bearer {ready['key']}", "Prefer": "wait=60"}
        made = httpx.post(f"{ready['api']}/v1/jobs", json={"kind": "demo.hello"}, headers=headers, timeout=90).json()
        assert made["job"]["state"] == "succeeded"
        assert ready["key"] not in up.err
        assert up.stopped().code == 0


def test_ctrl_c_stops_everything_too(home: Path) -> None:
    with started("up", env=at(home)) as up:
        up.said("Ready")
        up.kill(signal.SIGINT)
        assert up.ended().code == 0
        assert up.out == "", "what is for people goes to stderr"
        assert "\x1b" not in up.err
    assert server_of(home) is None


def test_a_closed_terminal_stops_everything_too(home: Path) -> None:
    keyboard, terminal = os.openpty()
    # A session leader whose terminal it is: it hears of its end, as a shell's command does, also
    # where the tests themselves run under nohup.
    take = "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL);"
    take += "os.setsid(); fcntl.ioctl(2, termios.TIOCSCTTY, 0);"
    run = f"{take} os.execv(sys.executable, [sys.executable, '-m', 'leasehold', 'up', '--json'])"
    up = subprocess.Popen(
        [sys.executable, "-c", run], stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, env=environment(at(home))
    )
    try:
        os.close(terminal)
        assert up.stdout
        assert b"database_url" in up.stdout.readline()
        assert server_of(home)
        os.close(keyboard)
        assert up.wait(PATIENCE_SECONDS) == 0
        assert server_of(home) is None
    finally:
        up.kill()
        up.wait()
        up.stdout and up.stdout.close()


@pytest.mark.long
def test_nohup_keeps_it_up_when_the_terminal_is_closed(home: Path) -> None:
    with started("up", "--json", env=at(home), command=("nohup", *LEASEHOLD)) as up:
        up.document()
        up.kill(signal.SIGHUP)
        assert leasehold("run", "demo.hello", "steps=1", "--follow", env=at(home)).code == 0
        assert up.stopped().code == 0


@pytest.mark.parametrize("option", [[], pytest.param(["--ephemeral"], marks=pytest.mark.long)])
def test_the_server_of_an_up_that_is_killed_ends_by_itself(home: Path, option: list[str]) -> None:
    with started("up", "--json", *option, env=at(home)) as up:
        url = urlsplit(up.document()["database_url"])
        up.kill()
        up.ended()
    until(lambda: not is_open(url.port), what="the end of the server")
    assert server_of(home) is None


def is_open(port: int | None) -> bool:
    assert port
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
def test_up_after_a_kill_finds_the_jobs(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        up.document()
        job_id = leasehold("run", "demo.hello", "steps=1", "--follow", "--json", env=at(home)).json["job_id"]
        up.kill()
        up.ended()
    with started("up", "--json", env=at(home)) as up:
        up.document()
        assert "took over" not in up.err
        assert listed(home) == [job_id]
        assert leasehold("run", "demo.hello", "steps=1", "--follow", env=at(home)).code == 0
        assert up.stopped().code == 0
    assert server_of(home) is None


@pytest.mark.long
def test_up_takes_over_a_server_that_was_left_behind_and_says_so(home: Path) -> None:
    left = leave_a_server(home)
    with started("up", "--json", env=at(home)) as up:
        up.document()
        assert f"took over PostgreSQL (pid {left}), which an earlier process left running here" in up.err
        assert up.stopped().code == 0
    assert server_of(home) is None


def test_down_stops_a_server_that_was_left_behind(home: Path) -> None:
    leave_a_server(home)
    said = leasehold("down", env=at(home))
    assert (said.code, said.out) == (0, "")
    assert "left behind" in said.err
    assert server_of(home) is None
    assert (home / "data").exists()


def leave_a_server(home: Path) -> int:
    """As if its owner and what watches over it had both been killed."""
    start = "import sys; from pathlib import Path; from leasehold.postgres import Server; home = Path(sys.argv[1]);"
    start += " print(Server(home, outlives=True).start().pid)"
    done = subprocess.run([sys.executable, "-c", start, str(home)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.long
def test_down_stops_what_is_up_and_with_wipe_removes_the_folder(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        up.document()
        said = leasehold("down", "--wipe", env=at(home))
        assert said.code == 0
        assert f"pid {up.process.pid}" in said.err
        assert up.ended().code == 0
    assert not home.exists()
    assert leasehold("down", env=at(home)).code == 0


@pytest.mark.long
def test_two_instances_do_not_know_each_other(new_home: NewHome) -> None:
    one, two = new_home(), new_home()
    with started("up", "--json", env=at(one)) as first, started("up", "--json", env=at(two)) as second:
        ports = {urlsplit(up.document()["database_url"]).port for up in (first, second)}
        assert len(ports) == 2
        leasehold("run", "demo.hello", "steps=1", "--follow", env=at(one))
        assert leasehold("down", env=at(one)).code == 0
        first.ended()
        assert server_of(one) is None
        assert not second.has_ended
        said = leasehold("run", "demo.hello", "steps=1", "--follow", "--json", env=at(two))
        assert said.code == 0
        assert listed(two) == [said.json["job_id"]]
        second.stopped()


@pytest.mark.long
def test_an_ephemeral_instance_leaves_no_folder_and_no_process(home: Path) -> None:
    base = home.parent / "tmp"
    base.mkdir()
    base.chmod(0o1777)
    with started("up", "--ephemeral", "--json", env=at(home, TMPDIR=str(base))) as up:
        ready = up.document()
        [used] = base.glob("leasehold-*")
        server = server_of(used)
        assert server
        own = {"LEASEHOLD_API_URL": ready["database_url"]}
        assert leasehold("run", "demo.hello", "steps=1", "--follow", env=own).code == 0
        assert up.stopped().code == 0
    assert list(base.iterdir()) == []
    assert not home.exists(), "the folder of the setting is not touched"
    assert not postmaster.serves(server.pid, server.data)


@pytest.mark.long
def test_a_remembered_port_that_is_taken_gives_way_to_another(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        port = urlsplit(up.document()["database_url"]).port
        up.stopped()
    assert port
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thief.bind(("127.0.0.1", port))
        thief.listen()
        with started("up", "--json", env=at(home)) as up:
            other = urlsplit(up.document()["database_url"]).port
            assert other != port
            assert leasehold("run", "demo.hello", "steps=1", "--follow", env=at(home)).code == 0
            up.stopped()


@pytest.mark.long
def test_a_port_is_kept_from_start_to_start(home: Path) -> None:
    ports = []
    for _ in range(2):
        with started("up", "--json", env=at(home)) as up:
            ports.append(urlsplit(up.document()["database_url"]).port)
            up.stopped()
    assert ports[0] == ports[1]


def test_a_command_without_an_instance_says_how_to_start_one(home: Path) -> None:
    said = leasehold("jobs", "list", env=at(home))
    assert (said.code, said.out) == (6, "")
    assert "leasehold up" in said.err


@pytest.mark.long
def test_a_command_after_the_end_of_the_instance_says_how_to_start_one(home: Path) -> None:
    with started("up", "--json", env=at(home)) as up:
        up.document()
        up.stopped()
    said = leasehold("jobs", "list", env=at(home))
    assert (said.code, said.out) == (6, "")
    assert "leasehold up" in said.err
    assert "Traceback" not in said.err


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_the_start_leaves_nothing_running(home: Path, number: int) -> None:
    with started("up", "--json", env=at(home)) as up:
        until(lambda: (home / "lock").exists(), what="the lock")
        up.kill(number)
        up.ended()
    assert server_of(home) is None
    assert Home(home).holder() is None


@pytest.mark.long
def test_up_on_a_database_of_the_users_own_takes_the_roles_itself(new_home: NewHome) -> None:
    """One URL only: no role of ours can log in, and each connection but a migration's takes one."""
    with Server(theirs := new_home(), ephemeral=True, options={"log_statement": "all"}) as server:
        url = server.start().url()
        home = new_home()
        own = at(home, LEASEHOLD_DATABASE_URL=url)
        with started("up", "--json", env=own) as up:
            assert up.document()["database_url"].startswith("postgresql://")
            said = leasehold("run", "demo.hello", "steps=1", "--follow", "--json", env=own)
            assert (said.code, said.json["state"]) == (0, "succeeded")
            assert leasehold("tenants", "list", "--json", env=own).json
            up.stopped()
        assert not (home / "data").exists()
        assert server_of(theirs), "a server of theirs is not ours to stop"
