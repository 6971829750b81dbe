"""A worker's port: health, readiness, and numbers that agree with the tables."""

import asyncio
import socket
from collections import Counter
from dataclasses import replace

import httpx
import pytest

from leasehold.errors import LeaseholdError
from leasehold.metrics import BUCKETS, CATALOGUE
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Fail, Retry
from leasehold.worker import Worker
from leasehold.worker.heartbeat import Heartbeat
from tests.cell import Cell
from tests.cli.program import started
from tests.scraping import Read, parsed
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT, FAST, Shop, running

WATCHED = replace(FAST, worker_port=0)


async def asked(worker: Worker, path: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(f"http://127.0.0.1:{worker.port}{path}")


async def scraped(worker: Worker) -> Read:
    return parsed((await asked(worker, "/metrics")).text)


def mixed() -> Leasehold:
    """Attempts that end in every way that a worker itself reports."""
    app = Leasehold()

    @app.handler("t.mixed", attempts=2)
    async def mixed(ctx: Context, payload: dict[str, int]) -> None:
        match payload["n"] % 4:
            case 0:
                raise Fail("never")
            case 1:
                raise Retry("once more", after=0)
            case 2:
                async with ctx.transaction() as tx:
                    await tx.complete(None)

    return app


async def test_after_a_drain_the_counters_are_those_of_the_tables(cell: Cell, shop: Shop) -> None:
    async with running(cell, mixed(), WATCHED) as worker:
        ids = await shop.enqueue_many("t.mixed", [{"n": n} for n in range(24)])
        for job_id in ids:
            await shop.ended(job_id)
        found = await scraped(worker)
        rows = await cell.look("select outcome, count(*) as n from leasehold.attempt group by outcome")
    table = {row["outcome"]: row["n"] for row in rows}
    counted: Counter[str] = Counter()
    for key, n in found["attempts_total"].items():
        labels = dict(key)
        assert (labels["queue"], labels["kind"]) == ("default", "t.mixed")
        counted[labels["outcome"]] += int(n)
    assert counted == table == {"succeeded": 12, "failed": 6, "errored": 12}
    assert sum(found["claims_total"].values()) == sum(table.values())
    assert sum(found["run_seconds_count"].values()) == sum(table.values())
    assert found["leases"][frozenset()] == 0
    assert "fenced_total" not in found


async def test_waits_are_sampled_from_first_attempts_alone(cell: Cell, shop: Shop) -> None:
    app = mixed()
    first = await shop.enqueue("t.mixed", {"n": 1})
    await cell.pass_time(40)
    async with running(cell, app, WATCHED) as worker:
        await shop.ended(first)

        async def sampled() -> Read | None:
            found = await scraped(worker)
            return found if "wait_seconds_count" in found else None

        found = await eventually(sampled, what="a sample")
        assert found
    assert len(await shop.history(first)) > 1
    assert sum(found["wait_seconds_count"].values()) == 1
    below = {dict(key)["le"]: n for key, n in found["wait_seconds_bucket"].items()}
    assert (below["30"], below["60"], below["+Inf"]) == (0, 1, 1), "it waited a little more than 40 s"
    assert list(below) == [*map(str, BUCKETS), "+Inf"]


async def test_a_fenced_end_is_counted_and_is_no_end(cell: Cell, shop: Shop) -> None:
    app, taken = Leasehold(), asyncio.Event()

    @app.handler("t.slow")
    async def slow(ctx: Context) -> None:
        await taken.wait()

    async with running(cell, app, WATCHED) as worker:
        job_id = await shop.enqueue("t.slow")
        await eventually(lambda: leased(cell), what="a lease")
        await cell.change("delete from leasehold.lease")  # as a reaper does, without its other steps
        taken.set()

        async def fenced() -> bool:
            return (await scraped(worker)).get("fenced_total", {}).get(frozenset()) == 1

        await eventually(fenced, what="a fenced write")
        assert "attempts_total" not in await scraped(worker)
    assert await shop.history(job_id) == []


async def leased(cell: Cell) -> bool:
    return bool(await cell.look("select from leasehold.lease"))


async def test_unknown_kinds_do_not_become_time_series(cell: Cell, shop: Shop) -> None:
    async with running(cell, Leasehold(), WATCHED) as worker:
        await shop.enqueue("t.nobody_knows_this")

        async def given_back() -> Read | None:
            found = await scraped(worker)
            return found if "attempts_total" in found else None

        found = await eventually(given_back, what="the job given back")
        assert found
    [key] = found["attempts_total"]
    assert dict(key) == {"queue": "default", "kind": "unknown", "outcome": "released"}


async def test_every_name_and_label_is_in_the_catalogue(cell: Cell, shop: Shop) -> None:
    async with running(cell, mixed(), WATCHED) as worker:
        await shop.run("t.mixed", {"n": 3})
        text = (await asked(worker, "/metrics")).text
        found = parsed(text)
    for name, samples in found.items():
        family = name if name in CATALOGUE else name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        assert CATALOGUE[family].where in ("worker", "process")
        for key in samples:
            assert {label for label, _ in key} - {"le"} == set(CATALOGUE[family].labels)
    assert f"# TYPE leasehold_run_seconds {CATALOGUE['run_seconds'].type}" in text.splitlines()


async def test_a_worker_is_ready_while_its_beats_get_through(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(cell, Leasehold(), WATCHED) as worker:
        assert (await asked(worker, "/healthz")).text == "ok\n"
        assert (await asked(worker, "/readyz")).status_code == 200
        monkeypatch.setattr(Heartbeat, "silent_seconds", 100.0)
        silent = await asked(worker, "/readyz")
        assert (silent.status_code, silent.text) == (503, "no heartbeat got through for 100 s\n")
        assert (await asked(worker, "/healthz")).status_code == 200, "a restart would not bring the database back"
        assert (await asked(worker, "/nothing")).status_code == 404
        async with httpx.AsyncClient() as client:
            assert (await client.post(f"http://127.0.0.1:{worker.port}/healthz")).status_code == 405
        worker.stop()
        assert worker.why_not_ready() == "stopping"


async def test_noise_on_the_port_harms_nobody(cell: Cell) -> None:
    async with running(cell, Leasehold(), WATCHED) as worker:
        for noise in (b"\x00\xff\x16\x03\r\n\r\n", b"GET " + b"a" * 100_000 + b"\r\n\r\n", b""):
            reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
            writer.write(noise)
            writer.write_eof()
            await reader.read()
            writer.close()
        assert (await asked(worker, "/healthz")).status_code == 200


async def test_a_port_that_is_taken_is_named(cell: Cell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = replace(FAST, worker_port=taken.getsockname()[1])
        with pytest.raises(LeaseholdError, match=f"LEASEHOLD_WORKER_PORT={settings.worker_port}"):
            async with running(cell, Leasehold(), settings):
                pass


async def test_processes_under_one_parent_count_their_ports_up(cell: Cell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    env = cell.environment() | ENVIRONMENT | {"LEASEHOLD_WORKER_PORT": str(port)}
    with started("worker", "--processes", "2", env=env) as parent:
        for number in (port, port + 1):

            async def ready(number: int = number) -> bool:
                try:
                    async with httpx.AsyncClient() as client:
                        return (await client.get(f"http://127.0.0.1:{number}/readyz")).status_code == 200
                except httpx.TransportError:
                    return False

            await eventually(ready, what=f"a worker on port {number}")
        assert (await asyncio.to_thread(parent.stopped)).code == 0


async def test_a_port_on_loopback_answers_to_loopback_names_alone(cell: Cell) -> None:
    async with running(cell, mixed(), WATCHED) as worker, httpx.AsyncClient() as client:
        found = [
            (await client.get(f"http://127.0.0.1:{worker.port}{path}", headers={"Host": host})).status_code
            for path in ("/metrics", "/healthz")
            for host in ("localhost", f"127.0.0.1:{worker.port}", "[::1]", "evil.example", "evil.example:80", "a b", "")
        ]
        reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
        writer.write(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b" 200 " in await reader.readline(), "a program that names no host is no browser"
        writer.close()
    assert found == [200, 200, 200, 421, 421, 421, 421] * 2


async def test_without_a_port_nothing_is_counted(cell: Cell, shop: Shop) -> None:
    async with running(cell, mixed()) as worker:
        await shop.run("t.mixed", {"n": 3})
        assert (worker.port, worker._metrics) == (None, None)


async def test_list_waits_answers_in_the_order_of_the_question(cell: Cell, shop: Shop) -> None:
    async with running(cell, mixed()):
        ids = [(await shop.run("t.mixed", {"n": n})).job_id for n in (3, 1)]
    rows = await cell.look("select job_id, token from leasehold.attempt order by token")
    tokens = {row["job_id"]: row["token"] for row in rows}
    asked_for = [(ids[1], tokens[str(ids[1])]), (ids[0], tokens[str(ids[0])]), (ids[0], 0)]
    waits = await shop._db.value("list_pickup_delays", [job for job, _ in asked_for], [token for _, token in asked_for])
    assert [wait is None for wait in waits] == [True, False, True]
