"""Move a cell to another server: copy it while it works, close it, let the last changes arrive, open it there.

Every step is kept in one of the three databases before the next begins, and looks for what is there already. So a move
that was killed anywhere goes on when it is called again. Until the cell is closed a move can be taken back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from types import TracebackType

import asyncpg

from leasehold.engine import cells
from leasehold.engine.database import Database, Place, at
from leasehold.engine.driver import Connection
from leasehold.engine.pack_files import PackFiles
from leasehold.engine.translate import translated
from leasehold.errors import Conflict, LeaseholdError

#: Of each place its own: what is made at the start of a place, what its transactions and sequences were, where it is.
_NOT_COPIED = ("here", "migration", "day", "collected", "lane", "cell", "resident")
#: Numbers of transactions: they would mean nothing elsewhere, and the copy has its own.
_LOCAL = ("xid", "started_xid")
_POLL_SECONDS = 0.02
_CLOSE_SECONDS = 60.0
_ALONE_SECONDS = 30
#: PostgreSQL tries again by itself, every five seconds.
_MOST_ERRORS = 5
_CLOSE_PAUSE_SECONDS = 0.3


class Move:
    """One cell on its way. ``admin`` is a superuser's URL, whose login is good at home and at both places."""

    def __init__(
        self,
        home: Database,
        cell: str,
        place: str,
        *,
        admin: str,
        packs: Sequence[PackFiles],
        tell: Callable[[str], None],
    ) -> None:
        self._home = home
        self._cell = cell
        self._place = place
        self._admin = admin
        self._packs = packs
        self._tell = tell
        self._schema = home.target.schema
        self._schemas = [self._schema, *(pack.schema(self._schema) for pack in packs)]
        # Of publication, subscription and slot: short, and of letters that all three take.
        self._name = f"{self._schema}_move_{sha256(cell.encode()).hexdigest()[:12]}"

    async def run(self) -> float:
        """Move the cell; for how many seconds it did not take writes, as far as this call has seen it."""
        now = await cells.begin_move(self._home, self._cell, self._place)
        with translated():
            async with _Connected(at(self._admin, now.url)) as old:
                await self._be_the_only_one(old)
                await self._look_again(now, self._place)
                self._tell("making the new place")
                url = await cells.make_database(self._place, admin=self._admin, schema=self._schema, packs=self._packs)
                async with _Connected(url) as new:
                    return await self._run(old, new, now)

    async def _be_the_only_one(self, old: Connection) -> None:
        """The lock ends with the session; that of a mover that was killed ends with its last statement."""
        await old.execute(f"set lock_timeout = '{_ALONE_SECONDS}s'")
        try:
            await old.execute("select pg_advisory_lock(7507, hashtext($1))", self._schema)
        except asyncpg.LockNotAvailableError:
            raise Conflict(f"somebody else is moving cell {self._cell}", hint="leasehold cells list") from None

    async def _look_again(self, now: Place, next_url: str) -> None:
        """Whoever held the lock before may have ended this move, or taken it back."""
        found = await cells.list_cells(self._home, self._cell)
        if [(cell.url, cell.epoch, cell.next_url) for cell in found] != [(*now, next_url)]:
            raise Conflict(f"somebody else has moved cell {self._cell}, or let it stay", hint="leasehold cells list")

    async def _run(self, old: Connection, new: Connection, now: Place) -> float:
        began = time.monotonic()
        if not await self._is_opened(new, now.epoch + 1):
            if not await self._is_complete(old, new):
                await self._copy(old, new, at(self._admin, now.url))
                self._tell("closing the old place")
                began = time.monotonic()
                await self._close(old)
                self._tell("waiting for the last changes")
                await self._wait(new, lambda: self._is_complete(old, new))
            self._tell("opening the new place")
            await self._unsubscribe(new)
            given = await old.fetchval(f"select {self._schema}.hand_over($1)", self._schemas)
            await new.execute(f"select {self._schema}.open_cell($1, $2)", now.epoch + 1, given)
        self._tell("sending everybody there")
        await old.execute(f"drop publication if exists {self._name}")
        await self._end_listening(old)
        await cells.end_move(self._home, self._cell, moved=True)
        return time.monotonic() - began

    async def undo(self) -> None:
        """Let the cell stay where it is, and forget the copy."""
        found = next(iter(await cells.list_cells(self._home, self._cell)), None)
        if found is None or found.next_url is None:
            raise Conflict(f"cell {self._cell} is not being moved", hint="leasehold cells list")
        with translated():
            async with _Connected(at(self._admin, found.url)) as old:
                await self._be_the_only_one(old)
                await self._look_again(Place(found.url, found.epoch), found.next_url)
                if await self._is_closed(old):
                    raise Conflict(
                        f"cell {self._cell} is closed at its old place already",
                        hint=f"go on: `leasehold cells move {self._cell} {found.next_url}`",
                    )
                await self._forget_copy(found.next_url)
                await old.execute(f"drop publication if exists {self._name}")
                await old.execute(f"select {self._schema}.leave_cell(false)")
                await cells.end_move(self._home, self._cell, moved=False)

    # -- the copy -----------------------------------------------------------------------------------------------

    async def _copy(self, old: Connection, new: Connection, url: str) -> None:
        """All rows are there, and changes follow within moments."""
        if not await self._is_closed(old):
            await self._compare(old, new)
            await old.execute(f"select {self._schema}.leave_cell()")
            await self._publish(old)
        if await self._subscription(new) is None:
            await new.execute(f"select {self._schema}.empty_cell($1, $2)", self._cell, self._schemas)
            await self._subscribe(old, new, url)
        self._tell("copying")
        await self._wait(new, lambda: self._has_caught_up(new))

    async def _has_caught_up(self, new: Connection) -> bool:
        behind = "select exists (select from pg_subscription_rel where srsubid = $1 and srsubstate <> 'r')"
        return not await new.fetchval(behind, await self._subscription(new))

    async def _wait(self, new: Connection, condition: Callable[[], Awaitable[bool]]) -> None:
        errors = "select apply_error_count + sync_error_count from pg_stat_subscription_stats where subid = $1"
        subscription = await self._subscription(new)
        while not await condition():
            if (await new.fetchval(errors, subscription) or 0) > _MOST_ERRORS:
                raise LeaseholdError(
                    f"the copy of cell {self._cell} does not get on",
                    hint="the log of the new server says why; then call this again",
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def _compare(self, old: Connection, new: Connection) -> None:
        if await old.fetchval("show wal_level") != "logical":
            raise Conflict(
                f"the server of cell {self._cell} does not tell its changes",
                hint="set wal_level = logical there and restart it",
            )
        files = f"select array_agg(name || ' ' || checksum order by name) from {self._schema}.migration"
        if await old.fetchval(files) != await new.fetchval(files):
            raise Conflict(
                f"cell {self._cell} has another schema, or other packs, than this program would make",
                hint="bring it to this program's first: LEASEHOLD_DATABASE_URL=… leasehold db migrate",
            )

    async def _publish(self, old: Connection) -> None:
        if await old.fetchval("select exists (select from pg_publication where pubname = $1)", self._name):
            return
        tables = await old.fetchval(
            """
            select string_agg(c.oid::regclass || coalesce(' (' || local.others || ')', ''), ', ')
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
            left join lateral (
              select string_agg(quote_ident(attname), ', ') filter (where attname <> all ($4::text[])) as others
              from pg_attribute
              where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
              having bool_or(attname = any ($4::text[]))
            ) local on n.nspname = $2
            where n.nspname = any ($1::text[]) and c.relkind in ('r', 'p') and not c.relispartition
              and not (n.nspname = $2 and c.relname = any ($3::text[]))
            """,
            self._schemas,
            self._schema,
            _NOT_COPIED,
            _LOCAL,
        )
        # By the names of the parents: the two places may have cut their days differently.
        await old.execute(
            f"create publication {self._name} for table {tables} with (publish_via_partition_root = true)"
        )

    async def _subscribe(self, old: Connection, new: Connection, url: str) -> None:
        """The slot is made apart: one server may hold both places, and would wait for itself."""
        await self._drop_slot(old)
        await old.execute("select pg_create_logical_replication_slot($1, 'pgoutput')", self._name)
        statement = "create subscription %I connection %L publication %I with (create_slot = false, slot_name = %L)"
        await new.execute(
            await new.fetchval("select format($1, $2::text, $3::text, $2::text, $2::text)", statement, self._name, url)
        )

    async def _drop_slot(self, old: Connection) -> None:
        await old.execute(
            "select pg_drop_replication_slot(slot_name) from pg_replication_slots"
            " where slot_name = $1 and database = current_database()",
            self._name,
        )

    async def _subscription(self, new: Connection) -> int | None:
        """Its number; those of all databases of a server are in one table."""
        found: int | None = await new.fetchval(
            "select s.oid from pg_subscription s join pg_database d on d.oid = s.subdbid"
            " where s.subname = $1 and d.datname = current_database()",
            self._name,
        )
        return found

    async def _unsubscribe(self, new: Connection) -> None:
        """The slot goes with it."""
        await new.execute(f"drop subscription if exists {self._name}")

    async def _forget_copy(self, place: str) -> None:
        try:
            new = await cells.connect(at(self._admin, place))
        except asyncpg.InvalidCatalogNameError:  # there is no such database: nothing was made yet
            return
        try:
            await self._unsubscribe(new)
        finally:
            await new.close()

    # -- the end ------------------------------------------------------------------------------------------------

    async def _close(self, old: Connection) -> None:
        give_up_at = time.monotonic() + _CLOSE_SECONDS
        while True:
            try:
                await old.execute(f"select {self._schema}.close_cell($1)", self._schemas)
                return
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                if time.monotonic() > give_up_at:
                    raise LeaseholdError(
                        f"cell {self._cell} is not still: somebody holds a transaction open",
                        hint="end it and call this again; `leasehold doctor` names old transactions",
                    ) from None
            await asyncio.sleep(_CLOSE_PAUSE_SECONDS)

    async def _is_complete(self, old: Connection, new: Connection) -> bool:
        """The farewell of the old place, the last thing it wrote, has arrived."""
        farewell = (
            f"select max(audit_id::text) from {self._schema}.audit where tenant_id is null and action = 'cell.close'"
        )
        said = await old.fetchval(farewell)
        return await self._is_closed(old) and said is not None and said == await new.fetchval(farewell)

    async def _is_closed(self, old: Connection) -> bool:
        return bool(await old.fetchval(f"select state = 'closed' from {self._schema}.here"))

    async def _is_opened(self, new: Connection, epoch: int) -> bool:
        opened = f"select exists (select from {self._schema}.here where state = 'open' and epoch = $1 and cell = $2)"
        return bool(await new.fetchval(opened, epoch, self._cell))

    async def _end_listening(self, old: Connection) -> None:
        """Whoever calls finds out by itself; whoever only listens would hear nothing for ever."""
        await old.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name like 'leasehold-%-listen'"
        )


class _Connected:
    """A connection for a block."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def __aenter__(self) -> Connection:
        self._connection = await cells.connect(self._url)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.close()
