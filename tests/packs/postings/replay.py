"""Boards on loopback that answer as Greenhouse, Lever, Ashby and Workday do, from postings that a test may change."""

import asyncio
import html
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from tests.fetch.world import page

SHAPES = ("greenhouse", "lever", "ashby", "workday")
JSON = "Content-Type: application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A posting as a company has it; ``noise`` is what changes in the markup and not for a reader."""

    id: int
    title: str
    locations: tuple[str, ...]
    text: str
    department: str = ""
    noise: str = ""

    def markup(self) -> str:
        paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in self.text.splitlines() if line.strip())
        return f'<div data-build="{self.noise}"><!-- {self.noise} -->{paragraphs}</div>'


@dataclass
class Board:
    """One board. ``down`` answers 503 to so many requests, ``empty`` lists nothing."""

    shape: str
    jobs: dict[int, Job] = field(default_factory=dict)
    empty: bool = False
    down: int = 0
    hidden: set[int] = field(default_factory=set)  # listed, and their detail is gone

    @property
    def slug(self) -> str:
        return f"acme-{self.shape}/External" if self.shape == "workday" else f"acme-{self.shape}"

    def listed(self) -> list[Job]:
        return [] if self.empty else [self.jobs[id_] for id_ in sorted(self.jobs)]

    def change(self, id_: int, **fields: Any) -> None:
        self.jobs[id_] = replace(self.jobs[id_], **fields)

    def answer(self, path: str, body: bytes) -> Any:
        match self.shape:
            case "greenhouse":
                return {"jobs": [_greenhouse(job) for job in self.listed()], "meta": {"total": len(self.jobs)}}
            case "lever":
                return [_lever(job) for job in self.listed()]
            case "ashby":
                return {"jobs": [_ashby(job) for job in self.listed()], "apiVersion": "1"}
        if path.endswith("/jobs"):
            return self._workday(json.loads(body))
        id_ = int(path.rpartition("_JR")[2])
        return None if id_ in self.hidden or id_ not in self.jobs else _workday_detail(self.jobs[id_])

    def _workday(self, asked: dict[str, Any]) -> dict[str, Any]:
        jobs = self.listed()
        some = jobs[asked["offset"] : asked["offset"] + min(asked["limit"], 20)]
        return {"total": len(jobs) if asked["offset"] == 0 else 0, "jobPostings": [_workday_entry(job) for job in some]}


@dataclass
class Boards:
    """A server with one board for each shape, told apart by their slugs; ``asked`` is what it was asked."""

    boards: list[Board]
    asked: list[str] = field(default_factory=list)
    pages: dict[str, bytes] = field(default_factory=dict)
    before_answer: Callable[[str], None] | None = None
    #: While it is not set, nothing is answered after the next list.
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    _held_from: int = 0

    def __post_init__(self) -> None:
        self.goes_on.set()

    def hold_after_a_list(self) -> None:
        self.goes_on.clear()
        self._held_from = len(self.asked) + 1

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, target, *_ = head.split(b"\r\n")[0].decode().split(" ")
            length = next(
                (
                    int(line.partition(b":")[2])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                ),
                0,
            )
            body = await reader.readexactly(length)
            self.asked.append(f"{method} {target}")
            if self.before_answer:
                self.before_answer(target)
            if target == "/robots.txt":
                self._held_from += 1
            elif len(self.asked) > self._held_from:
                await self.goes_on.wait()
            writer.write(self.answer(urlsplit(target).path, body))
            await writer.drain()

    def answer(self, path: str, body: bytes) -> bytes:
        if path in self.pages:
            return self.pages[path]
        board = next((one for one in self.boards if f"/{one.slug}" in path), None)
        if board is None:
            return page(b"not here", status="404 Not Found")
        if board.down:
            board.down -= 1
            return page(b"later", status="503 Service Unavailable")
        told = board.answer(path, body)
        if told is None:
            return page(b"gone", status="404 Not Found")
        return page(json.dumps(told).encode(), JSON)


def _greenhouse(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "internal_job_id": job.id + 500_000,
        "title": job.title,
        "updated_at": f"2026-08-01T00:00:00Z{job.noise}",
        "absolute_url": f"https://job-boards.greenhouse.io/acme/jobs/{job.id}",
        "location": {"name": "; ".join(job.locations)},
        "departments": [{"name": job.department}] if job.department else [],
        "content": html.escape(job.markup()),
    }


def _lever(job: Job) -> dict[str, Any]:
    return {
        "id": f"lever-{job.id}",
        "text": job.title,
        "hostedUrl": f"https://jobs.lever.co/acme/{job.id}",
        "createdAt": 1764205361939,
        "categories": {"location": job.locations[0], "allLocations": list(job.locations), "team": job.department},
        "description": job.markup(),
        "lists": [],
    }


def _ashby(job: Job) -> dict[str, Any]:
    return {
        "id": f"ashby-{job.id}",
        "title": job.title,
        "location": job.locations[0],
        "secondaryLocations": [{"location": place} for place in job.locations[1:]],
        "department": job.department,
        "isListed": True,
        "jobUrl": f"https://jobs.ashbyhq.com/acme/{job.id}",
        "publishedAt": "2026-04-20T22:43:56.531+00:00",
        "descriptionHtml": job.markup(),
    }


def _workday_entry(job: Job) -> dict[str, Any]:
    place = job.locations[0] if len(job.locations) == 1 else f"{len(job.locations)} Locations"
    return {
        "title": job.title,
        "externalPath": f"/job/Somewhere/Some-Job_JR{job.id}",
        "locationsText": place,
        "postedOn": "Posted 3 Days Ago",
        "bulletFields": [f"JR{job.id}"],
    }


def _workday_detail(job: Job) -> dict[str, Any]:
    return {
        "jobPostingInfo": {
            "title": job.title,
            "jobDescription": job.markup(),
            "location": job.locations[0],
            "additionalLocations": list(job.locations[1:]),
            "timeType": "Full time",
            "jobReqId": f"JR{job.id}",
            "startDate": "2026-08-01",
        }
    }
