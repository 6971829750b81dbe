"""What the routes share: the database as two roles, the hub of the streams, the limits."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import Request

from leasehold.api.hub import Hub
from leasehold.api.limits import Limiter
from leasehold.api.oidc import Issuer
from leasehold.api.problems import Problem
from leasehold.client import Backend
from leasehold.engine.connect import target
from leasehold.engine.database import Database, Role
from leasehold.engine.keys import peppers
from leasehold.engine.secrets import secret_keys
from leasehold.engine.wakeups import NEWS_SECONDS, Notifier, news_channel
from leasehold.errors import BadSetting, Unreachable
from leasehold.keys import Peppers
from leasehold.metrics import LoopLag
from leasehold.net.objects import ObjectStore
from leasehold.secrets import Keys
from leasehold.settings import Settings

_CONNECTIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    settings: Settings
    backend: Backend
    operator_db: Database | None  # None: this server was given no operator's login
    hub: Hub
    lag: LoopLag
    news: Notifier  # tells those who follow jobs, here and in other processes
    peppers: Peppers
    loopback: bool  # only this machine can reach the server
    objects: ObjectStore | None
    key_requests: Limiter
    ip_requests: Limiter
    ip_refusals: Limiter
    issuer: Issuer | None  # None: nobody vouches for people here
    answered: Counter[int] = field(default_factory=Counter)

    @property
    def db(self) -> Database:
        """The database as the api role: one tenant at a time."""
        return self.backend.db

    @property
    def operator(self) -> Database:
        """The database as the operator: all tenants."""
        if self.operator_db is None:
            raise Problem(
                "unavailable",
                "this server does not serve operators",
                hint="set LEASEHOLD_OPERATOR_URL, or ask another server",
            )
        return self.operator_db

    async def send_waiting(self) -> None:
        """Tell others what is to be told, before this process sleeps."""
        await self.news.close()
        await self.backend.send_waiting()

    @property
    def secret_keys(self) -> Keys:
        """What secrets are sealed with. A server without such keys serves everything else."""
        try:
            return secret_keys(self.settings)
        except BadSetting:  # its words may name a file of this machine
            raise Problem(
                "unavailable",
                "this server has no usable LEASEHOLD_SECRET_KEYS, so it can seal no secret",
                hint="set LEASEHOLD_SECRET_KEYS on the server, the same for every process",
            ) from None


@asynccontextmanager
async def open_services(settings: Settings, *, loopback: bool) -> AsyncIterator[Services]:
    found = peppers(settings, loopback=loopback)
    db = Database(target(settings, Role.API), connections=_CONNECTIONS)
    news = Notifier(db, channel=news_channel(db.target.schema), every_s=NEWS_SECONDS)
    async with (
        Backend(settings, db) as backend,
        _operator(settings) as operator_db,
        _issuer(settings) as issuer,
        Hub(db, settings) as hub,
        _objects(settings) as objects,
        LoopLag() as lag,
    ):
        yield Services(
            settings=settings,
            backend=backend,
            operator_db=operator_db,
            hub=hub,
            lag=lag,
            news=news,
            peppers=found,
            loopback=loopback,
            objects=objects,
            key_requests=Limiter(settings.key_requests),
            ip_requests=Limiter(settings.ip_requests),
            ip_refusals=Limiter(settings.ip_refusals),
            issuer=issuer,
        )
        await news.close()


def services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


@asynccontextmanager
async def _issuer(settings: Settings) -> AsyncIterator[Issuer | None]:
    if settings.oidc_issuer is None:
        yield None
        return
    async with Issuer(settings) as issuer:
        yield issuer


@asynccontextmanager
async def _objects(settings: Settings) -> AsyncIterator[ObjectStore | None]:
    store = ObjectStore.of(settings)
    try:
        yield store
    finally:
        if store:
            await store.__aexit__(None, None, None)


@asynccontextmanager
async def _operator(settings: Settings) -> AsyncIterator[Database | None]:
    try:
        found = target(settings, Role.OPERATOR)
    except Unreachable:  # only the api role's URL was given
        yield None
        return
    async with Database(found, connections=2) as db:
        yield db
