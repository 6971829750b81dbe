"""A worker with the pack, boards on loopback, and somebody who asks for runs."""

import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from leasehold import Leasehold
from leasehold.database.database import Database
from leasehold.features.webhooks import handlers as webhook
from leasehold.plugins.discovery import app_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.postings import feature, search, service, store, store_postings, store_runs
from leasehold_packs.postings.model import GAP, NewSource, Options, Run, Source
from leasehold_packs.postings.model_postings import PostingSummary
from leasehold_packs.postings.store_runs import Details
from tests.cell import Cell
from tests.corpora.data import CORPORA
from tests.features.webhooks.hooks import KEY
from tests.fetch.world import serving
from tests.packs.postings.replay import Board, Boards, Job
from tests.waiting import eventually
from tests.worker.running import FAST, running


class Tracker:
    """Adds boards of a server as sources, runs them, and looks at what became of the postings."""

    def __init__(self, access: Access, port: int) -> None:
        self.access = access
        self.base = f"http://127.0.0.1:{port}"

    async def add(self, board: Board, *, company: str = "Acme", **options: Any) -> UUID:
        new = NewSource(board=board.shape, slug=board.slug, base=self.base, company=company)
        async with self.access.transaction() as tx:
            return (await service.add_source(tx, new, Options(**options))).source_id

    async def start(self, *sources: UUID, details: Details = "due") -> UUID:
        async with self.access.transaction() as tx:
            made = await service.request_run(tx, self.access.actor, sources=list(sources) or None, details=details)
        return made.run_id

    async def run(self, *sources: UUID, details: Details = "due") -> Run:
        return await self.ended(await self.start(*sources, details=details))

    async def ended(self, run_id: UUID) -> Run:
        async def look() -> Run | None:
            async with self.access.transaction() as tx:
                run = await store_runs.get_run(tx, run_id)
            return None if run.state == "running" else run

        run = await eventually(look, what="the end of the run", seconds=300)
        assert run is not None
        return run

    async def source(self, source_id: UUID) -> Source:
        async with self.access.transaction() as tx:
            return await store.get_source(tx, source_id)

    async def find(
        self, q: str | None = None, *, exact: bool = False, **query: Any
    ) -> tuple[list[PostingSummary], search.Found]:
        question = search.question_of(search.Query(q=q, **query))
        async with self.access.transaction() as tx:
            found = await search.find(tx, question, limit=1000, exact=exact)
            return await store_postings.list_postings(tx, found.ids), found

    async def states(self, source_id: UUID | None = None) -> dict[str, int]:
        async with self.access.transaction() as tx:
            rows = await tx.fetch(
                "select state, count(*) as n from leasehold_postings.posting"
                " where $1::uuid is null or source_id = $1 group by state",
                source_id,
            )
        return {row["state"]: row["n"] for row in rows}


Opened = Callable[..., Any]


@pytest.fixture
async def tracking(cell: Cell, api_db: Database, monkeypatch: pytest.MonkeyPatch) -> Opened:
    monkeypatch.setenv(GAP, "0.001")

    @asynccontextmanager
    async def opened(boards: Boards, *, allow: str = "") -> AsyncIterator[Tracker]:
        async with serving(boards) as port:
            allowed = ",".join(filter(None, (f"127.0.0.1:{port}", allow)))
            # A lease that outlasts every leap of the clock.
            settings = replace(FAST, lease_seconds=1e8, fetch_allow=allowed, fetch_gap_seconds=0.0001, secret_keys=KEY)
            app = Leasehold(settings)
            app.include(app_of(feature))
            app.include(webhook.app)
            async with running(cell, app, settings):
                yield Tracker(Access(Backend(Settings(), api_db), cell.tenant_a, "test"), port)

    return opened


def uber() -> list[Job]:
    """370 real postings."""
    with gzip.open(CORPORA / "postings" / "uber.json.gz") as file:
        jobs = json.load(file)["jobs"]
    return [
        Job(
            id=job["id"],
            title=job["title"],
            locations=tuple(job["locations"]),
            text=job["description"],
            department=job["department"],
        )
        for job in jobs
    ]
