"""Single enqueue and plain drain of this checkout beside another one, in turn, and what they cost.

    git worktree add ../before <commit> && make -C ../before setup
    python benchmarks/compare_checkouts.py ../before [--rounds 40] [--drain 20000] [--enqueue 400]

Both work on one PostgreSQL, durable, in databases of their own. A client and a worker of each live
from the first round to the last; in a round each checkout has its turn, of a fraction of a second,
while the processes of the other are stopped. So what others do on the machine disturbs both alike.

Printed are the medians, and of each measure the ratio, new by old: the median of the rounds, the
middle half of them, and that of the sums. Only commands and names that programs import are used,
so the checkouts may differ in all that is behind them.
"""

import argparse
import os
import secrets
import signal
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from leasehold.postgres import Home, Server, find_binaries, instance_home

TENANTS = [f"t{number}" for number in range(20)]
#: Between the last start and the moment when its end has been reported.
_REPORT_SECONDS = 0.1
_PATIENCE_SECONDS = 120.0

#: ``python program.py`` is a client: each line tells it how many jobs to ask for, and how many in a
#: call. Its app is that of the worker, which says how long every so many starts took.
PROGRAM = """
import asyncio, itertools, os, sys, time
from pydantic import BaseModel
from leasehold import Context, Leasehold

TENANTS = {tenants!r}
DRAIN = {drain}
app = Leasehold()
started = 0

class Noop(BaseModel):
    number: int = 0

@app.handler("bench.noop")
async def noop(ctx: Context, job: Noop) -> None:
    global started, first
    started += 1
    if started % DRAIN == 1:
        first = time.monotonic()
    elif started % DRAIN == 0:
        print(time.monotonic() - first, flush=True)

async def ask():
    async with app:
        turn = itertools.cycle(TENANTS)
        for tenant in TENANTS:
            await app.client(tenant)
        print("ready", flush=True)
        for line in sys.stdin:
            n, size = map(int, line.split())
            began = time.monotonic()
            if size == 1:
                for number in range(n):
                    await app.enqueue("bench.noop", Noop(number=number), tenant=next(turn))
            else:
                for number in range(0, n, size):
                    jobs = [Noop(number=number)] * min(size, n - number)
                    await app.enqueue_many("bench.noop", jobs, tenant=next(turn))
            print(time.monotonic() - began, flush=True)

if __name__ == "__main__":
    asyncio.run(ask())
"""


class Figures(NamedTuple):
    per_second: float
    own_us: float  # of a processor, for each job, in the process that is measured
    server_us: float  # in all processes of PostgreSQL


