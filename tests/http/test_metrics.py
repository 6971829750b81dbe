"""What the server tells Prometheus agrees with the tables."""

import httpx

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold.http.app import Services
from leasehold.metrics import CATALOGUE
from tests.cell import Cell
from tests.http.conftest import Hand, client_of
from tests.scraping import Read, parsed


async def scraped(services: Services) -> Read:
    async with client_of(services) as here:
        answer = await here.get("/metrics")
    assert answer.status_code == 200
    return parsed(answer.text)


def labels(**given: str) -> frozenset[tuple[str, str]]:
    return frozenset(given.items())


async def test_depth_and_age_of_a_queue_follow_its_jobs(
    services: Services, cell: Cell, a: httpx.AsyncClient, hand: Hand
) -> None:
    for _ in range(3):
        await a.post("/v1/jobs", json={"kind": "t.work"})
    await a.post("/v1/jobs", json={"kind": "t.work", "delay_s": 100})
    await hand.claim()
    await cell.pass_time(500)
    found = await scraped(services)
    jobs, ages = found["jobs"], found["queue_age_seconds"]
    depth = {state: jobs[labels(queue="default", state=state)] for state in ("queued", "scheduled", "running")}
    assert depth == {"queued": 2, "scheduled": 1, "running": 1}
    age = {state: ages[labels(queue="default", state=state)] for state in depth}
    assert 500 <= age["queued"] < 560
    assert 400 <= age["scheduled"] < 460, "since it was due, not since it was asked for"
    assert 500 <= age["running"] < 560


async def test_after_a_drain_the_numbers_are_those_of_the_tables(
    services: Services, cell: Cell, a: httpx.AsyncClient, hand: Hand, worker_db: Database
) -> None:
    for outcome in ("succeeded", "succeeded", "failed"):
        await a.post("/v1/jobs", json={"kind": "t.work"})
        await hand.end(await hand.claim(), outcome)
    [at] = await cell.look(
        "select extract(epoch from min(finished_at)) % 60 as s, max(finished_at) as last from leasehold.attempt"
    )
    await cell.pass_time(125 - at["s"])  # into the second minute after the one in which they ended
    await maintenance.roll_up_job_counts(worker_db)
    found = await scraped(services)
    assert set(found["jobs"].values()) == {0}
    counted = {dict(key)["outcome"]: n for key, n in found["minute_attempts"].items()}
    table = await cell.look("select outcome, count(*) as n from leasehold.attempt group by outcome")
    assert counted == {row["outcome"]: row["n"] for row in table} == {"succeeded": 2, "failed": 1}
    assert found["workers"][labels()] == 1
    assert found["orphan_leases"][labels()] == 0


async def test_trouble_shows_in_the_numbers(services: Services, cell: Cell, a: httpx.AsyncClient, hand: Hand) -> None:
    await a.post("/v1/jobs", json={"kind": "t.work"})
    await hand.claim()
    await cell.change("update leasehold.worker set ended_at = now()")
    await cell.pass_time(30 * 86_400)
    await a.post("/v1/jobs", json={"kind": "t.work"})
    found = await scraped(services)
    assert found["orphan_leases"][labels()] == 1
    assert found["partition_days_ahead"][labels()] < 0
    assert found["default_partition_jobs"][labels()] == 1
    assert found["workers"][labels()] == 0


async def test_every_name_and_label_is_in_the_catalogue(services: Services, a: httpx.AsyncClient) -> None:
    await a.post("/v1/jobs", json={"kind": "t.work"})
    for name, samples in (await scraped(services)).items():
        metric = CATALOGUE[name]
        assert metric.where in ("installation", "server", "process")
        for key in samples:
            assert {label for label, _ in key} == set(metric.labels), name


async def test_the_installation_tells_all_of_its_metrics(services: Services, cell: Cell) -> None:
    await cell.change(  # for the minute that is told now and the next one, should it begin meanwhile
        "insert into leasehold.stat select date_trunc('minute', leasehold.now()) - ago, tenant_id,"
        " 'default', 't.work', 'succeeded', 1, 2000, 3000"
        " from leasehold.tenant cross join (values (interval '2 minutes'), (interval '1 minute')) m(ago)"
        " where name = 'a'"
    )
    expected = {name for name, metric in CATALOGUE.items() if metric.where in ("installation", "process", "server")}
    elsewhere = {"http_answers_total", "replica_staleness_seconds"}  # after the first answer; where there is a replica
    assert expected <= {*(await scraped(services)), *elsewhere}
