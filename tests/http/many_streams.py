"""Many readers of one server while jobs run: what each of them was told, and what that cost. By hand:

    python -m tests.http.many_streams --clients 500 --jobs 2000

This process serves, and counts its queries; another one has the clients, and the worker. Every job is followed by a
client that leaves and comes back at random; one client in fifty follows the whole tenant.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from leasehold.database.database import Database, Role, Target
from leasehold.database.wakeups import news_channel
from leasehold.engine import jobs, leases
from leasehold.features.activity.poller import Feed
from leasehold.http.server import serving
from leasehold.http.stream_poller import Hub
from leasehold.job import AttemptOutcome
from leasehold.remote.sse import Message, Reader
from tests.cell import Cell, apart
from tests.http.conftest import bearer, make_key, settings_of

#: What a handler says of each job; with queued, started and succeeded it has three events more.
SAID = 3
EVENTS = list(range(1, SAID + 4))
_IDLE_JOBS = 50
_looking: ContextVar[bool] = ContextVar("looking", default=False)


class Counted:
    """Queries of the server: all, and those of the looks that it takes for its streams."""

    def __init__(self) -> None:
        self.all = self.looks = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        call, looks = Database.call, {owner: owner._look for owner in (Hub, Feed)}

        async def counted(db: Database, *args: Any, **more: Any) -> Any:
            self.all += 1
            self.looks += _looking.get()
            return await call(db, *args, **more)

        def marked(look: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
            async def marked_look(one: Any) -> None:
                token = _looking.set(True)
                try:
                    await look(one)
                finally:
                    _looking.reset(token)

            return marked_look

        Database.call = counted  # type: ignore[method-assign,assignment]
        for owner, look in looks.items():
            owner._look = marked(look)  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            Database.call = call  # type: ignore[method-assign]
            for owner, look in looks.items():
                owner._look = look  # type: ignore[method-assign]


async def serve(cell: Cell, *, clients: int, count: int, idle_s: float) -> dict[str, Any]:
    """What the other process says of its streams, and what they cost this one."""
    counted = Counted()
    key = await make_key(cell, cell.tenant_a)
    settings = settings_of(cell, port=0, streams_per_tenant=clients + 10, key_requests=10_000_000)
    with counted.counting():
        async with serving(settings) as url:
            program = [sys.executable, "-m", "tests.http.many_streams", "--url", url, "--clients", str(clients)]
            other = await asyncio.create_subprocess_exec(
                *program, "--jobs", str(count), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
            assert other.stdin
            assert other.stdout
            other.stdin.write(f"{key.text} {cell.url(Role.WORKER)}\n".encode())
            found: dict[str, Any] = {}
            while line := await other.stdout.readline():
                told = json.loads(line)
                before, began = (counted.all, counted.looks, _memory()), time.monotonic()
                if told["what"] in ("one idle", "all idle"):
                    await asyncio.sleep(idle_s)
                    found[told["what"]] = {"queries": counted.all - before[0], "memory": before[2]}
                elif told["what"] == "run":
                    ran = (counted.all, counted.looks, began)
                else:
                    spent = began - ran[2]
                    found |= told | {"seconds": spent, "queries": counted.all - ran[0], "looks": counted.looks - ran[1]}
                other.stdin.write(b"go\n")
            assert await other.wait() == 0, "the clients failed"
    return found


def _memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


# -- the other process ----------------------------------------------------------------------------------------------


class Streams:
    """Opens streams at the server with as little as will do: HTTP/1.0, a socket each."""

    def __init__(self, url: str, key: str) -> None:
        self._at = urlsplit(url)
        self._key = key
        self.opened = 0

    async def open(self, stack: AsyncExitStack, path: str, last: str) -> Callable[[], Awaitable[Message | None]] | None:
        """A function that gives the next message, None at the end; or None where there is nothing more to tell."""
        reader, writer = await asyncio.open_connection(self._at.hostname, self._at.port, limit=2**24)
        stack.callback(writer.close)
        self.opened += 1
        lines = [f"GET {path} HTTP/1.0", f"Authorization: Bearer {self._key}", "Accept: text/event-stream"]
        lines += [f"Last-Event-ID: {last}"] if last else []
        writer.write("\r\n".join([*lines, "", ""]).encode())
        status = int((await reader.readline()).split()[1])
        while (await reader.readline()).strip():
            pass
        if status == 204:
            return None
        assert status == 200, (status, await reader.read())
        parser = Reader()

        async def take() -> Message | None:
            while line := await reader.readline():
                if message := parser.take(line.decode().rstrip("\n")):
                    return message
            return None

        return take


async def read_job(streams: Streams, job: str, dice: random.Random) -> list[int]:
    """The numbers that a reader is told who leaves after a few messages and comes back, until the end."""
    seen: list[int] = []
    last = "0"
    while True:
        async with AsyncExitStack() as stack:
            take = await streams.open(stack, f"/v1/jobs/{job}/events", last)
            if take is None:
                return seen
            for _ in range(dice.randrange(1, 2 * len(EVENTS))):
                message = await take()
                if message is None or message.event == "end":
                    break
                assert message.event == "patch", message
                seen.append(int(message.id))
                last = message.id
            else:
                continue
            if message is not None:
                return seen


async def read_tenant(
    streams: Streams, wanted: set[str], last: str, dice: random.Random
) -> tuple[dict[str, list[int]], int]:
    """The numbers of each job that a reader of the whole tenant is told, and how often it had to start anew.

    Whoever is away while more happens than can be told at once starts anew, and looks at the jobs themselves.
    """
    seen: dict[str, list[int]] = {job: [] for job in wanted}
    missing = set(wanted)
    while missing:
        async with AsyncExitStack() as stack:
            take = await streams.open(stack, "/v1/events", last)
            assert take
            for _ in range(dice.randrange(1, 12)):
                message = await take() if missing else None
                if message is None:
                    break
                last = message.id
                if message.event != "patch":
                    return seen, 1
                for fact in message.data["data"]:
                    if fact["job_id"] in seen:
                        seen[fact["job_id"]].append(fact["seq"])
                        if fact["seq"] == EVENTS[-1]:
                            missing.discard(fact["job_id"])
    return seen, 0


async def work(db: Database, worker: Any, left: list[int]) -> None:
    """A worker that claims ten at a time, lets each say something, and ends them."""
    while left[0] > 0:
        grants = await jobs.claim(db, worker, ["default"], 10)
        left[0] -= len(grants)
        for said in range(SAID):
            for grant in grants:
                await jobs.append_event(db, grant.token, "progress", message="", progress=said * 30)
            await db.notify(news_channel(db.target.schema), [""])
        if grants:
            await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome="succeeded") for grant in grants])
            await db.notify(news_channel(db.target.schema), [""])
        else:
            await asyncio.sleep(0.05)


async def be_clients(url: str, *, clients: int, count: int) -> None:
    key, worker_url = (await asyncio.to_thread(sys.stdin.readline)).split()
    streams, dice = Streams(url, key), random.Random(7)
    async with (
        httpx.AsyncClient(base_url=url, headers=bearer(key), timeout=60) as http,
        Database(Target(url=worker_url, role=Role.WORKER), connections=4) as db,
    ):
        await _stay_idle(http, streams, clients)
        worker = await leases.register_worker(
            db, name="w", version="0", queues=["default"], kinds={}, slots=100, lease_s=60.0
        )
        async with AsyncExitStack() as stack:
            take = await streams.open(stack, "/v1/events", "")
            assert take
            first = await take()
            assert first
        asked = await _ask(http, count, {})
        streams.opened = 0
        await _tell(what="run")
        of_tenant = max(1, clients // 50)
        readers = clients - of_tenant

        async def read_some(mine: list[str], dice: random.Random) -> list[list[int]]:
            return [await read_job(streams, job, dice) for job in mine]

        working = [asyncio.create_task(work(db, worker, left)) for left in [[count]] for _ in range(4)]
        told, whole = await asyncio.gather(
            asyncio.gather(*(read_some(asked[n::readers], random.Random(dice.random())) for n in range(readers))),
            asyncio.gather(
                *(read_tenant(streams, set(asked), first.id, random.Random(dice.random())) for _ in range(of_tenant))
            ),
        )
        await asyncio.gather(*working)
        of_jobs = [numbers for some in told for numbers in some]
        await _tell(
            what="done",
            streams=len(of_jobs),
            complete=sum(numbers == EVENTS for numbers in of_jobs),
            tenant_streams=of_tenant,
            tenant_complete=sum(all(numbers == EVENTS for numbers in seen.values()) for seen, _ in whole),
            resets=sum(resets for _, resets in whole),
            opened=streams.opened,
        )


async def _stay_idle(http: httpx.AsyncClient, streams: Streams, clients: int) -> None:
    later = await _ask(http, min(clients, _IDLE_JOBS), {"delay_s": 3600})
    async with AsyncExitStack() as stack:
        for n in range(clients):
            take = await streams.open(stack, f"/v1/jobs/{later[n % len(later)]}/events", "")
            assert take
            assert (await take()).event == "state"  # type: ignore[union-attr]
            if n == 0:
                await asyncio.sleep(0.5)  # until it has had its first looks
                await _tell(what="one idle")
        await asyncio.sleep(0.5)
        await _tell(what="all idle")


async def _ask(http: httpx.AsyncClient, count: int, more: dict[str, Any]) -> list[str]:
    made: list[str] = []
    while len(made) < count:
        asked = [{"kind": "t.work"} | more] * min(500, count - len(made))
        answered = await http.post("/v1/jobs:batch", json={"jobs": asked})
        made += [item["job_id"] for item in answered.raise_for_status().json()["data"]]
    return made


async def _tell(**what: Any) -> None:
    """Something to the process that serves; and wait until it has taken note."""
    print(json.dumps(what), flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def _by_hand(clients: int, count: int) -> bool:
    idle_s = 5.0
    async with apart() as cell:
        found = await serve(cell, clients=clients, count=count, idle_s=idle_s)
    one, all_ = found["one idle"], found["all idle"]
    grown = (all_["memory"] - one["memory"]) / max(1, clients - 1)
    print(f"streams of jobs            {found['complete']} of {found['streams']} complete and in order")
    print(f"streams of the tenant      {found['tenant_complete']} of {found['tenant_streams']} complete and in order")
    print(f"clients at once            {clients}; {found['opened']} streams opened, {found['resets']} began anew")
    print(f"time for {count} jobs         {found['seconds']:.1f} s")
    print(f"queries, 1 idle stream     {one['queries'] / idle_s:.1f} a second")
    print(f"queries, {clients} idle streams  {all_['queries'] / idle_s:.1f} a second")
    looks, queries, seconds = found["looks"], found["queries"], found["seconds"]
    print(f"queries of looks, running  {looks / seconds:.0f} a second, {looks / count:.1f} a job")
    print(f"all queries, running       {queries / seconds:.0f} a second, with those that open streams")
    print(f"memory of an idle stream   {grown / 1024:.1f} KiB")
    of_jobs, of_tenant = found["complete"] == found["streams"] == count, found["tenant_complete"] + found["resets"]
    return bool(of_jobs and of_tenant == found["tenant_streams"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--clients", type=int, default=500)
    options.add_argument("--jobs", type=int, default=2000)
    options.add_argument("--url", help="of the server: this is the process of the clients")
    given = options.parse_args()
    if given.url:
        asyncio.run(be_clients(given.url, clients=given.clients, count=given.jobs))
    elif not asyncio.run(_by_hand(given.clients, given.jobs)):
        sys.exit("not every stream was complete")


if __name__ == "__main__":
    main()
