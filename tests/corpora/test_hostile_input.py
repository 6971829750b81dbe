"""Every text and every JSON that people have broken programs with: kept exactly, or refused by one of our errors.

The data is not part of the project: it is found by LEASEHOLD_CORPORA, or beside the checkout.
"""

import asyncio
import base64
import itertools
import json
import math
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, tenants
from leasehold.engine.leases import register_worker
from leasehold.errors import BadInput, Conflict, LeaseholdError, NotFound, TooLarge, Unreachable
from leasehold.job import AttemptOutcome, ClaimedJob, State
from leasehold.program.app import Leasehold
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from leasehold.program.outcomes import Retry, Snooze, storable
from leasehold.redact import redact
from leasehold.settings import Settings
from tests.cell import Cell
from tests.corpora.data import CORPORA, needs_corpora
from tests.worker.running import Shop, running

T = TypeVar("T")

pytestmark = needs_corpora

#: What the list has not: characters that are no text, and too much of them.
MORE = ["\0", "a\0b", "\\u0000", "\ud800", "\udfff\ud800", "a\udc80", "\ufeff", "\uffff", "x" * 256, "é" * 100_000]
#: Seconds that one call may take, whatever it is given.
PATIENCE = 20


def naughty() -> list[str]:
    found: list[str] = json.loads((CORPORA / "naughty" / "blns.json").read_text())
    assert len(found) > 500
    return found + MORE


