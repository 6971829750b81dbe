"""``/``: how things are, for one tenant or for all."""

import httpx

from leasehold.tokens import Key
from tests.http.conftest import Keys, bearer


async def show(dashboard: str, key: Key) -> str:
    async with httpx.AsyncClient(base_url=dashboard, headers=bearer(key)) as client:
        return (await client.get("/")).text


async def make_job(dashboard: str, key: Key) -> str:
    async with httpx.AsyncClient(base_url=dashboard, headers=bearer(key)) as client:
        made = await client.post("/v1/jobs", json={"kind": "shop.refund"})
        return str(made.json()["job_id"])


async def test_the_overview_shows_its_reader_s_own_jobs_alone(dashboard: str, key: Keys) -> None:
    job_id = await make_job(dashboard, key.a)
    assert job_id in await show(dashboard, key.a)
    assert job_id not in await show(dashboard, key.b)


async def test_the_operator_sees_the_jobs_of_all_tenants_and_the_workers(dashboard: str, key: Keys) -> None:
    made = [await make_job(dashboard, one) for one in (key.a, key.b)]
    page = await show(dashboard, key.operator)
    assert all(job_id in page for job_id in made)
    assert "Workers" in page
    assert "Queues" in page
