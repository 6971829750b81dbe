"""The driver's connection, made in this one place, so that every wait on every connection of ours has an end.

A connection to a host that is gone, or frozen, fails by itself only after many minutes, if at all. So to connect and to
call have deadlines; what is called off is not waited for; TCP asks a silent other side whether it is there, from both
ends.

It is also told of PostgreSQL's own arrays beforehand: asyncpg knows the types of single values and asks the server for
all others, on every new connection, by a query that takes longer than most of our calls. The arrays of built-in types
have the same numbers in every PostgreSQL.
"""

import asyncio
import socket
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace, TracebackType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

import asyncpg
from asyncpg.transaction import Transaction

from leasehold.errors import BadSetting

#: Numbers (oids) of the array and of its element, as in PostgreSQL's pg_type.dat.
_ARRAYS = {
    "bool": (1000, 16),
    "bytea": (1001, 17),
    "float4": (1021, 700),
    "float8": (1022, 701),
    "int2": (1005, 21),
    "int4": (1007, 23),
    "int8": (1016, 20),
    "jsonb": (3807, 3802),
    "timestamptz": (1185, 1184),
    "uuid": (2951, 2950),
}
_TYPES = {
    oid: {
        "oid": oid,
        "ns": "pg_catalog",
        "name": f"_{name}",
        "kind": b"b",
        "basetype": None,
        "elemtype": element,
        "elemdelim": ",",
        "range_subtype": None,
        "attrtypoids": None,
        "attrnames": None,
    }
    for name, (oid, element) in _ARRAYS.items()
}
#: The driver prepares its statement anew after a question that had no name. None was asked.
_NO_QUESTION = SimpleNamespace(name="none")

