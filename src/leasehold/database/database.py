"""Connections: a pool of one role, the scope of one tenant, and driver errors turned into ours."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import UUID

import asyncpg

from leasehold.database.connection import Connection, Limits, connect
from leasehold.database.errors import Translated
from leasehold.database.fair_share import Shares
from leasehold.database.pool import Pool, Usage
from leasehold.errors import LeaseholdError, Unreachable
from leasehold.log import emit
from leasehold.outage import Outage


@cache
def own_version() -> str:
    """The version of this program. To find it, files are read."""
    return version("leasehold")


class Role(StrEnum):
    """Who a connection is. None of them owns a table or passes by row security."""

    API = "api"
    WORKER = "worker"
    OPERATOR = "operator"
    READONLY = "readonly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to connect, and as whom.

    With ``assume`` the URL logs in as somebody else (a user who gave one URL only): then each connection begins by
    taking the role, or each transaction, behind a pooler that hands out another connection every time.
    """

    url: str
    role: Role
    schema: str = "leasehold"
    assume: bool = False
    pooled: bool = False  # a pooler in transaction mode is in between: no session outlives a transaction
    listen_url: str | None = None  # where LISTEN works although a pooler is in between
    limits: Limits = Limits()

    def within(self, seconds: float) -> "Target":
        """The same for calls that take no longer than this: whoever calls has no more time."""
        limits = self.limits
        shorter = replace(
            limits,
            connect_seconds=min(limits.connect_seconds, seconds),
            call_seconds=min(limits.call_seconds, seconds),
        )
        return replace(self, limits=shorter)

    @property
    def role_name(self) -> str:
        return f"{self.schema}_{self.role}"

    @property
    def listens(self) -> bool:
        """Whether LISTEN has the session that it needs."""
        return not self.pooled or self.listen_url is not None

    @property
    def listens_at(self) -> str:
        """The URL for LISTEN."""
        return self.listen_url or self.url


@dataclass(slots=True)
class Wake:
    """What a call's own transaction is to tell workers, and whether it could: see notify_workers.sql."""

    channel: str
    queue: str
    is_sent: bool = False


class _Call(NamedTuple):
    """A call of one SQL function, and what else its statement does."""

    function: str
    args: tuple[Any, ...]
    tenant: UUID | None = None
    wake: Wake | None = None
    is_long: bool = False


#: PostgreSQL gave a transaction up because others were in its way.
_ROLLED_BACK = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_ROLLED_BACK_TRIES = 3


def _is_rolled_back(problem: BaseException | None) -> bool:
    """Also where a row was sent to the default partition while that of its day was made.

    Such an error names no constraint; those of our tables have names.
    """
    of_partition = isinstance(problem, asyncpg.CheckViolationError) and problem.constraint_name is None
    return of_partition or isinstance(problem, _ROLLED_BACK)


def _session_limits(target: Target) -> dict[str, str]:
    """How long PostgreSQL itself lets a session of this role take.

    Workers have none: their handlers' transactions and their upkeep may rightly be long, and have other ends.
    """
    if target.role is Role.WORKER:
        return {}
    limits = target.limits
    return {
        "statement_timeout": _milliseconds(limits.call_seconds),
        "lock_timeout": _milliseconds(limits.call_seconds / 2),
        "idle_in_transaction_session_timeout": _milliseconds(limits.long_call_seconds),
    }


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))


