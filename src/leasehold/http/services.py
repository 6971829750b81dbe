"""What the routes share: the database as two roles, the hub of the streams, the limits."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from fastapi import Request, Response

from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.replica import Reading, Replica, on_replica
from leasehold.database.wakeups import NEWS_SECONDS, Notifier, news_channel
from leasehold.engine import leases
from leasehold.errors import BadSetting, Unreachable
from leasehold.feature import load_all
from leasehold.http.large_bodies import LargeBodies
from leasehold.http.problems import Problem
from leasehold.http.rate_limits import AddressLimits, Limiter
from leasehold.http.stream_poller import Hub
from leasehold.installation_keys import peppers, secret_keys
from leasehold.metrics import LoopLag
from leasehold.program.client import Backend
from leasehold.sealing import Keys
from leasehold.settings import Settings
from leasehold.tokens import Peppers

P = TypeVar("P")

_CONNECTIONS = 10
#: How old an answer may be at most that came from a replica.
STALE_SECONDS = "Leasehold-Stale-Seconds"
#: A browser that has just changed something carries it, to whichever server it comes.
_WROTE = "leasehold_wrote"
#: They change nothing.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    settings: Settings
    backend: Backend
    operator_db: Database | None  # None: this server was given no operator's login
    probe: Database  # one connection, for those who ask whether the database is there
    hub: Hub
    lag: LoopLag
    news: Notifier  # tells those who follow jobs, here and in other processes
    peppers: Peppers
    loopback: bool  # only this machine can reach the server
    key_requests: Limiter
    addresses: AddressLimits  # of requests with a key, a session, a ticket or a login link
    large: LargeBodies
    replica: Replica | None = None
    operator_copy: Database | None = None  # the operator's connections to it
    readings: tuple[Reading, ...] = ()  # where this request reads, if a replica may answer it
    answered: Counter[int] = field(default_factory=Counter)
    parts: dict[type[Any], Any] = field(default_factory=dict)  # what features hold, by its type
    known_kinds: set[str] = field(default_factory=set)  # that somebody handles, as the database has said

    def part(self, type_: type[P]) -> P:
        """What a feature holds while the server runs: see ``Feature.server``."""
        found: P = self.parts[type_]
        return found

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

    def reading(self, tenant: UUID | None) -> "Services":
        """For a request that only looks: the replica answers as long as it is fresh enough for this tenant."""
        if self.replica is None:
            return self
        own = Reading(self.replica, self.db, self.replica.copy, tenant)
        operators = None
        if self.operator_db and self.operator_copy:
            operators = Reading(self.replica, self.operator_db, self.operator_copy, tenant)
        return replace(
            self,
            backend=self.backend.reading(own),
            operator_db=operators or self.operator_db,
            readings=(own, operators) if operators else (own,),
        )

    async def require_kinds(self, db: Database, tenant: UUID, kinds: Iterable[str]) -> None:
        """Refuse a kind that nobody handles. No kind is ever forgotten, so the database is asked for each but once."""
        if new := {*kinds} - self.known_kinds:
            self.known_kinds.update(await leases.require_kinds(db, tenant, new))

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
    db = Database(target(settings, Role.API), connections=_CONNECTIONS, fair=True)
    db.log_outages()
    news = Notifier(db, channel=news_channel(db.target.schema), every_s=NEWS_SECONDS)
    async with (
        Backend(settings, db) as backend,
        _operator(settings) as operator_db,
        Database(db.target, connections=1, outage=db.outage) as probe,
        Hub(db, settings) as hub,
        LargeBodies(settings.large_bodies_bytes, largest=settings.max_body_bytes) as large,
        LoopLag() as lag,
        _replica(settings, db, operator_db) as (replica, operator_copy),
        AsyncExitStack() as parts,
    ):
        services = Services(
            settings=settings,
            backend=backend,
            operator_db=operator_db,
            probe=probe,
            hub=hub,
            lag=lag,
            news=news,
            peppers=found,
            loopback=loopback,
            key_requests=Limiter(settings.key_requests),
            addresses=AddressLimits(requests=settings.ip_requests, refusals=settings.ip_refusals),
            large=large,
            replica=replica,
            operator_copy=operator_copy,
        )
        for open_part in load_all("server"):
            part = await parts.enter_async_context(open_part(services))
            services.parts[type(part)] = part
        yield services
        await news.close()


def services_of(request: Request) -> Services:
    services: Services = getattr(request.state, "reading", None) or request.app.state.services
    return services


def read_elsewhere(request: Request, tenant: UUID | None) -> None:
    """Let a replica answer this request, which changes nothing, unless its sender must not be told of the past."""
    fresh = "no-cache" in request.headers.get("cache-control", "") or _WROTE in request.cookies
    if not fresh and "text/event-stream" not in request.headers.get("accept", ""):
        request.state.reading = services_of(request).reading(tenant)


def remember_write(request: Request, tenant: UUID | None) -> None:
    """From now on this tenant is not shown what was before, by this process."""
    services = services_of(request)
    if services.replica and request.method not in SAFE_METHODS:
        services.replica.wrote(tenant)


def carry_write(request: Request, response: Response) -> None:
    """The same for a browser, at every server."""
    services = services_of(request)
    if services.replica and request.method not in SAFE_METHODS:
        seconds = math.ceil(services.settings.read_staleness_seconds)
        response.set_cookie(_WROTE, "1", max_age=seconds, httponly=True, samesite="lax", path="/")


def say_age(request: Request, response: Response) -> None:
    """How old an answer from the replica may be."""
    ages = [one.stale_s for one in services_of(request).readings if one.stale_s is not None]
    if ages:
        response.headers[STALE_SECONDS] = f"{max(ages):.1f}"


@asynccontextmanager
async def _replica(
    settings: Settings, db: Database, operator_db: Database | None
) -> AsyncIterator[tuple[Replica | None, Database | None]]:
    if settings.read_url is None:
        yield None, None
        return
    async with AsyncExitStack() as stack:
        copy = Database(on_replica(db.target, settings.read_url), connections=_CONNECTIONS)
        replica = Replica(db, copy, within_s=settings.read_staleness_seconds)
        await stack.enter_async_context(replica)
        theirs = None
        if operator_db:
            theirs = Database(on_replica(operator_db.target, settings.read_url), connections=2)
            await stack.enter_async_context(theirs)
        yield replica, theirs


@asynccontextmanager
async def _operator(settings: Settings) -> AsyncIterator[Database | None]:
    try:
        found = target(settings, Role.OPERATOR)
    except Unreachable:  # only the api role's URL was given
        yield None
        return
    async with Database(found, connections=2) as db:
        yield db
