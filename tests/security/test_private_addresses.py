"""What an operator's own service could lead us to: a collector of traces, an object store, an issuer's keys.

The operator names these, so they may be internal. Nothing that they answer sends us to another address.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from leasehold import tracing
from leasehold.errors import FetchError
from leasehold.features.blobs.object_store import ObjectStore
from leasehold.features.people.oidc import Issuer, IssuerAway, NotVouched
from leasehold.settings import Settings
from tests.features.blobs.bucket import KEY_ID, SECRET
from tests.features.people.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    STRANGER,
    FakeIssuer,
    issuing,
    signer,
)
from tests.fetch.world import page, serving


@dataclass
class Inside:
    """A service of the internal network, which must hear nothing; and one that would lead there."""

    heard: list[bytes] = field(default_factory=list)
    leads: list[bytes] = field(default_factory=list)
    port: int = 0
    lure: int = 0

    async def listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(page(b"{}"))
        await writer.drain()

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.leads.append(head)
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
        place = f"Location: http://127.0.0.1:{self.port}/latest/meta-data"
        writer.write(page(b"", place, "Connection: close", status="307 Temporary Redirect"))
        await writer.drain()


@asynccontextmanager
async def network() -> AsyncIterator[Inside]:
    made = Inside()
    async with serving(made.listen) as made.port, serving(made.lead) as made.lure:
        yield made


class Kept(SpanExporter):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS


async def test_a_collector_leads_the_spans_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, provider = Kept(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    provider.get_tracer("t").start_span("attempt shop.refund").end()
    async with network() as inside:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{inside.lure}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=s3cret")
        exporter = tracing.exporter()
        assert await asyncio.to_thread(exporter.export, kept.spans) is SpanExportResult.FAILURE
        exporter.shutdown()
        provider.shutdown()
        assert inside.leads
    assert inside.heard == []


@pytest.mark.parametrize("method", ["get", "put", "delete"])
async def test_an_object_store_leads_a_signed_request_nowhere_else(method: str) -> None:
    async with network() as inside:
        settings = Settings(
            objects_url=f"http://127.0.0.1:{inside.lure}/bodies", objects_key_id=KEY_ID, objects_secret=SECRET,
            fetch_allow=f"127.0.0.1:{inside.port}",  # though handlers may go there
        )  # fmt: skip
        async with ObjectStore(settings) as store:
            with pytest.raises(FetchError, match="it answered 307"):
                match method:
                    case "get":
                        await store.get("ab", max_bytes=10)
                    case "put":
                        await store.put("ab", b"body")
                    case _:
                        await store.delete("ab")
        assert inside.leads
    assert inside.heard == []


@pytest.fixture
async def issuer() -> AsyncIterator[FakeIssuer]:
    async with issuing() as opened:
        yield opened


def trusting(issuer: FakeIssuer) -> Issuer:
    return Issuer(Settings(oidc_issuer=issuer.url, oidc_client_id=CLIENT_ID, oidc_client_secret=CLIENT_SECRET))


PRIVATE = [
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.7/keys",
    "https://[::1]/keys",
    "https://[::ffff:10.0.0.7]/keys",
    "https://0x7f000001/keys",
    "https://2130706433/keys",
    "https://127.0.0.1:{port}/keys",
    "http://127.0.0.1:{port}/keys",
    "http://127.0.0.1@127.0.0.1:{port}/keys",
    "{issuer}@127.0.0.1:{port}/keys",
    "{issuer}.localhost:{port}/keys",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/",
    "{issuer}\\@127.0.0.1:{port}/keys",
]


@pytest.mark.parametrize("place", PRIVATE)
async def test_an_issuers_document_leads_to_no_private_address_for_its_keys(issuer: FakeIssuer, place: str) -> None:
    async with network() as inside:
        issuer.document = {"jwks_uri": place.format(port=inside.port, issuer=issuer.url)}
        async with trusting(issuer) as opened:
            with pytest.raises(IssuerAway):
                await opened.verified(issuer.id_token(sub="s", email="a@example.com"), nonce=None)
    assert inside.heard == []
    assert issuer.asked["/keys"] == 0


async def test_an_issuers_keys_lead_nowhere_else(issuer: FakeIssuer) -> None:
    """Neither a redirect nor what a token says of where its key is."""
    async with network() as inside:
        lure = f"http://127.0.0.1:{inside.lure}"
        async with trusting(issuer) as opened:
            at = f"http://127.0.0.1:{inside.port}/keys"
            header = {"jku": at, "x5u": at, "kid": "not seen yet"}
            issuer.sign = signer(STRANGER, "RS256", **header)
            with pytest.raises(NotVouched):
                await opened.verified(issuer.id_token(sub="s", email="a@example.com"), nonce=None)
        settings = Settings(oidc_issuer=lure, oidc_client_id=CLIENT_ID)
        async with Issuer(settings) as led:
            with pytest.raises(IssuerAway):
                await led.verified(issuer.id_token(), nonce=None)
        assert inside.leads
    assert inside.heard == []