class Database:
    """A pool of connections of one role. ``call`` runs one SQL function; ``transaction`` scopes several calls.

    ``fair`` is for a process that serves many tenants: what may wait for a lock has shares of the pool.

    Connections are made when they are needed: a database that is away is found out by the first call. ``patient``: a
    connection is waited for until one is free, as by handlers, which hold them for long and are timed themselves.
    """

    def __init__(
        self,
        target: Target,
        *,
        connections: int = 4,
        fair: bool = False,
        patient: bool = False,
        outage: Outage | None = None,
    ) -> None:
        self.target = target
        self.outage = outage or Outage()
        self.shares = Shares(connections, call_s=target.limits.call.seconds, outage=self.outage) if fair else None
        self._reading: frozenset[str] | None = None  # functions that lock nothing, once they are known
        self._answers = Translated(self.outage)
        self._connections = connections
        self._patient = patient
        self._pool: Pool | None = None

    async def __aenter__(self) -> Self:
        turn = None if self._patient else self.target.limits.call
        self._pool = Pool(self._connect, self._connections, turn=turn)
        return self

    async def reach(self) -> None:
        """Raise what stands in the way of a connection."""
        with self._answers:
            async with self._opened().connection():
                pass

    async def _connect(self) -> Connection:
        target = self.target
        return await connect(
            target.url,
            f"leasehold-{target.role}/{own_version()}",
            limits=target.limits,
            settings=_session_limits(target),
            role=target.role_name if target.assume and not target.pooled else None,
            pooled=target.pooled,
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.terminate() if error else await self._pool.close()

    def log_outages(self) -> None:
        """Write a line when the database goes away, and one when it is back."""

        def gone(problem: LeaseholdError) -> None:
            emit("database unreachable", level=logging.WARNING, problem=problem)

        def back(seconds: float) -> None:
            emit("database is back", away_s=round(seconds, 1))

        self.outage.announce(gone, back)

    def usage(self) -> Usage:
        """How its connections are used now."""
        return self._pool.usage() if self._pool else Usage(self._connections, 0, 0, 0)

    async def call(
        self,
        function: str,
        *args: Any,
        tenant: UUID | None = None,
        connection: Connection | None = None,
        wake: Wake | None = None,
    ) -> list[asyncpg.Record]:
        """Rows of one SQL function, called in a transaction of its own, or in that of ``connection``.

        ``wake``: the transaction wakes workers too, if it can.
        """
        if connection is not None:
            return await self._call_within(_Call(function, args, tenant), connection)
        rows = await self._call_fairly(_Call(function, args, tenant, wake))
        if wake is not None:
            wake.is_sent = bool(rows) and rows[0]["woken"]
        return rows

    async def _call_fairly(self, call: _Call) -> list[asyncpg.Record]:
        """PostgreSQL lets no function lock a row that is declared to change nothing; any other may wait for a lock."""
        if self.shares is None or call.tenant is None or call.function in await self._functions_that_read():
            return await self._call(call)
        async with self.shares.of(call.tenant):
            return await self._call(call)

    async def _functions_that_read(self) -> frozenset[str]:
        if self._reading is None:
            self._reading = frozenset(await self.value("list_read_only_functions"))
        return self._reading

    async def _call_within(self, call: _Call, connection: Connection) -> list[asyncpg.Record]:
        with self._answers:
            if call.tenant is not None:
                await self._set_tenant(connection, call.tenant)
            statement, args = self._written(call._replace(tenant=None))
            return list(await connection.fetch(statement, *args))

    async def _call(self, call: _Call) -> list[asyncpg.Record]:
        rolled_back = 0
        while True:
            try:
                with self._answers:
                    return await self._call_once(call)
            except LeaseholdError as problem:
                rolled_back += 1
                if not _is_rolled_back(problem.__cause__) or rolled_back > _ROLLED_BACK_TRIES:
                    raise
                # else nothing of it happened

    async def _call_once(self, call: _Call) -> list[asyncpg.Record]:
        pool = self._opened()
        if self.target.pooled:
            # Even one statement takes a transaction: the driver prepares it in one message and runs it in another, and
            # outside a transaction the second may reach a server that prepared somebody else's.
            async with pool.connection() as own, self._within(own, None):
                if not call.is_long:
                    return await self._call_within(call, own)
                with own.waiting_for(self.target.limits.long_call):
                    return await self._call_within(call, own)
        own = pool.take_idle() or await pool.take()  # as pool.connection(), without its coroutines
        try:
            statement, args = self._written(call)
            rows: list[asyncpg.Record]
            if not call.is_long:
                rows = await own.fetch(statement, *args)
            else:
                with own.waiting_for(self.target.limits.long_call):
                    rows = await own.fetch(statement, *args)
            return rows
        except BaseException as problem:
            pool.give_up(own, problem)
            raise
        finally:
            pool.give_back(own)

    async def value(self, function: str, *args: Any, tenant: UUID | None = None) -> Any:
        """The one value of one SQL function."""
        return (await self.call(function, *args, tenant=tenant))[0][0]

    async def call_long(self, function: str, *args: Any) -> list[asyncpg.Record]:
        """Rows of one SQL function that may take long: upkeep."""
        return await self._call(_Call(function, args, is_long=True))

    async def value_long(self, function: str, *args: Any) -> Any:
        return (await self.call_long(function, *args))[0][0]

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        # A wake-up says what is committed already: it does not wait for the disk.
        at_once = "set_config('synchronous_commit', 'off', true)"
        statement = f"select pg_notify($1, payload) from unnest($2::text[]) payload cross join {at_once}"
        with self._answers:
            async with self.transaction() if self.target.pooled else self._opened().connection() as own:
                await own.execute(statement, channel, payloads)

    @asynccontextmanager
    async def transaction(self, *, tenant: UUID | None = None, actor: str | None = None) -> AsyncIterator[Connection]:
        """A transaction in which the role, the tenant and the actor are set, and forgotten at its end."""
        others: OSError | None = None
        try:
            async with self._share(tenant):
                with self._answers:
                    async with self._opened().connection() as connection, self._within(connection, tenant, actor):
                        try:
                            yield connection
                        except OSError as problem:
                            if not (connection.is_calling_off or connection.is_closed()):
                                others = problem
                            raise
        except Unreachable:
            if others:  # of a file, or of another service that was asked meanwhile
                raise others from None
            raise

    def _share(self, tenant: UUID | None) -> AbstractAsyncContextManager[None]:
        """A transaction may lock whatever it likes."""
        return nullcontext() if self.shares is None or tenant is None else self.shares.of(tenant)

    @asynccontextmanager
    async def _within(
        self, connection: Connection, tenant: UUID | None, actor: str | None = None
    ) -> AsyncIterator[None]:
        async with connection.transaction():
            if beginning := self._beginning(tenant, actor):
                await connection.execute(beginning)
            yield

    def _beginning(self, tenant: UUID | None, actor: str | None) -> str:
        """What is set for one transaction, as statements that are sent together."""
        target, statements = self.target, []
        if target.pooled:
            statements += [f"set local {setting} = '{value}'" for setting, value in _session_limits(target).items()]
            if target.assume:
                statements.append(f'set local role "{target.role_name}"')
        if tenant is not None:
            statements.append(f"set local leasehold.tenant = '{tenant}'")
        if actor is not None:
            statements.append(f"set local leasehold.actor = {_literal(actor)}")
        return "; ".join(statements)

    async def _set_tenant(self, connection: Connection, tenant: UUID) -> None:
        await connection.execute("select set_config('leasehold.tenant', $1, true)", str(tenant))

    def _opened(self) -> Pool:
        if self._pool is None:
            raise RuntimeError("the database is not open: use `async with`")
        return self._pool

    def _written(self, call: _Call) -> tuple[str, tuple[Any, ...]]:
        """The statement, and its arguments."""
        function, args, tenant, wake, _ = call
        schema = self.target.schema
        statement = _statement(schema, function, len(args), wake is not None, tenant is not None)
        if wake is not None:
            args = (*args, wake.channel, wake.queue)
        if tenant is not None:
            args = (*args, str(tenant))
        return statement, args


def _literal(text: str) -> str:
    """A text as SQL has it, whatever the server's setting standard_conforming_strings."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


@cache
def _statement(schema: str, function: str, args: int, wake: bool, tenant: bool) -> str:
    """A call of the function. What else it does stands in the same statement, so all is one round trip.

    That a function depends on the row of what is done before it (and offset keeps the two apart) makes certain which of
    them runs first.
    """
    holes = [f"${number}" for number in range(1, args + 4)]
    call = f'"{schema}".{function}({", ".join(holes[:args])})'
    del holes[:args]
    columns = "f.*"
    if wake:
        columns += f', "{schema}".notify_workers({holes.pop(0)}, {holes.pop(0)}) as woken'
    statement = f"select {columns} from {call} f"
    if tenant:
        setting = f"select set_config('leasehold.tenant', {holes.pop(0)}, true) as tenant offset 0"
        statement = f"select f.* from ({setting}) s, lateral ({statement} where s.tenant <> '' offset 0) f"
    return statement