_URL = "postgresql://user:password@host:5432/database, with special characters percent-encoded"
#: PostgreSQL is given this long to end a statement that was called off; then its connection is closed.
_CANCEL_SECONDS = 2.0
_CLOSE_SECONDS = 1.0
#: A side that says nothing is asked after so many seconds, so often, and is given up after so many questions.
_KEEPALIVE = {"IDLE": 30, "INTVL": 10, "CNT": 3}
_UNACKNOWLEDGED_MS = 30_000
#: The same for PostgreSQL, which else would keep the locks of a client that is gone for two hours.
_SERVER_KEEPALIVE = {
    "tcp_keepalives_idle": str(_KEEPALIVE["IDLE"]),
    "tcp_keepalives_interval": str(_KEEPALIVE["INTVL"]),
    "tcp_keepalives_count": str(_KEEPALIVE["CNT"]),
    "tcp_user_timeout": str(_UNACKNOWLEDGED_MS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long the database may take; as the settings of these names."""

    connect_seconds: float = 5.0  # for each host of the URL
    call_seconds: float = 10.0
    long_call_seconds: float = 120.0

    @property
    def call(self) -> "Deadline":
        """A little later than PostgreSQL itself would end the statement, where it was told to."""
        return Deadline(self.call_seconds * 1.1, "call_seconds")

    @property
    def long_call(self) -> "Deadline":
        return Deadline(self.long_call_seconds, "long_call_seconds")


class Deadline(NamedTuple):
    """How long a call may take, and the setting that says so; None where it is not for a setting to say."""

    seconds: float
    setting: str | None = None


#: For migrations: a statement that changes a large table takes as long as it takes.
BY_HAND = Deadline(3600.0)


class NoAnswer(TimeoutError):
    """A deadline has passed, and nothing was heard."""

    def __init__(self, what: str, deadline: Deadline) -> None:
        super().__init__(f"{what} for {deadline.seconds:g} s")
        self.seconds = deadline.seconds
        name = f"LEASEHOLD_{(deadline.setting or '').upper()}"
        self.hint = f"if it may take longer, set {name}; `leasehold doctor`" if deadline.setting else None


class Connection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection that waits for nothing without an end, and queries the server for no type that stands above.

    Some names of asyncpg that it uses are not public; tests/database/test_connection.py fails when they change. Without
    ``_execute``, ``_cancel``, ``_cancellations`` and ``_config`` a call that was given up could wait without an end.
    Without ``_introspect_types`` the first call of every new connection takes about twice as long.
    """

    __slots__ = ("_deadline", "is_given_up")

    def __init__(self, protocol: Any, transport: Any, *more: Any) -> None:
        super().__init__(protocol, transport, *more)
        self._deadline = Limits().call
        self.is_given_up = False
        _keep_alive(transport.get_extra_info("socket"))

    def wait_for(self, deadline: Deadline) -> None:
        """From now on, calls that do not say how long they may take may take so long."""
        self._deadline = deadline
        self._config = self._config._replace(  # type: ignore[misc, has-type]
            command_timeout=deadline.seconds
        )

    @contextmanager
    def waiting_for(self, deadline: Deadline) -> Iterator[None]:
        """The same for a block."""
        usual = self._deadline
        self.wait_for(deadline)
        try:
            yield
        finally:
            self.wait_for(usual)

    @property
    def is_calling_off(self) -> bool:
        """Whether a call was given up a moment ago, and PostgreSQL is being asked to end it."""
        return bool(self._cancellations)

    def give_up(self) -> None:
        """Not to be used again: it is closed now, or in a moment if PostgreSQL is being asked to end its call."""
        self.is_given_up = True
        if not self.is_calling_off:
            self.terminate()

    async def close(self, *, timeout: float | None = None) -> None:
        """With a farewell, if the other side is there to hear it; it is closed in any case."""
        with suppress(Exception):
            await super().close(timeout=timeout or _CLOSE_SECONDS)

    def transaction(self, *, isolation: Any = None, readonly: bool = False, deferrable: bool = False) -> Any:
        self._check_open()
        return _Transaction(self, isolation, readonly, deferrable)

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        try:
            return str(await super().execute(query, *args, timeout=timeout))
        except TimeoutError:
            if timeout is None:
                raise self._no_answer() from None
            raise

    async def _execute(self, query: str, args: Any, limit: int, timeout: float | None, **options: Any) -> Any:
        try:
            return await super()._execute(query, args, limit, timeout, **options)
        except TimeoutError:
            if timeout is None:
                raise self._no_answer() from None
            raise

    def _no_answer(self) -> NoAnswer:
        return NoAnswer("the database has not answered", self._deadline)

    async def _cancel(self, *waiters: Any) -> None:
        """Ask PostgreSQL to end a call: over a connection of its own, which may hang as this one does."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS) as limit:
                await super()._cancel(*waiters)
        finally:
            if self.is_given_up or limit.expired():
                self.terminate()

    async def _introspect_types(self, typeoids: Collection[int], timeout: float | None) -> Any:
        if all(oid in _TYPES for oid in typeoids):
            return [_TYPES[oid] for oid in typeoids], _NO_QUESTION
        return await super()._introspect_types(typeoids, timeout)


class _Transaction(Transaction):  # type: ignore[misc]  # asyncpg has no types
    """Its rollback never fails: what was wrong is told, and a transaction whose connection is lost is rolled back."""

    __slots__ = ()

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, problem, trace)
        except Exception:
            if problem is None:
                raise
            self._connection.give_up()


async def connect(
    url: str,
    name: str,
    *,
    limits: Limits = Limits(),
    deadline: Deadline | None = None,
    settings: Mapping[str, str] = {},
    role: str | None = None,
    pooled: bool = False,
) -> Connection:
    """A connection under this name, as this role, for calls that end within the deadline.

    ``settings`` are those of its session; ``pooled``: a pooler is in between, and it has no session.
    """
    startup = {"application_name": name, **({"role": role} if role else {})}
    cache = {"statement_cache_size": 0} if pooled else {}
    connection = await _connect_any(url, limits, server_settings=startup, **cache)
    connection.wait_for(deadline or limits.call)
    if not pooled:  # not as the connection begins: poolers with sessions refuse what they do not know
        try:
            statements = (f"set {setting} = '{value}'" for setting, value in {**_SERVER_KEEPALIVE, **settings}.items())
            await connection.execute("; ".join(statements))
        except BaseException:
            connection.terminate()
            raise
    return connection


async def _connect_any(url: str, limits: Limits, **options: Any) -> Connection:
    """To the first host that will do, each within its time: the driver has one limit for all of them together."""
    hosts = _each_host(url)
    wanted = parse_qs(urlsplit(url).query).get("target_session_attrs")
    for attributes in ("standby", "any") if wanted == ["prefer-standby"] else (None,):
        for host in hosts:
            try:
                connection: Connection = await asyncpg.connect(
                    host,
                    connection_class=Connection,
                    timeout=limits.connect_seconds,
                    target_session_attrs=attributes,
                    **options,
                )
                return connection
            except TimeoutError:
                late = Deadline(limits.connect_seconds, "connect_seconds")
                problem: Exception = NoAnswer("the database has not taken a connection", late)
            except (OSError, asyncpg.CannotConnectNowError, asyncpg.TargetServerAttributeNotMatched) as other:
                problem = other
            except asyncpg.ClientConfigurationError as wrong:
                raise BadSetting(f"the URL of the database cannot be used: {wrong}", hint=_URL) from wrong
            except ValueError:  # its words would show what was taken for a port: perhaps a piece of the password
                raise BadSetting("the URL of the database cannot be read", hint=_URL) from None
    raise problem


def _each_host(url: str) -> list[str]:
    """The URL once for each of its hosts."""
    parts = urlsplit(url)
    login, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [urlunsplit(parts._replace(netloc=f"{login}{at}{host}")) for host in hosts.split(",")]


def _keep_alive(own: Any) -> None:
    """Notice a silent host although nothing is sent to it, as where we only listen."""
    if own is None or own.family == socket.AF_UNIX:
        return
    own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {f"TCP_KEEP{name}": value for name, value in _KEEPALIVE.items()}
    for option, value in {**options, "TCP_USER_TIMEOUT": _UNACKNOWLEDGED_MS}.items():
        if hasattr(socket, option):  # not every system has all of them
            own.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
