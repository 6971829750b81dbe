"""Bulk actions from a page, over HTTP and from the command line: shown, confirmed and done are the same number."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import httpx
import pytest

from leasehold.dashboard import app
from leasehold.database.database import Role
from leasehold.engine import jobs
from leasehold.engine.tenants import create_queue
from leasehold.features.jobs import handlers as jobs_act
from leasehold.http.server import serving
from leasehold.job import State
from tests.cell import Cell
from tests.cli.program import leasehold
from tests.features.people.signed_in import member
from tests.http.conftest import bearer, make_key, settings_of
from tests.waiting import eventually
from tests.worker.bulk import count, put_dead
from tests.worker.running import running

#: So many jobs come to fit the filter between the count and the act.
LATER = 3
#: A queue that no worker serves: what is retried stays.
ASIDE = "aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to ask, as the member of tenant a: its numbers, and the job that does it."""

    shown: int
    confirmed: int
    job_id: UUID


@asynccontextmanager
async def site(cell: Cell) -> AsyncIterator[str]:
    async with serving(settings_of(cell, host="127.0.0.1", port=0), packs=[], mount=app.mount) as url:
        yield url


async def over_http(cell: Cell, url: str, later: str) -> Way:
    key = await make_key(cell, cell.tenant_a)
    async with httpx.AsyncClient(base_url=url, headers=bearer(key), timeout=120) as client:
        order = {"action": "retry", "filter": {"state": "dead", "tag": "x"}}
        shown = (await client.post("/v1/jobs:act", json=order | {"dry_run": True})).json()
        await put_dead(cell, cell.tenant_a, LATER, later, ASIDE)
        made = await client.post(f"/v1/selections/{shown['selection_id']}/act", json={})
    assert made.status_code == 202, made.text
    return Way(shown=shown["count"], confirmed=made.json()["count"], job_id=UUID(made.json()["job_id"]))


async def on_the_page(cell: Cell, url: str, later: str) -> Way:
    token, _ = await member(cell, cell.tenant_a, "member")
    cookies = {f"leasehold_session_{url.rpartition(':')[2]}": token.text}
    same = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(base_url=url, cookies=cookies, headers=same, timeout=120) as client:
        asked = await client.get("/jobs/confirm", params={"act": "cancel_all", "q": "tag:x"})
        shown = re.search(r"<h1[^>]*>Cancel ([\d,]+) jobs\?</h1>", asked.text)
        button = re.search(r"<button[^>]*>Cancel ([\d,]+) jobs</button>", asked.text)
        assert shown
        assert button
        form = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', asked.text))
        await retry_dead(cell, later)
        answer = await client.post("/jobs/act", data={name: html.unescape(text) for name, text in form.items()})
    assert answer.status_code == 303, answer.text
    job_id = UUID(answer.headers["location"].partition("?")[0].rpartition("/")[2])
    return Way(shown=number(shown[1]), confirmed=number(button[1]), job_id=job_id)


async def from_a_shell(cell: Cell, url: str, later: str) -> Way:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a"}
    filters = ("--state", "canceled", "--tag", "x")
    shown = await asyncio.to_thread(leasehold, "jobs", "delete", *filters, "--dry-run", env=env)
    said = re.fullmatch(r"would delete (\d+) jobs\n", shown.err)
    assert said, shown.err
    made = await asyncio.to_thread(leasehold, "jobs", "delete", *filters, "--yes", "--json", env=env)
    assert made.code == 0, made.err
    await cancel_waiting(cell, later)
    return Way(shown=int(said[1]), confirmed=made.json["count"], job_id=UUID(made.json["job_id"]))


async def retry_dead(cell: Cell, kind: str) -> None:
    await move(cell, "retry", {"kind": kind, "state": "dead"})


async def cancel_waiting(cell: Cell, kind: str) -> None:
    await move(cell, "cancel", {"kind": kind})


async def move(cell: Cell, function: str, filters: dict[str, str]) -> None:
    """By somebody else, one after the other."""
    async with cell.database(Role.API, connections=1) as db:
        for job in await jobs.list_jobs(db, cell.tenant_a, filters):
            await db.call(function, job.job_id, tenant=cell.tenant_a)


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("n", [1_200, pytest.param(100_000, marks=pytest.mark.long)])
async def test_what_is_shown_is_confirmed_and_done_by_every_way(cell: Cell, n: int) -> None:
    """The same jobs are retried over HTTP, canceled on the page and deleted from a shell; others fit in between."""
    async with cell.database(Role.API, connections=1) as db:
        await create_queue(db, ASIDE)
    await put_dead(cell, cell.tenant_a, n, queue=ASIDE)
    await put_dead(cell, cell.tenant_b, LATER, "t.foreign")
    async with site(cell) as url, running(cell, jobs_act.app):
        for way, was, becomes in (
            (over_http, "dead", None),
            (on_the_page, None, "canceled"),
            (from_a_shell, "canceled", "gone"),
        ):
            asked = await way(cell, url, "t.later")
            done = await ended(cell, asked.job_id, n)
            assert (asked.shown, asked.confirmed, done) == (n, n, {"selected": n, "done": n, "changed": 0}), way
            assert await count(cell, "t.work", was) == 0
            assert becomes == "gone" or await count(cell, "t.work", becomes) == n
    assert await count(cell, "t.later", "canceled") == LATER, "each time they came after the count"
    assert await count(cell, "t.foreign", "dead") == LATER


async def ended(cell: Cell, job_id: UUID, n: int) -> object:
    """The result of the job, once it is there; a page's begins after its time to think again."""
    async with cell.database(Role.API, connections=1) as db:
        if (await jobs.get_job(db, cell.tenant_a, job_id)).state is State.SCHEDULED:
            await cell.pass_time(11)

        async def ask() -> object:
            job = await jobs.get_job(db, cell.tenant_a, job_id)
            assert job.state not in (State.FAILED, State.DEAD, State.CANCELED), job.error
            return job.result if job.state is State.SUCCEEDED else None

        return await eventually(ask, what=f"the end of {job_id}", seconds=30 + n / 100)
