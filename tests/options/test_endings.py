"""What a handler returns or raises means the same wherever it runs: task, thread, process, batch, remote worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from leasehold import Settings
from leasehold.database.database import Database
from leasehold.program.client import Backend, Client
from leasehold.remote import Worker
from tests.cell import Cell
from tests.http.conftest import Keys
from tests.options import endings
from tests.remote.conftest import key, url
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.running import running

__all__ = ["key", "url"]  # fixtures

HOWS = [
    "nothing", "a result", "a result that cannot be kept", "retry", "retry later", "retry and hold the gate", "snooze",
    "snooze and hold the gate", "cancel", "fail", "an error", "an error without words", "an end of the program",
]  # fmt: skip
HERE = ["h.thread", "h.batch", pytest.param("h.process", marks=pytest.mark.long),
        pytest.param("h.sync_process", marks=pytest.mark.long)]  # fmt: skip


@pytest.mark.parametrize("kind", HERE)
async def test_an_ending_is_the_same_in_every_handler(cell: Cell, api_db: Database, kind: str) -> None:
    client = Client(Backend(Settings(), api_db), cell.tenant_a)
    async with running(cell, endings.app):
        wanted = await ended(cell, client, "h.task")
        found = await ended(cell, client, kind)
    assert_same(found, wanted)


@pytest.mark.parametrize("kind", ["h.remote", "h.remote_thread"])
async def test_an_ending_is_the_same_far_away(cell: Cell, api_db: Database, url: str, key: Keys, kind: str) -> None:
    client = Client(Backend(Settings(), api_db), cell.tenant_a)
    async with running(cell, endings.app):
        wanted = await ended(cell, client, "h.task")
    async with far_away(url, key):
        found = await ended(cell, client, kind)
    assert_same(found, wanted)


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    different = [
        f"{how}: {part} {found[how][part]!r} instead of {was!r}"
        for how, parts in wanted.items()
        for part, was in parts.items()
        if found[how][part] != was
    ]
    assert not different, "\n".join(different)


@asynccontextmanager
async def far_away(url: str, key: Keys) -> AsyncIterator[None]:
    worker = endings.remote(Worker(url, key.a.text, slots=20, lease_s=20.0, grace_s=5.0))
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await task


async def ended(cell: Cell, client: Client, kind: str) -> dict[str, Any]:
    """What becomes of a job of this kind with each ending, and with two payloads that its handler cannot read."""
    options: dict[str, Any] = {"retry_base_s": 80_000.0, "retry_cap_s": 80_000.0}  # a second attempt is for another day
    asked = {}
    for how in HOWS:
        asked[how] = (await client.enqueue(kind, {"how": how}, gate=f"{kind}/{how}", **options)).job_id
    asked["a payload that does not fit"] = (await client.enqueue(kind, {"what": 1}, **options)).job_id
    asked["a payload of a newer program"] = (await client.enqueue(kind, {"how": "fail"}, version=9, **options)).job_id

    async def all_attempted() -> bool:
        return all([await client.attempts(job_id) for job_id in asked.values()])

    await eventually(all_attempted, what=f"an attempt of every job of {kind}")
    return {how: await what_became(cell, client, job_id, f"{kind}/{how}") for how, job_id in asked.items()}


async def what_became(cell: Cell, client: Client, job_id: UUID, gate: str) -> dict[str, Any]:
    job = await client.get(job_id)
    held = await cell.look(
        "select extract(epoch from held_until - at) as held from leasehold.gate_word where held_until is not null"
        f" and gate_id = leasehold.gate_id('{client.tenant_id}', '{gate}')"
    )
    return {
        "job": (str(job.state), job.attempt, job.result, _words(job.error)),
        "later": _after(((job.run_at or job.created_at) - job.created_at).total_seconds()),
        "attempts": [(one.attempt, one.outcome, _words(one.error)) for one in await client.attempts(job_id)],
        "events": [(event.seq, event.type, _plain(event.message)) for event in await client.events(job_id)],
        "gate": [row["held"] for row in held],
    }


def _after(seconds: float) -> str:
    """A back-off is drawn by lot, between half of its base and all of it."""
    return "the back-off" if seconds >= 40_000 else f"{round(seconds / 1000)},000 s"


def _words(error: dict[str, Any] | None) -> Any:
    return error and (error["type"], _plain(error["message"]), "traceback" in error, error.get("gate_after_s"))


def _plain(message: str | None) -> str | None:
    """What is wrong with a payload is said by different libraries."""
    return "a fault of the payload" if message in _FAULTS else message


_FAULTS = ("how: Field required", "Order.__init__() got an unexpected keyword argument 'what'")