async def kept_or_refused(call: Awaitable[T]) -> T | None:
    """The answer, or None where the call was refused as it should be: in time, and with words that can be printed."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await call
    except (BadInput, NotFound, TooLarge) as problem:
        f"{problem} {problem.hint}".encode()
        return None


def is_text(text: str) -> bool:
    """Whether PostgreSQL can keep it at all."""
    return storable(text) == text


@pytest.fixture
async def client(cell: Cell, api_db: Database) -> AsyncIterator[Client]:
    backend = Backend(Settings(), api_db)
    yield await backend.client(cell.tenant_a)
    await backend.__aexit__(None, None, None)


@pytest.fixture
async def operator_db(cell: Cell) -> AsyncIterator[Database]:
    async with cell.database(Role.OPERATOR) as db:
        yield db


async def stored(cell: Cell) -> int:
    """How many jobs there are; each of them whole."""
    [row] = await cell.look(
        "select (select count(*) from leasehold.job) as jobs, (select count(*) from leasehold.ready) as ready,"
        " (select count(*) from leasehold.idempotency) as keys"
    )
    assert row["jobs"] == row["ready"]
    assert row["keys"] in (0, row["jobs"])
    return int(row["jobs"])


# -- texts, wherever an enqueue takes one ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "read"),
    [
        pytest.param(lambda c, t: c.enqueue("t.work", {"v": t}), lambda job: job.payload["v"], id="payload value"),
        pytest.param(lambda c, t: c.enqueue("t.work", {t: 1}), lambda job: next(iter(job.payload)), id="payload key"),
        pytest.param(lambda c, t: c.enqueue("t.work", key=t), lambda job: job.key, id="idempotency key"),
        pytest.param(lambda c, t: c.enqueue("t.work", tags=["a", t]), lambda job: job.tags[1], id="tag"),
        pytest.param(lambda c, t: c.enqueue("t.work", traceparent=t), lambda job: job.traceparent, id="traceparent"),
        pytest.param(lambda c, t: c.enqueue(t), lambda job: job.kind, id="kind"),
        pytest.param(lambda c, t: c.enqueue("t.work", queue=t), lambda job: job.queue, id="queue"),
    ],
)
async def test_a_text_is_kept_exactly_or_refused_whole(
    cell: Cell, client: Client, ask: Callable[[Client, str], Awaitable[Any]], read: Callable[[Any], str]
) -> None:
    accepted: dict[UUID, str] = {}
    for text in dict.fromkeys(naughty()):
        made = await kept_or_refused(ask(client, text))
        if made is not None:
            accepted[made.job_id] = text
    for job_id, text in accepted.items():
        assert read(await client.get(job_id)) == text
    assert all(map(is_text, accepted.values()))
    assert await stored(cell) == len(accepted), "what was refused left nothing"


async def test_payloads_are_refused_only_for_what_is_no_text(client: Client) -> None:
    refused = [t for t in naughty() if await kept_or_refused(client.enqueue("t.work", {t: t})) is None]
    assert refused == [text for text in naughty() if not is_text(text)]


async def test_a_naughty_key_is_the_same_job_again_and_a_conflict_with_another_payload(
    client: Client,
) -> None:
    for text in [text for text in dict.fromkeys(naughty()) if is_text(text) and 0 < len(text) <= 255]:
        first = await client.enqueue("t.work", {"n": 1}, key=text)
        again = await client.enqueue("t.work", {"n": 1}, key=text)
        assert (again.job_id, again.created) == (first.job_id, False)
        with pytest.raises(Conflict):
            await client.enqueue("t.work", {"n": 2}, key=text)


@pytest.mark.long
async def test_naughty_filters_find_what_has_them_or_nothing(client: Client) -> None:
    tagged = [text for text in dict.fromkeys(naughty()) if is_text(text) and 0 < len(text) <= 100]
    made = {text: (await client.enqueue("t.work", tags=[text])).job_id for text in tagged}
    for text, name in zip(naughty(), itertools.cycle(("key", "kind", "queue", "state", "no such filter"))):
        found = await kept_or_refused(client.list_jobs(tag=text))
        assert [job.job_id for job in found or []] == ([made[text]] if text in made else [])
        other: dict[str, Any] = {name: text}
        assert not await kept_or_refused(client.list_jobs(**other))


async def test_naughty_reasons_of_a_cancel_are_kept(client: Client) -> None:
    for text in naughty():
        job_id = (await client.enqueue("t.work")).job_id
        said = await kept_or_refused(client.cancel(job_id, text))
        job = await client.get(job_id)
        assert said == ("canceled" if is_text(text) else None)
        assert job.state is (State.CANCELED if said else State.QUEUED)
        if said:
            assert job.error
            assert job.error["message"] == text


# -- names of things ------------------------------------------------------------------------------------------------


async def test_names_of_tenants_and_queues_are_made_whole_or_refused(
    cell: Cell,
    operator_db: Database,
) -> None:
    texts = list(dict.fromkeys(naughty()))
    before = {tenant.name for tenant in await tenants.list_tenants(operator_db)}
    made = {text for text in texts if await kept_or_refused(tenants.create_tenant(operator_db, text))}
    assert {tenant.name for tenant in await tenants.list_tenants(operator_db)} == before | made
    for text in texts:
        found = await kept_or_refused(tenants.find_tenant(operator_db, text))
        assert (found is not None) == (text in before | made)

    lanes = {queue.queue for queue in await tenants.list_queues(operator_db)}
    named = set()
    for text in texts:
        try:
            await tenants.create_queue(operator_db, text)
        except BadInput:
            continue
        named.add(text)
    assert {queue.queue for queue in await tenants.list_queues(operator_db)} == lanes | named
    assert 0 < len(made) < 100
    assert made == named, "the same names are good for both"


async def test_names_of_workers_are_kept_or_refused(cell: Cell, worker_db: Database) -> None:
    for text in naughty():
        made = await kept_or_refused(
            register_worker(worker_db, name=text, version=text, queues=["default"], kinds={}, slots=1, lease_s=60.0)
        )
        assert (made is not None) <= is_text(text)


# -- what a handler says --------------------------------------------------------------------------------------------


async def leased(db: Database, cell: Cell) -> ClaimedJob:
    worker = await register_worker(db, name="w", version="t", queues=["default"], kinds={}, slots=5, lease_s=600.0)
    await jobs.enqueue(db, cell.tenant_a, "t.work", ["{}"], {})
    [grant] = await jobs.claim(db, worker, ["default"], 1)
    return grant


async def test_the_engine_keeps_every_text_of_an_event_or_refuses_it(
    cell: Cell,
    worker_db: Database,
) -> None:
    grant, kept = await leased(worker_db, cell), []
    for text in naughty():
        data = json.dumps({"level": text})
        if await kept_or_refused(jobs.append_event(worker_db, grant.token, "log", message=text, data=data)):
            kept.append(text)
    events = await jobs.events_since(worker_db, cell.tenant_a, grant.job_id)
    assert [event.message for event in events if event.type == "log"] == kept
    assert kept == [text for text in naughty() if is_text(text)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1)), "a refused word takes no number"


async def test_a_handler_may_say_anything(cell: Cell, worker_db: Database) -> None:
    app, texts, shop = Leasehold(), naughty(), Shop(worker_db, cell)

    @app.handler("t.say")
    async def say(ctx: Context) -> list[str]:
        for text in texts:
            await ctx.progress(1, text)
            await ctx.log.info(text, field=text)
        return [text for text in texts if is_text(text)]

    @app.handler("t.raise", attempts=1)
    async def raise_(ctx: Context, n: int) -> None:
        raise RuntimeError(texts[n])

    async with running(cell, app):
        said = await shop.run("t.say")
        assert said.result == [text for text in texts if is_text(text)]
        raised = await shop.enqueue_many("t.raise", list(range(len(texts))))
        for text, job_id in zip(texts, raised, strict=True):
            assert (await shop.ended(job_id)).state is State.DEAD
            assert (await shop.error(job_id))["message"] == storable(redact(text))[:4000]
    for type_ in ("progress", "log"):
        rows = await cell.look(f"select message from leasehold.event where type = '{type_}' order by seq")
        assert [row["message"] for row in rows] == [
            storable(redact(text))[: 4000 if type_ == "log" else None] for text in texts
        ]


# -- JSON -----------------------------------------------------------------------------------------------------------


def documents() -> list[tuple[str, str, str]]:
    rows = json.loads((CORPORA / "json" / "parsing.json").read_text())
    assert len(rows) > 100
    return [
        (row["name"], row["expect"], base64.b64decode(row["b64"]).decode("utf-8", "surrogateescape")) for row in rows
    ]


async def test_json_of_any_client_is_kept_exactly_or_refused(cell: Cell, api_db: Database) -> None:
    """Not only Python's: the text goes to SQL as it is."""
    accepted = 0
    for name, expect, text in documents():
        made = await kept_or_refused(jobs.enqueue(api_db, cell.tenant_a, "t.work", [text], {}))
        if expect == "reject":
            assert made is None, name
        if made is None:
            assert expect != "accept" or "\\u0000" in text, name
            continue
        accepted += 1
        [row] = await cell.look(f"select payload::text as text from leasehold.job where job_id = '{made[0].job_id}'")
        assert exactly(row["text"]) == exactly(text), name
        await jobs.get_job(api_db, cell.tenant_a, made[0].job_id)
    assert accepted > 30
    assert await stored(cell) == accepted


