"""The kinds to try things with do what their help says."""

from leasehold.features.demo.handlers import app
from tests.cell import Cell
from tests.worker.running import Shop, running


async def test_hello_greets_and_reports_its_steps(cell: Cell, shop: Shop) -> None:
    job_id = await shop.enqueue("demo.hello", {"name": "Ada", "steps": 2})
    async with running(cell, app):
        assert (await shop.ended(job_id)).result == "Hello, Ada!"
    said = [event.message for event in await shop.events(job_id, "progress")]
    assert said == ["step 1 of 2", "step 2 of 2"]


async def test_fail_fails_on_purpose_until_its_attempts_are_used_up(cell: Cell, shop: Shop) -> None:
    job_id = await shop.enqueue("demo.fail", max_attempts=1)
    async with running(cell, app):
        ended = await shop.ended(job_id)
    assert ended.state == "dead"
    assert "attempt 1 of 1 failed on purpose" in str(ended.error)
