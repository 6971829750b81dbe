"""The application on a database of its own, with keys of both tenants and of the operator."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from leasehold import tokens as keys
from leasehold.database.database import Database, Role
from leasehold.database.wakeups import news_channel
from leasehold.engine import jobs, leases
from leasehold.features.api_keys import store as engine
from leasehold.features.webhooks import store as webhooks
from leasehold.http.app import Services, create_app, open_services
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.settings import Settings
from leasehold.tokens import Key, Peppers
from tests.cell import Cell
from tests.waiting import PATIENCE_SECONDS
from tests.worker.conftest import log_lines as log_lines

PEPPER = "a pepper for tests that is long enough to be one"
SECRET_KEY = "a key for secrets of tests that is long enough"
ALL = ["jobs:read", "jobs:write", "work", "admin"]
PROBLEM = "application/problem+json"


def pytest_configure(config: pytest.Config) -> None:
    """The plugin takes half a second, in each process, and none but long tests use it: it is switched off elsewhere."""
    if not is_short(config):
        config.pluginmanager.import_plugin("schemathesis.pytest.plugin")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "test_schemathesis.py" and is_short(config) else None


def is_short(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == "not long")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    a: Key
    b: Key
    operator: Key


def settings_of(cell: Cell, **more: Any) -> Settings:
    common: dict[str, Any] = {
        "api_url": cell.url(Role.API),
        "operator_url": cell.url(Role.OPERATOR),
        "key_pepper": PEPPER,
        "secret_keys": SECRET_KEY,
        "ip_refusals": 1_000_000,
    }
    return Settings(**common | more)


async def make_key(cell: Cell, tenant: UUID | None, *, scopes: list[str] = ALL, name: str = "test") -> Key:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        return await make_key_in(db, tenant, scopes=scopes, name=name)


async def make_key_in(db: Database, tenant: UUID | None, *, scopes: list[str] = ALL, name: str = "test") -> Key:
    key = keys.make("live")
    if tenant is None:
        await engine.create_operator_key(db, key, Peppers([PEPPER]), name=name, scopes=["operator"], expires_at=None)
    else:
        queues = ["default"] if "work" in scopes else None
        await engine.create_key(
            db, tenant, key, Peppers([PEPPER]), name=name, scopes=scopes, expires_at=None, queues=queues
        )
    return key


def bearer(key: Key | str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key if isinstance(key, str) else key.text}"}


@pytest.fixture
async def key(cell: Cell) -> Keys:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        return Keys(
            a=await make_key_in(db, cell.tenant_a),
            b=await make_key_in(db, cell.tenant_b),
            operator=await make_key_in(db, None),
        )


@pytest.fixture
async def services(cell: Cell) -> AsyncIterator[Services]:
    async with open_services(settings_of(cell), loopback=True) as opened:
        yield opened


def client_of(services: Services, key: Key | None = None, *, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key) if key else {})


@pytest.fixture
async def a(services: Services, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services, key.a) as client:
        yield client


@pytest.fixture
async def b(services: Services, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services, key.b) as client:
        yield client


@pytest.fixture
async def operator(services: Services, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services, key.operator) as client:
        yield client


@pytest.fixture
async def stranger(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services) as client:
        yield client


class Hand:
    """A worker by hand: it claims and ends attempts when a test says so."""

    def __init__(self, db: Database, worker: UUID) -> None:
        self.db = db
        self.worker = worker

    async def claim(self) -> ClaimedJob:
        [grant] = await jobs.claim(self.db, self.worker, ["default"], 1)
        await self.tell()
        return grant

    async def claim_soon(self) -> ClaimedJob:
        """As a worker that polls."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if granted := await jobs.claim(self.db, self.worker, ["default"], 1):
                    await self.tell()
                    return granted[0]
                await asyncio.sleep(0.02)

    async def say(self, grant: ClaimedJob, progress: float, message: str = "") -> None:
        await jobs.append_event(self.db, grant.token, "progress", message=message, progress=progress)
        await self.tell()

    async def log(self, grant: ClaimedJob, text: str) -> None:
        await jobs.append_event(self.db, grant.token, "log", message=text, data='{"level": "info", "n": 1}')
        await self.tell()

    async def end(
        self, grant: ClaimedJob, outcome: str = "succeeded", *, result: str = "null", error: str = "{}"
    ) -> None:
        ended = AttemptOutcome(token=grant.token, outcome=outcome, result=result, error=error)
        assert await jobs.finish(self.db, [ended]) == {grant.token}
        await self.tell()

    async def deliver(self, tenant: UUID, delivery: dict[str, Any], *, status: int, body: str = "") -> None:
        """One attempt of a delivery, as if the receiver had answered so; it is the last."""
        ids = UUID(delivery["delivery_id"]), UUID(delivery["job_id"])
        sending = await webhooks.begin_delivery(self.db, tenant, *ids)
        assert sending
        assert sending.verdict == "send"
        await webhooks.end_delivery(
            self.db,
            tenant,
            *ids,
            status=status,
            error=None,
            request_headers={"webhook-id": "1"},
            response_body=body,
            duration_ms=1,
            is_last=True,
            rest_s=None,
        )

    async def tell(self) -> None:
        """That there is news, as workers do."""
        await self.db.notify(news_channel(self.db.target.schema), [""])


@pytest.fixture
async def hand(worker_db: Database) -> Hand:
    worker = await leases.register_worker(
        worker_db, name="w", version="0", queues=["default"], kinds={}, slots=10, lease_s=60.0
    )
    return Hand(worker_db, worker)


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The members of a problem, checked for what every problem has and none may have."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    found: dict[str, Any] = response.json()
    assert (found["status"], found["code"]) == (status, code)
    assert found["request_id"] == response.headers["x-request-id"]
    assert {"type", "title", "detail", "instance"} <= set(found)
    for leak in ("127.0.0.1", "postgres", "Traceback", "asyncpg", "lh_live_", PEPPER, SECRET_KEY):
        assert leak not in response.text
    return found
