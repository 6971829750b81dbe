"""A primary and a streaming replica of it, both real."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import asyncpg

from leasehold.database.database import Role
from leasehold.postgres import Endpoint, Home, Server, ephemeral_home
from tests.cell import Cell, Cluster
from tests.faults.bare import Bare, base_backup, running
from tests.waiting import eventually


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    server: Server
    endpoint: Endpoint
    cell: Cell  # on the primary
    standby: Bare

    @property
    def copy(self) -> Cell:
        """The same cell as the replica has it."""
        admin_url = self.standby.url(self.endpoint)
        return replace(self.cell, cluster=replace(self.cell.cluster, admin_url=admin_url))

    def either(self, role: Role) -> str:
        """A URL of both servers: whichever can be written to."""
        url = self.cell.url(role).replace(
            f":{self.endpoint.port}/", f":{self.endpoint.port},127.0.0.1:{self.standby.port}/"
        )
        return f"{url}?target_session_attrs=read-write"

    async def ask_primary(self, statement: str) -> Any:
        return await _ask(self.endpoint.url(), statement)

    async def ask_standby(self, statement: str) -> Any:
        return await _ask(self.standby.url(self.endpoint), statement)

    async def caught_up(self) -> None:
        """The replica has replayed what the primary has written by now."""
        written = await self.ask_primary("select pg_current_wal_insert_lsn()::text")
        question = f"select pg_last_wal_replay_lsn() >= '{written}'::pg_lsn"
        await eventually(lambda: self.ask_standby(question), what="the replica")

    async def make_synchronous(self) -> None:
        """A commit waits from now on until the replica has it."""
        await self.ask_primary("alter system set synchronous_standby_names = '*'")
        await self.ask_primary("select pg_reload_conf()")
        question = "select bool_or(sync_state = 'sync') from pg_stat_replication"
        await eventually(lambda: self.ask_primary(question), what="a synchronous replica")

    async def lose_primary(self) -> None:
        """For ever, and without a last word."""
        os.kill(self.endpoint.pid, signal.SIGQUIT)
        await asyncio.to_thread(self.server.stop)

    async def promote(self) -> None:
        """The replica takes the primary's place."""
        assert await self.ask_standby("select pg_promote()")


async def _ask(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url, server_settings={"application_name": "leasehold-migrate"})
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def replicated() -> AsyncIterator[Pair]:
    homes = [Home(ephemeral_home(in_memory=True)) for _ in range(2)]
    for home in homes:
        home.make()
    server = Server(homes[0].path, ephemeral=True)
    try:
        endpoint = await asyncio.to_thread(server.start)
        passwords = {role: homes[0].secret(role) for role in Role}
        cluster = Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(homes[0].path), template="shop")
        await cluster.make_template()
        cell = Cell(cluster=cluster, name=cluster.template)
        with running(Bare(await asyncio.to_thread(base_backup, endpoint, homes[1].path))) as standby:
            pair = Pair(server=server, endpoint=endpoint, cell=cell, standby=standby)
            await pair.caught_up()
            yield pair
    finally:
        await asyncio.to_thread(server.stop)
        homes[0].wipe()
        shutil.rmtree(homes[1].path)