class Checkout:
    """One of the two: its client and its worker, which are stopped unless it has its turn."""

    def __init__(self, client: "Program", worker: "Program", server: "Postgres") -> None:
        self._client, self._worker, self._server = client, worker, server

    @classmethod
    @contextmanager
    def running(cls, root: Path, folder: Path, server: "Postgres", drain: int) -> Iterator[Self]:
        binaries, name = root / ".venv" / "bin", f"compare_{secrets.token_hex(4)}"
        folder.mkdir()
        (folder / "program.py").write_text(PROGRAM.format(tenants=TENANTS, drain=drain))
        env = {one: os.environ[one] for one in os.environ if not one.startswith("LEASEHOLD_")}
        env |= {"LEASEHOLD_DATABASE_URL": server.url(name), "LEASEHOLD_PACKS": "none"}
        server.sql(f"create database {name}")
        for arguments in (["db", "migrate"], *(["tenants", "create", one] for one in TENANTS)):
            command = [binaries / "leasehold", *arguments]
            subprocess.run(command, env=env, check=True, capture_output=True)
        with (
            Program([binaries / "python", "program.py"], folder, env) as client,
            Program([binaries / "leasehold", "worker", "program:app"], folder, env) as worker,
        ):
            client.said()
            server.wait_for(name, "select from leasehold.worker where ended_at is null")
            checkout = cls(client, worker, server)
            for _ in range(3):  # what is done once only
                checkout.enqueue(drain // 10)
                checkout.drain(drain - drain // 10)
            yield checkout

    def enqueue(self, jobs: int) -> Figures:
        """One by one. They wait for the next drain."""
        with self._client.turn():
            before, own = self._server.used(), self._client.used()
            seconds = self._client.told(f"{jobs} 1")
            own, server = self._client.used() - own, self._server.used() - before
        return Figures(jobs / seconds, own / jobs * 1e6, server / jobs * 1e6)

    def drain(self, jobs: int) -> Figures:
        """So many more, and what the enqueue before has left."""
        with self._client.turn():
            self._client.told(f"{jobs} 1000")
        before, own = self._server.used(), self._worker.used()
        with self._worker.turn():
            seconds = float(self._worker.said())
            time.sleep(_REPORT_SECONDS)
            own, server = self._worker.used() - own, self._server.used() - before
        return Figures(jobs / seconds, own / jobs * 1e6, server / jobs * 1e6)


class Program:
    """A process that is stopped outside of its turns."""

    def __init__(self, command: list[str | Path], folder: Path, env: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        streams: Any = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, cwd=folder, env=env, text=True, **streams)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        self._process.wait(_PATIENCE_SECONDS)

    @contextmanager
    def turn(self) -> Iterator[None]:
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def told(self, line: str) -> float:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return float(self.said())

    def said(self) -> str:
        assert self._process.stdout
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"{self._process.args} has ended")
        return line

    def used(self) -> float:
        return used_by(self._process.pid)


class Postgres:
    """The server of both."""

    def __init__(self, server: Server) -> None:
        endpoint = server.start()
        self.url, self._pid = endpoint.url, endpoint.pid
        self._psql = find_binaries(None).bin / "psql"

    def sql(self, statement: str, database: str = "postgres") -> str:
        command = [self._psql, "-XAtqc", statement, "-d", self.url(database)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def wait_for(self, database: str, query: str) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while not self.sql(f"select 1 where exists ({query})", database):
            if time.monotonic() > until:
                raise TimeoutError(query)
            time.sleep(0.1)

    def used(self) -> float:
        """Seconds of a processor that it has used so far."""
        children = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()
        return used_by(self._pid) + sum(used_by(int(child)) for child in children)


def used_by(pid: int) -> float:
    """Seconds of a processor, to the nanosecond."""
    with suppress(OSError):  # it has ended
        tasks = list(Path(f"/proc/{pid}/task").glob("*/schedstat"))
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
    return 0.0


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Durable, and gone at the end."""
    home = Home(Path(f"{instance_home(None)}-compare-{secrets.token_hex(4)}"))
    home.make()
    server = Server(home.path, options={"autovacuum": "off"})
    try:
        yield Postgres(server)
    finally:
        server.stop()
        home.wipe()


def main(other: Path, rounds: int, *, drain: int, enqueue: int) -> None:
    roots = {"old": other.resolve(), "new": Path(__file__).resolve().parents[1]}
    found: dict[str, dict[str, list[Figures]]] = defaultdict(lambda: defaultdict(list))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(postgres())
        checkouts = {
            name: stack.enter_context(Checkout.running(root, folder / name, server, drain))
            for name, root in roots.items()
        }
        for number in range(rounds):
            for name in sorted(checkouts, reverse=bool(number % 2)):
                found["single enqueue"][name].append(checkouts[name].enqueue(enqueue))
                found["plain drain"][name].append(checkouts[name].drain(drain - enqueue))
    print(f"{rounds} rounds, load {os.getloadavg()[0]:.1f}")
    for what, runs in found.items():
        heads = ("old", "new", "ratio", "from", "to", "of sums")
        print(f"\n{what:<15}", *(f"{name:>9}" for name in heads))
        for field in Figures._fields:
            old, new = ([getattr(one, field) for one in runs[name]] for name in roots)
            ratios = [n / o for n, o in zip(new, old, strict=True)]
            first, middle, third = statistics.quantiles(ratios)
            sums = sum(1 / o for o in old) / sum(1 / n for n in new)
            shown = [middle, first, third, sums if field == "per_second" else sum(new) / sum(old)]
            medians = f"{statistics.median(old):9.1f} {statistics.median(new):9.1f}"
            print(f"{field:<15} {medians}", *(f"{ratio:9.3f}" for ratio in shown))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("other", type=Path, help="a checkout with its own .venv")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--drain", type=int, default=20_000, help="jobs in one turn")
    parser.add_argument("--enqueue", type=int, default=400, help="jobs in one turn, one by one")
    given = parser.parse_args()
    main(given.other, given.rounds, drain=given.drain, enqueue=given.enqueue)
