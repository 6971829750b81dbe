"""``http.request``, against servers on loopback."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from leasehold import Leasehold
from leasehold.database.database import Database
from leasehold.errors import BadInput
from leasehold.features.http_request.handlers import app
from leasehold.features.secrets import store as secrets
from leasehold.sealing import Keys
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.secrets.dump import dump
from tests.features.secrets.test_store import hidden
from tests.fetch.world import Site, moved, page, serving
from tests.worker.running import FAST, Shop, running

KEY = "a key of at least 32 characters ..."
TOKEN = "sk_test/4eC39H+qLyj=WDarjtT1"


class Calls:
    """A worker with the connector, and a server that it may reach."""

    def __init__(self, shop: Shop, site: Site, port: int) -> None:
        self.shop, self.site, self.port = shop, site, port

    async def run(self, path: str = "/", **order: Any) -> Any:
        options = order.pop("options", {})
        return await self.shop.run("http.request", {"url": self.url(path)} | order, **options)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
async def calls(cell: Cell, shop: Shop, api_db: Database) -> AsyncIterator[Calls]:
    await secrets.put_secret(api_db, cell.tenant_a, "stripe", TOKEN, Keys([KEY]))
    site = Site({"/": page(b'{"ok": true}', "Content-Type: application/json", "Set-Cookie: sid=abcdef123456")})
    async with serving(site) as port, connector(cell, port):
        yield Calls(shop, site, port)


@asynccontextmanager
async def connector(cell: Cell, port: int) -> AsyncIterator[Settings]:
    settings = replace(FAST, secret_keys=KEY, fetch_allow=f"127.0.0.1:{port}")
    mine = Leasehold(settings)
    mine.include(app)
    async with running(cell, mine, settings):
        yield settings


async def test_the_answer_is_the_result(calls: Calls) -> None:
    job = await calls.run(result="json")
    assert job.state == "succeeded"
    assert job.result["duration_ms"] >= 0
    assert {name: job.result[name] for name in ("status", "url", "body")} == {
        "status": 200,
        "url": calls.url("/"),
        "body": {"ok": True},
    }
    assert job.result["headers"]["content-type"] == "application/json"
    assert "abcdef123456" not in json.dumps(job.result)
    assert (await calls.run()).result["body"] == '{"ok": true}'
    assert (await calls.run(result="none")).result["body"] is None


async def test_a_body_goes_out_as_json_or_as_text(calls: Calls) -> None:
    job = await calls.run(method="post", json={"n": 1, "text": "ü"})
    assert calls.site.asked[-1].endswith('{"n": 1, "text": "ü"}'.encode())
    assert calls.site.header("content-type") == "application/json"
    assert calls.site.header("idempotency-key") == str(job.job_id)
    await calls.run(method="PUT", body="a=1", headers={"content-type": "text/plain", "Idempotency-Key": "mine"})
    assert calls.site.asked[-1].endswith(b"\r\n\r\na=1")
    assert calls.site.header("content-type") == "text/plain"
    assert calls.site.header("idempotency-key") == "mine"
    await calls.run()
    assert calls.site.header("idempotency-key") is None


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "bearer"}, "authorization", f"Bearer {TOKEN}"),
        (
            {"type": "basic", "username": "ada"},
            "authorization",
            f"Basic {base64.b64encode(f'ada:{TOKEN}'.encode()).decode()}",
        ),
        ({"type": "header", "header": "X-Key"}, "x-key", TOKEN),
    ],
)
async def test_a_secret_is_sent_by_its_name_and_never_kept(
    cell: Cell, calls: Calls, auth: dict[str, str], header: str, value: str
) -> None:
    encoded = base64.b64encode(TOKEN.encode()).decode()
    echo = json.dumps({"you": TOKEN, "sent": encoded, "hex": TOKEN.encode().hex()}).encode()
    calls.site.pages |= {
        "/echo": page(echo, f"X-Echo: {TOKEN}"),
        "/no": page(echo, f"X-Echo: {TOKEN}", status="400 No"),
    }
    for path, state in (("/echo", "succeeded"), ("/no", "failed")):
        job = await calls.run(path, auth=auth | {"secret": "stripe"}, result="json")
        assert job.state == state
        assert calls.site.header(header) == value
    everything = json.dumps(await dump(cell))
    assert "[redacted]" in everything
    assert hidden(TOKEN, everything)
    assert hidden(f"ada:{TOKEN}", everything)


async def test_a_secret_goes_to_no_other_origin(calls: Calls) -> None:
    elsewhere = Site({"/": page(b"here")})
    async with serving(elsewhere) as port:
        calls.site.pages["/moved"] = moved(f"http://127.0.0.1:{port}/")
        job = await calls.run("/moved", auth={"type": "header", "header": "X-Key", "secret": "stripe"})
    assert (job.state, elsewhere.asked) == ("failed", [])  # not on the list, so not even asked


async def test_a_secret_that_is_not_there_ends_the_job(calls: Calls) -> None:
    job = await calls.run(auth={"type": "bearer", "secret": "nothing"})
    assert (job.state, calls.site.asked) == ("failed", [])
    assert (await calls.shop.error(job.job_id))["message"] == "there is no secret 'nothing'"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("408 Slow", "dead"), ("425 Early", "dead"), ("429 Many", "dead"), ("500 Broken", "dead"), ("503 Away", "dead"),
        ("400 Bad", "failed"), ("401 Who", "failed"), ("404 Gone", "failed"), ("304 Same", "failed"),
    ],
)  # fmt: skip
async def test_what_may_pass_is_tried_again_and_the_rest_is_not(calls: Calls, status: str, state: str) -> None:
    calls.site.pages["/"] = page(b"" if status.startswith("304") else b"sorry", status=status)
    job = await calls.run(options={"max_attempts": 2, "retry_base_s": 0.01})
    assert job.state == state
    assert len(calls.site.asked) == (2 if state == "dead" else 1)
    told = [event.data for event in await calls.shop.events(job.job_id, "log")]
    assert {entry["status"] for entry in told if entry} == {int(status[:3])}
    assert f"answered {status[:3]}" in (await calls.shop.error(job.job_id))["message"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), ("in an hour", 3600), ("9999999", 86400)],
)
async def test_the_receiver_says_when_to_come_back(cell: Cell, calls: Calls, value: str, seconds: int) -> None:
    if value == "in an hour":
        value = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    calls.site.pages["/"] = page(b"later", f"Retry-After: {value}", status="429 Many")
    job_id = await calls.shop.enqueue("http.request", {"url": calls.url("/")})
    await calls.shop.attempted(job_id)
    [waiting] = await cell.look(
        f"select extract(epoch from run_at - leasehold.now()) as left from leasehold.deferred where job_id = '{job_id}'"
    )
    assert seconds - 120 < waiting["left"] <= seconds


async def test_other_statuses_can_be_expected(calls: Calls) -> None:
    job = await calls.run("/missing", expect=[200, 404])
    assert (job.state, job.result["status"], job.result["body"]) == ("succeeded", 404, "not here")
    assert (await calls.run(expect=[404])).state == "failed"


async def test_what_is_too_large_or_no_json_ends_the_job(calls: Calls) -> None:
    calls.site.pages["/"] = page(b"x" * 100)
    assert (await calls.run(max_bytes=99)).state == "failed"
    job = await calls.run(result="json")
    assert job.state == "failed"
    assert "is not JSON" in (await calls.shop.error(job.job_id))["message"]


async def test_an_internal_address_is_refused_once(calls: Calls) -> None:
    job = await calls.shop.run("http.request", {"url": "http://169.254.169.254/latest/meta-data/"})
    assert (job.state, len(await calls.shop.history(job.job_id))) == ("failed", 1)


async def test_a_header_that_is_none_ends_the_job(calls: Calls) -> None:
    job = await calls.run(headers={"Host": "other"})
    assert (job.state, calls.site.asked) == ("failed", [])


@pytest.mark.parametrize(
    "order",
    [
        {"url": "https://h/", "method": "G E T"},
        {"url": "https://h/", "body": "", "json": {}},
        {"url": "https://h/", "expect": [99]},
        {"url": "https://h/", "timeout": 0},
        {"url": "https://h/", "auth": {"type": "basic", "secret": "s"}},
        {"url": "https://h/", "auth": {"type": "oauth", "secret": "s"}},
        {"url": "https://h/", "token": "x"},
        {},
    ],
)
def test_an_order_that_cannot_be_is_refused_before_anybody_waits_for_it(order: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="the payload of http.request does not fit"):
        app.handlers["http.request"].encode_payload(order)
