"""The streams of one tenant, read by another: with its own key, and with whatever it has got hold of."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from leasehold.http.server import serving
from tests.cell import Cell
from tests.features.activity.test_routes import Listening, ask, stream
from tests.http.conftest import Hand, Keys, a, b, bearer, hand, key, problem, services, settings_of

__all__ = ["a", "b", "hand", "key", "services"]

SSE = {"Accept": "text/event-stream"}
OWN = "only for a"


@pytest.fixture
async def url(cell: Cell) -> AsyncIterator[str]:
    async with serving(settings_of(cell, port=0)) as found:
        yield found


async def until_the_own(listening: Listening, own: str) -> list[str]:
    """What a stream says, as text, until it tells of the reader's own line."""
    said: list[str] = []
    while own not in "".join(said):
        message = await listening.next()
        said.append(json.dumps([message.event, message.id, message.data]))
    return said


async def test_a_stream_tells_its_reader_nothing_of_anothers_work_while_that_goes_on(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand
) -> None:
    for client in (a, b):
        await client.post("/v1/workers", json={"name": "w", "kinds": ["t.work", "t.private"]})
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(stream(url, key.b, path))
            for path in ("/v1/events", "/v1/logs", "/v1/logs?groups=t.private")
        ]
        of_a = await ask(a, "t.private")
        grant = await hand.claim()
        for n in range(3):
            await hand.say(grant, n, f"{OWN}: progress")
            await hand.log(grant, f"{OWN}: line")
        await hand.end(grant, result=json.dumps(OWN))
        await ask(b, "t.private")
        mine = await hand.claim()
        await hand.say(mine, 1, "mine")
        await hand.log(mine, "mine")
        for listening in opened:
            said = "".join(await until_the_own(listening, "mine"))
            assert OWN not in said
            assert of_a not in said
            assert str(grant.tenant_id) not in said
        await hand.end(mine)


async def test_where_another_stream_stood_is_no_way_into_it(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand
) -> None:
    """The id of a message is a place in time; what is told from there is still that of the reader."""
    async with stream(url, key.a) as listening:
        await ask(a)
        grant = await hand.claim()
        await hand.say(grant, 1, f"{OWN} early")
        assert (await listening.next()).event == "state"
        _, last = await listening.facts(3)
        await hand.say(grant, 2, f"{OWN} late")
    await ask(b)
    mine = await hand.claim()
    await hand.say(mine, 1, "mine")
    for path in ("/v1/events", "/v1/logs"):
        async with stream(url, key.b, path, last=last) as listening:
            await hand.say(mine, 2, "mine too")
            await hand.log(mine, "mine too")
            assert OWN not in "".join(await until_the_own(listening, "mine too"))


@pytest.mark.parametrize("path", ["/v1/jobs/{job}/events", "/v1/jobs/{job}/logs"])
async def test_the_stream_of_anothers_job_is_not_there(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys, hand: Hand, path: str
) -> None:
    job = await ask(a)
    async with httpx.AsyncClient(base_url=url) as http:
        at = path.format(job=job)
        for headers in (SSE, SSE | {"Last-Event-ID": "1"}, {}):
            problem(await http.get(at, headers=headers | bearer(key.b)), 404, "not_found")
            problem(await http.get(at, headers=headers), 401, "unauthenticated")


async def test_a_ticket_opens_the_stream_that_it_was_made_for_and_no_other(
    a: httpx.AsyncClient, b: httpx.AsyncClient, url: str, key: Keys
) -> None:
    of_a, of_b = await ask(a), await ask(b)
    problem(await b.post("/v1/tickets", json={"job_id": of_a}), 404, "not_found")

    async def ticket(**body: Any) -> str:
        return str((await b.post("/v1/tickets", json=body)).json()["ticket"])

    async with httpx.AsyncClient(base_url=url) as http:
        for made, at in (
            (await ticket(job_id=of_b), f"/v1/jobs/{of_a}/events"),
            (await ticket(job_id=of_b), "/v1/events"),
            (await ticket(job_id=of_b), "/v1/logs"),
            (await ticket(), f"/v1/jobs/{of_a}/events"),
        ):
            answer = await http.get(at, params={"ticket": made}, headers=SSE)
            assert answer.status_code in (401, 404), (at, answer.text)
        for made in (await ticket(), await ticket()):
            answers = await asyncio.gather(*[_open(http, made) for _ in range(5)])
            assert sorted(answers) == [200, 401, 401, 401, 401], "however many are there at once"


async def _open(http: httpx.AsyncClient, ticket: str) -> int:
    async with http.stream("GET", "/v1/events", params={"ticket": ticket}, headers=SSE) as got:
        return got.status_code
