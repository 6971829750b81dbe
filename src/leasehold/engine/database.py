"""Connections: a pool of one role, the scope of one tenant, and driver errors turned into ours."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import asyncpg

from leasehold.engine.pool import Pool, Usage
from leasehold.errors import BY_SQLSTATE, BadInput, LeaseholdError, Unreachable


@cache
def _version() -> str:
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

    @property
    def role_name(self) -> str:
        return f"{self.schema}_{self.role}"

    @property
    def listens_at(self) -> str | None:
        """The URL for LISTEN, which needs a session; None where there is none."""
        return self.listen_url or (None if self.pooled else self.url)


class Database:
    """A pool of connections of one role. ``call`` runs one SQL function; ``transaction`` scopes several calls."""

    def __init__(self, target: Target, *, connections: int = 4) -> None:
        self.target = target
        self._connections = connections
        self._pool: Pool | None = None

    async def __aenter__(self) -> Self:
        """Opens one connection, so that a database that does not answer is found out now."""
        pool = Pool(self._connect, self._connections)
        with translated():
            async with pool.connection():
                self._pool = pool
        return self

    async def _connect(self) -> asyncpg.Connection:
        target = self.target
        return await asyncpg.connect(
            target.url,
            **({"statement_cache_size": 0} if target.pooled else {}),
            server_settings={
                "application_name": f"leasehold-{target.role}/{_version()}",
                **({"role": target.role_name} if target.assume and not target.pooled else {}),
            },
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.terminate() if error else await self._pool.close()

    def usage(self) -> Usage:
        """How its connections are used now."""
        return self._pool.usage() if self._pool else Usage(self._connections, 0, 0, 0)

    async def call(
        self, function: str, *args: Any, tenant: UUID | None = None, connection: asyncpg.Connection | None = None
    ) -> list[asyncpg.Record]:
        """Rows of one SQL function, called in a transaction of its own, or in that of ``connection``."""
        with translated():
            if connection is not None:
                if tenant is not None:
                    await self._set_tenant(connection, tenant)
                return await self._fetch(connection, function, args)
            if not self.target.pooled:
                async with self._opened().connection() as own:
                    return await self._fetch(own, function, args, tenant=tenant)
            # Behind a pooler even one statement takes a transaction: the driver prepares it in one message and runs it
            # in another, and outside a transaction the second may reach a server that prepared somebody else's.
            async with self.transaction(tenant=tenant) as own:
                return await self._fetch(own, function, args)

    async def value(self, function: str, *args: Any, tenant: UUID | None = None) -> Any:
        """The one value of one SQL function."""
        return (await self.call(function, *args, tenant=tenant))[0][0]

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        statement = "select pg_notify($1, payload) from unnest($2::text[]) payload"
        with translated():
            async with self.transaction() if self.target.pooled else self._opened().connection() as own:
                await own.execute(statement, channel, payloads)

    @asynccontextmanager
    async def transaction(self, *, tenant: UUID | None = None) -> AsyncIterator[asyncpg.Connection]:
        """A transaction in which the role and the tenant are set, and forgotten at its end."""
        with translated():
            async with self._opened().connection() as connection, connection.transaction():
                if self.target.assume and self.target.pooled:
                    await connection.execute(f'set local role "{self.target.role_name}"')
                if tenant is not None:
                    await self._set_tenant(connection, tenant)
                yield connection

    async def _set_tenant(self, connection: asyncpg.Connection, tenant: UUID) -> None:
        await connection.execute("select set_config('leasehold.tenant', $1, true)", str(tenant))

    def _opened(self) -> Pool:
        if self._pool is None:
            raise RuntimeError("the database is not open: use `async with`")
        return self._pool

    async def _fetch(
        self,
        connection: asyncpg.Connection,
        function: str,
        args: tuple[Any, ...],
        *,
        tenant: UUID | None = None,
    ) -> list[asyncpg.Record]:
        holes = ", ".join(f"${number}" for number in range(1, len(args) + 1))
        statement = f'select f.* from "{self.target.schema}".{function}({holes}) f'
        if tenant is not None:
            # One statement, so one round trip: it sets the tenant for its own transaction. That the function depends on
            # the setting's row (and offset keeps the two apart) makes certain which of them runs first.
            setting = f"select set_config('leasehold.tenant', ${len(args) + 1}, true) as tenant offset 0"
            statement = f"select f.* from ({setting}) s, lateral ({statement} where s.tenant <> '' offset 0) f"
            args = (*args, str(tenant))
        rows: list[asyncpg.Record] = await connection.fetch(statement, *args)
        return rows


#: What the driver raises, before it asks the server, for a value that does not fit its parameter: a lone surrogate in a
#: text, a number that is too large.
_UNFIT = asyncpg.exceptions._base.DataError


def _words(problem: Exception) -> str:
    """The driver's words, without what cannot be printed: the value that did not fit is among them."""
    return str(problem).encode("ascii", "backslashreplace").decode()[:200]


@contextmanager
def translated() -> Iterator[None]:
    """Let no driver error past: SQLSTATE LHxxx becomes its class, bad values BadInput, a lost server Unreachable."""
    try:
        yield
    except asyncpg.PostgresError as problem:
        raise from_sqlstate(problem.sqlstate or "", str(problem.args[0]), problem.hint) from problem
    except _UNFIT as problem:
        raise BadInput(f"the database has no such value: {_words(problem)}") from problem
    except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as problem:
        # InternalClientError: the server's farewell came while the driver was about to speak.
        raise Unreachable(
            f"the database does not answer: {problem}", hint="is it running? `leasehold up` starts one"
        ) from problem


def from_sqlstate(code: str, message: str, hint: str | None) -> LeaseholdError:
    """An error of PostgreSQL as one of ours."""
    if code in BY_SQLSTATE:
        return BY_SQLSTATE[code](message, hint=hint)
    if code.startswith(("22", "54")):  # data exceptions: not a number, not a time, not JSON; too deep, too long
        return BadInput(message, hint=hint)
    if code.startswith(("28", "3D")):  # login, no such database
        way_out = "check LEASEHOLD_DATABASE_URL and the URLs of the roles: `leasehold config show`"
        return Unreachable(f"the database refuses the login: {message}", hint=hint or way_out)
    if code.startswith(("08", "57P", "53")):  # connection, shutdown, resources
        return Unreachable(f"the database does not answer: {message}", hint=hint or "is it running? `leasehold doctor`")
    if code == "42501":  # insufficient privilege
        way_out = "this login lacks a role of ours: grant <schema>_api (or _worker, …) to it"
        return LeaseholdError(f"the database refused: {message}", hint=hint or way_out)
    if code in ("26000", "42P05"):  # a prepared statement that is not there, or there already
        way_out = "is a pooler in between? set LEASEHOLD_POOLED=1"
        return LeaseholdError(f"the database refused: {message}", hint=way_out)
    return LeaseholdError(f"the database refused: {message} (SQLSTATE {code})", hint=hint)