async def test_the_canonical_documents_come_back(cell: Cell, client: Client) -> None:
    for row in json.loads((CORPORA / "json" / "canonical_rfc8785.json").read_text()):
        made = await client.enqueue("t.work", json.loads(row["input"]))
        [kept] = await cell.look(f"select payload::text as text from leasehold.job where job_id = '{made.job_id}'")
        assert exactly(kept["text"]) == exactly(json.dumps(json.loads(row["canonical"])))


def exactly(text: str) -> Any:
    """A document with every digit of its numbers; of equal keys the last counts, in Python as in PostgreSQL."""
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("\0", id="NUL"),
        pytest.param({"\0": 1}, id="NUL in a key"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({"a": ["\udfff"]}, id="lone surrogate inside"),
        pytest.param(math.nan, id="NaN"),
        pytest.param([math.inf], id="Infinity"),
        pytest.param(float("-1e400"), id="-1e400, which Python reads as -Infinity"),
        pytest.param({1: "a", "1": "b"}, id="two keys that become one"),
        pytest.param({(1, 2): 3}, id="a key that is no text"),
        pytest.param({1, 2}, id="a set"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param(10**5000, id="more digits than Python prints"),
    ],
)
async def test_values_that_are_no_json_are_refused(cell: Cell, client: Client, value: Any) -> None:
    with pytest.raises(BadInput):
        await client.enqueue("t.work", value)
    assert await stored(cell) == 0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="duplicate keys: the last"),
        pytest.param("1e400", 10**400, id="1e400 is a number"),
        pytest.param("-0", 0, id="minus nought"),
        pytest.param("1e5000", math.inf, id="more digits than Python reads"),
        pytest.param("1e200000", None, id="more digits than PostgreSQL keeps"),
        pytest.param("NaN", None, id="NaN"),
        pytest.param("[Infinity]", None, id="Infinity"),
        pytest.param('"\\u0000"', None, id="NUL, escaped"),
        pytest.param('"\\ud800"', None, id="lone surrogate, escaped"),
        pytest.param("", None, id="nothing"),
        pytest.param("{} {}", None, id="two documents"),
        pytest.param("[" * 100_000, None, id="deep and open"),
        pytest.param("[" * 100_000 + "]" * 100_000, None, id="100,000 deep"),
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, None, id="100,000 objects deep"),
    ],
)
async def test_json_text_of_other_clients(
    cell: Cell,
    api_db: Database,
    text: str,
    kept: Any,
) -> None:
    made = await kept_or_refused(jobs.enqueue(api_db, cell.tenant_a, "t.work", [text], {}))
    if kept is None:
        assert made is None
        assert await stored(cell) == 0
    else:
        assert made
        assert (await jobs.get_job(api_db, cell.tenant_a, made[0].job_id)).payload == kept


