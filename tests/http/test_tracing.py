"""One trace from the HTTP request through enqueue, attempt, fetch and webhook; and nothing while it is off."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from leasehold import tracing
from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.errors import BadSetting
from leasehold.features.webhooks import handlers as webhook
from leasehold.fetch.fetcher import Fetcher
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Fail
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import started
from tests.features.webhooks.hooks import Hooks, Receiver, receiving, settings_for
from tests.fetch.world import page, serving
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT, Shop, running

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


class Spans:
    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        [span] = self.named(name)
        return span


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Tracing is on, and this is what it made."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.start(provider)
    yield Spans(exporter)
    tracing.start(None)
    provider.shutdown()


def span_id(span: ReadableSpan) -> str:
    assert span.context
    return f"{span.context.span_id:016x}"


def parent_id(span: ReadableSpan) -> str:
    assert span.parent
    return f"{span.parent.span_id:016x}"


def reaching(receiver: Receiver, settings: Settings) -> Leasehold:
    app = Leasehold(settings)

    @app.handler("t.reach")
    async def reach(ctx: Context, payload: dict[str, str]) -> None:
        await ctx.fetch(f"{receiver.url}?token=secret", method="POST", body=b'{"id": "1"}')
        await ctx.enqueue("t.child")
        async with ctx.transaction() as tx:
            await tx.enqueue("t.child")

    @app.handler("t.child")
    async def child(ctx: Context) -> None:
        raise Fail("with secret words")

    app.include(webhook.app)
    return app


async def test_one_trace_leads_from_the_request_to_the_webhook(
    cell: Cell, a: httpx.AsyncClient, worker_db: Database, spans: Spans
) -> None:
    shop = Shop(worker_db, cell)
    async with receiving() as fetched, receiving() as told, cell.database(Role.API) as api_db:
        settings = settings_for(fetched, told)
        await Hooks(cell, api_db, settings).add(told, "job.succeeded")
        async with running(cell, reaching(fetched, settings), settings):
            order = {"kind": "t.reach", "payload": {"secret": "words"}}
            made = (await a.post("/v1/jobs", json=order, headers={"traceparent": PARENT})).json()
            await told.wait_for(1)
            rows = await cell.look("select job_id, traceparent from leasehold.job where kind = 't.child'")
            for row in rows:
                await shop.ended(row["job_id"])
    request, enqueue = spans.one("POST /v1/jobs"), spans.one("enqueue t.reach")
    attempt, [fetch, post] = spans.one("attempt t.reach"), spans.named("POST")
    hook = spans.one("webhook")
    chain = [request, enqueue, attempt, fetch]
    assert [parent_id(span) for span in chain] == [PARENT[36:52], *(span_id(span) for span in chain[:-1])]
    assert (parent_id(hook), parent_id(post)) == (span_id(enqueue), span_id(hook))
    assert fetched.got[0][0]["traceparent"] == f"00-{TRACE}-{span_id(fetch)}-01"
    assert told.got[0][0]["traceparent"] == f"00-{TRACE}-{span_id(post)}-01"
    assert {row["traceparent"] for row in rows} == {f"00-{TRACE}-{span_id(attempt)}-01"}
    assert dict(attempt.attributes or {}) == {
        "leasehold.job_id": made["job_id"], "leasehold.tenant_id": str(cell.tenant_a), "leasehold.kind": "t.reach",
        "leasehold.queue": "default", "leasehold.attempt": 1, "leasehold.outcome": "succeeded",
    }  # fmt: skip
    assert (fetch.attributes or {})["http.response.status_code"] == 204
    failed = spans.named("attempt t.child")
    assert [span.status.description for span in failed] == ["failed", "failed"]
    everything = "".join(span.to_json() for span in spans._exporter.get_finished_spans())
    assert "secret" not in everything, "neither payloads nor the queries of URLs nor the words of errors"


async def test_while_it_is_off_the_trace_is_passed_on_and_nothing_goes_out(cell: Cell, worker_db: Database) -> None:
    shop = Shop(worker_db, cell)
    async with receiving() as receiver:
        settings = settings_for(receiver)
        async with running(cell, reaching(receiver, settings), settings):
            await shop.run("t.reach", {}, traceparent=PARENT)
    children = await cell.look("select traceparent from leasehold.job where kind = 't.child'")
    assert [row["traceparent"] for row in children] == [PARENT, PARENT]
    assert "traceparent" not in receiver.got[0][0]


async def test_a_caller_may_send_a_traceparent_of_its_own(spans: Spans) -> None:
    async with receiving() as receiver, Fetcher(settings_for(receiver)) as fetcher:
        await fetcher.request("POST", receiver.url, body=b'{"id": "1"}', headers={"Traceparent": PARENT})
    assert receiver.got[0][0]["traceparent"] == PARENT


def test_a_span_keeps_the_words_of_an_exception_to_itself(spans: Spans) -> None:
    with pytest.raises(ValueError, match="secret"), tracing.span("broken"):
        raise ValueError("secret")
    broken = spans.one("broken")
    assert broken.status.description == "ValueError"
    assert "secret" not in broken.to_json()


def test_nothing_of_opentelemetry_is_imported_while_it_is_off() -> None:
    code = (
        "import sys, leasehold.worker, leasehold.program.client, leasehold.fetch.fetcher, leasehold.tracing as t;"
        "assert t.traceparent() is None and not t.is_on();"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(BadSetting, match="not installed") as refused:
        tracing.configure("leasehold-worker")
    assert refused.value.hint == "pip install 'leasehold[otel]'"


async def test_a_worker_sends_its_spans_to_the_collector_that_is_named(cell: Cell, api_db: Database) -> None:
    bodies: list[bytes] = []

    async def collector(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        bodies.append(await reader.readexactly(length))
        writer.write(page(b"", status="200 OK"))
        await writer.drain()

    async with serving(collector) as port:
        otel = {
            "LEASEHOLD_OTEL": "1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        with started("worker", env=cell.environment() | ENVIRONMENT | otel) as worker:
            await jobs.enqueue(api_db, cell.tenant_a, "jobs.ping", ["{}"], {"traceparent": PARENT})

            async def exported() -> bool:
                return any(b"attempt jobs.ping" in body for body in bodies)

            await eventually(exported, what="a span at the collector")
            assert (await asyncio.to_thread(worker.stopped)).code == 0
    assert any(bytes.fromhex(TRACE) in body and b"leasehold-worker" in body for body in bodies)
