"""The demo: a made-up board in the shape of Greenhouse on this machine, which hires, edits and closes meanwhile."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from html import escape
from typing import TypedDict
from uuid import UUID

from leasehold import Access
from leasehold.errors import Conflict
from leasehold_packs.postings import search, service, store, store_postings, store_runs
from leasehold_packs.postings.model import NewSource, Options, Run
from leasehold_packs.postings.stream import snapshot
from leasehold_packs.runs.snapshot import wait

SLUG = "made-up"
_POLL_SECONDS = 0.2
_ROLES = ("Engineer", "Data Scientist", "Designer", "Product Manager", "Site Reliability Engineer", "C++ Developer")
_LEVELS = ("", "Senior ", "Staff ", "Junior ")
_CITIES = ("Berlin, Germany", "Lisbon, Portugal", "Toronto, Canada", "Remote", "Warsaw, Poland")
_SKILLS = ("Python", "Kubernetes", "GraphQL", "PostgreSQL", "Rust", "React", "Terraform", "C++", ".NET")
_DUTIES = (
    "You own a service from its first line to its alarms.",
    "You write more than code.",
    "You mend what is slow.",
)


class MadeJob(TypedDict):
    """A posting as Greenhouse lists it."""

    id: int
    internal_job_id: int
    title: str
    absolute_url: str
    location: dict[str, str]
    updated_at: str
    content: str


class MadeBoard:
    """A board in the shape of Greenhouse; the same seed makes the same postings."""

    def __init__(self, *, postings: int = 60, seed: int = 1) -> None:
        self._dice = random.Random(seed)
        self.jobs: dict[int, MadeJob] = {}
        for _ in range(postings):
            self.hire()

    def hire(self) -> None:
        id_ = max(self.jobs, default=1000) + 1
        title = f"{self._dice.choice(_LEVELS)}{self._dice.choice(_ROLES)}"
        self.jobs[id_] = {
            "id": id_,
            "internal_job_id": id_ * 10,
            "title": title,
            "absolute_url": f"https://board.example/{SLUG}/jobs/{id_}",
            "location": {"name": self._dice.choice(_CITIES)},
            "updated_at": "2026-01-01T00:00:00Z",
            "content": self._content(title, self._dice.randrange(60, 140)),
        }

    def change(self) -> str:
        """A few new postings, a few edits, one that closes; in words."""
        ids = sorted(self.jobs)
        self.hire()
        self.hire()
        edited = self._dice.sample(ids, 3)
        for id_ in edited:
            job = self.jobs[id_]
            job["content"] = self._content(job["title"], self._dice.randrange(141, 200))
        gone = self._dice.choice([id_ for id_ in ids if id_ not in edited])
        del self.jobs[gone]
        return f"the board has 2 new postings, {len(edited)} other salaries, and no longer {gone}"

    def answer(self) -> bytes:
        return json.dumps({"jobs": list(self.jobs.values())}).encode()

    def _content(self, title: str, thousands: int) -> str:
        skills = ", ".join(self._dice.sample(_SKILLS, 3))
        text = f"<p>We look for a {title} with {skills}.</p>" + "".join(f"<p>{duty}</p>" for duty in _DUTIES)
        return escape(f"{text}<p>The salary is ${thousands},000 - ${thousands + 20},000 per year.</p>")


@asynccontextmanager
async def serving(board: MadeBoard, port: int) -> AsyncIterator[int]:
    """The board on loopback; its port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0]
        found = f"/boards/{SLUG}/jobs".encode() in asked
        body, status = (board.answer(), "200 OK") if found else (b"", "404 Not Found")
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def run(access: Access, *, rounds: int, port: int, tell: Callable[[str], None]) -> None:
    """Follow the board for so many runs."""
    board = MadeBoard()
    async with serving(board, port) as at:
        source_id = await _source(access, at)
        for number in range(rounds):
            if number:
                tell(board.change())
            tell(f"run {number + 1}: {_summary(await _run(access, source_id))}")
        async with access.transaction() as tx:
            found = await search.find(tx, search.question_of(search.Query(q="kuberntes")), limit=5)
            postings = await store_postings.list_postings(tx, found.ids)
        tell(f"search for kuberntes, shown for {found.corrected}: {', '.join(one.title for one in postings)}")


async def _source(access: Access, port: int) -> UUID:
    new = NewSource(board="greenhouse", slug=SLUG, base=f"http://127.0.0.1:{port}", company="Made-up Ltd")
    try:
        async with access.transaction() as tx:
            return (await service.add_source(tx, new, Options())).source_id
    except Conflict:
        async with access.transaction() as tx:
            return next(one.source_id for one in await store.list_sources(tx) if one.base == new.base)


async def _run(access: Access, source_id: UUID) -> Run:
    async with access.transaction() as tx:
        made = await service.request_run(tx, access.actor, sources=[source_id])
    await wait(partial(snapshot, access, made.run_id), every_s=_POLL_SECONDS)
    async with access.transaction() as tx:
        return await store_runs.get_run(tx, made.run_id)


def _summary(run: Run) -> str:
    problems = [one.problem for one in run.sources if one.problem]
    return ", ".join(f"{n} {name}" for name, n in run.counts.items() if n) or "; ".join(problems) or run.state