@pytest.mark.parametrize("depth", [900, 2_000, 5_000, 20_000, 100_000])
async def test_any_depth_is_kept_or_refused_and_can_be_looked_at(
    cell: Cell,
    api_db: Database,
    depth: int,
) -> None:
    """PostgreSQL keeps more levels than Python reads: then the reader is told, and others are not disturbed."""
    made = await kept_or_refused(
        jobs.enqueue(api_db, cell.tenant_a, "t.work", ["[" * depth + "]" * depth], {"tags": ["deep"]})
    )
    fine = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["1"], {})
    if made:
        await kept_or_refused(jobs.get_job(api_db, cell.tenant_a, made[0].job_id))
    assert (await jobs.get_job(api_db, cell.tenant_a, fine[0].job_id)).payload == 1
    deep: Any = None
    for _ in range(depth):
        deep = [deep]
    client = Client(Backend(Settings(), api_db), cell.tenant_a)
    await kept_or_refused(client.enqueue("t.work", deep))
    while deep:  # or taking it apart would itself recurse too deeply
        deep = deep[0]


HUNDRED_MB = 100 * 1024 * 1024


async def test_a_hundred_megabytes_are_refused_with_bounded_memory(
    cell: Cell,
    client: Client,
) -> None:
    huge = "x" * HUNDRED_MB
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="store it elsewhere|more than"):
            await client.enqueue("t.work", huge)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * HUNDRED_MB
    assert await stored(cell) == 0
    assert (await client.enqueue("t.work", {})).created, "and the connection is as good as before"


@pytest.mark.long
async def test_sql_refuses_a_hundred_megabytes_too(cell: Cell, api_db: Database) -> None:
    with pytest.raises(TooLarge):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", [f'"{"x" * HUNDRED_MB}"'], {})
    assert await stored(cell) == 0


# -- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"delay_s": -1},
        {"delay_s": -1e300},
        {"delay_s": 1e18},
        {"delay_s": 1e308},
        {"delay_s": math.nan},
        {"delay_s": math.inf},
        {"delay_s": "soon"},
        {"delay_s": "1 day"},
        {"delay_s": [1]},
        {"delay_s": {"a": 1}},
        {"delay_s": True},
        {"delay_s": timedelta(days=-1)},
        {"delay_s": timedelta.max},
        {"run_at": datetime.min.replace(tzinfo=UTC)},
        {"run_at": datetime.max.replace(tzinfo=UTC)},
        {"run_at": datetime(2030, 1, 1)},  # noqa: DTZ001 – that is the fault
        {"run_at": "infinity"},
        {"run_at": "-infinity"},
        {"run_at": "never"},
        {"run_at": 0},
        {"expires_at": "-infinity"},
        {"timeout_s": 0},
        {"timeout_s": 1e-300},
        {"timeout_s": 1e300},
        {"retry_base_s": -1},
        {"retry_cap_s": 1e300},
        {"key_window_s": -1},
        {"max_attempts": 2**70},
        {"max_attempts": 0.5},
        {"max_attempts": "ten"},
        {"priority": 1.5},
        {"priority": 2**40},
        {"version": -1},
        {"version": 1.5},
        {"tags": "no list"},
        {"tags": [None]},
        {"tags": [["deep"]]},
        {"tags": ["x"] * 21},
        {"queue": ["default"]},
        {"queue": {"queue": "default"}},
        {"traceparent": {"a": 1}},
        {"copied_from": "no id"},
        {"no such": 1},
    ],
    ids=str,
)
async def test_absurd_options_are_refused(cell: Cell, client: Client, options: dict[str, Any]) -> None:
    assert await kept_or_refused(client.enqueue("t.work", **options)) is None
    assert await stored(cell) == 0


ABSURD = [-1.0, -1e300, 0.0, 1e9, 1e11, 1e15, 1e300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("seconds", ABSURD)
@pytest.mark.parametrize("outcome", ["errored", "snoozed", "released"])
async def test_an_attempt_that_wants_an_absurd_delay_is_refused_or_its_job_can_still_run(
    cell: Cell, worker_db: Database, outcome: str, seconds: float
) -> None:
    grant = await leased(worker_db, cell)
    accepted = await kept_or_refused(
        jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome=outcome, delay_s=seconds)])
    )
    job = await jobs.get_job(worker_db, cell.tenant_a, grant.job_id)
    if accepted is None:
        assert job.state is State.RUNNING
    else:
        assert job.state in (State.QUEUED, State.SCHEDULED)
        assert job.run_at < datetime.now(UTC) + timedelta(days=3660)


async def test_a_handler_that_wants_an_absurd_delay_does_not_hang(
    cell: Cell,
    worker_db: Database,
) -> None:
    app, shop = Leasehold(), Shop(worker_db, cell)

    @app.handler("t.retry", attempts=2)
    async def retry(ctx: Context, n: int) -> None:
        raise Retry("later", after=ABSURD[n])

    @app.handler("t.snooze")
    async def snooze(ctx: Context, n: int) -> str:
        if await_first(n):
            raise Snooze("later", after=ABSURD[n])
        return "came back"

    @app.handler("t.extend", attempts=1)
    async def extend(ctx: Context, n: int) -> str:
        await ctx.extend(ABSURD[n])
        return "extended"

    @app.handler("t.progress", attempts=1)
    async def progress(ctx: Context, n: int) -> str:
        await ctx.progress(ABSURD[n])
        return "said"

    seen: set[int] = set()

    def await_first(n: int) -> bool:
        first = n not in seen
        seen.add(n)
        return first

    async with running(cell, app):
        for kind in ("t.retry", "t.snooze", "t.extend", "t.progress"):
            made = await shop.enqueue_many(kind, list(range(len(ABSURD))))
            for job_id in made:
                await shop.attempted(job_id)
                job = await shop.get(job_id)
                assert job.state.is_outcome or job.run_at < datetime.now(UTC) + timedelta(days=3660)


async def test_a_refusal_is_never_called_an_outage(client: Client) -> None:
    """Unreachable would be tried again, for ever."""
    for text in MORE:
        for call in (client.enqueue("t.work", key=text), client.cancel(UUID(int=0), text), client.list_jobs(tag=text)):
            [answer] = await asyncio.gather(call, return_exceptions=True)
            assert not isinstance(answer, Unreachable)
            assert isinstance(answer, LeaseholdError) or not isinstance(answer, BaseException)
