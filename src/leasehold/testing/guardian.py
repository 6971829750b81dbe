"""``python -m leasehold.testing.guardian FOLDER``: own the server of a test run until its last user is gone.

Says one line of JSON: where the server is, or what the problem was.
"""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from leasehold.database import migrate
from leasehold.database.connect import target
from leasehold.database.connection import BY_HAND, connect
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.errors import LeaseholdError
from leasehold.plugins import discovery
from leasehold.postgres import Home, Server, ephemeral_home
from leasehold.settings import Settings
from leasehold.testing.databases import administer, enable_reset
from leasehold.testing.server import OWN_SERVER, TENANT, TemplateServer, only_one

_OPTIONS = {"max_connections": "300"}


def main() -> None:
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as stack:
        try:
            server = stack.enter_context(_own_server() if os.environ.get(OWN_SERVER) else _throw_away_server())
        except Exception as problem:  # whatever it is, the tests should say it
            said = str(problem) if isinstance(problem, LeaseholdError) else repr(problem)
            print(json.dumps({"problem": said, "hint": getattr(problem, "hint", None)}), flush=True)
            return
        print(json.dumps(asdict(server)), flush=True)
        _wait_for_the_last(folder)


@contextmanager
def _throw_away_server() -> Iterator[TemplateServer]:
    home = Home(ephemeral_home(in_memory=True))
    try:
        home.make()
        endpoint = Server(home.path, pg_bin=Settings.from_env().pg_bin, ephemeral=True, options=_OPTIONS).start()
        passwords = {str(role): home.secret(role) for role in Role}
        server = TemplateServer(admin_url=endpoint.url(), template="template_leasehold", passwords=passwords)
        asyncio.run(make_template(server))
        yield server
    finally:
        home.wipe()  # stops the server, too


@contextmanager
def _own_server() -> Iterator[TemplateServer]:
    """Databases on the user's server; all of this run are gone at the end, and nothing else is touched."""
    template = f"leasehold_test_{uuid.uuid4().hex[:12]}"
    server = TemplateServer(admin_url=os.environ[OWN_SERVER], template=template, passwords=None)
    try:
        asyncio.run(make_template(server))
        yield server
    finally:
        asyncio.run(_drop_all(server))


async def make_template(server: TemplateServer) -> None:
    """The database that others are made from: with all packs, and the tenant ``default``."""
    url = server.url(server.template)
    found = discovery.discover(Settings.from_env().packs)
    await migrate.create_database(server.admin_url, server.template)
    await migrate.migrate(url, packs=discovery.files_of_all(found))
    if server.passwords is not None:
        passwords = {Role(role): password for role, password in server.passwords.items()}
        await migrate.let_in(server.admin_url, server.template, passwords)
    await administer(url, (files("leasehold.testing") / "template.sql").read_text())
    async with Database(target(server.settings(server.template), Role.OPERATOR), connections=1) as db:
        await tenants.create_tenant(db, TENANT)
    await enable_reset(url)


async def _drop_all(server: TemplateServer) -> None:
    try:
        connection = await connect(server.admin_url, "leasehold-migrate", deadline=BY_HAND)
    except OSError:
        return  # it was never there, or is gone
    try:
        names = "select datname from pg_database where starts_with(datname, $1)"
        for row in await connection.fetch(names, server.template):
            await connection.execute(f'drop database if exists "{row["datname"]}" with (force)')
    finally:
        await connection.close()


def _wait_for_the_last(folder: Path) -> None:
    """Return, with the folder removed, when nobody holds the users' file."""
    while True:
        users = os.open(folder / "users", os.O_RDWR)
        fcntl.flock(users, fcntl.LOCK_EX)  # when everybody has let go
        os.close(users)
        with only_one(folder):  # nobody joins meanwhile; but somebody may have before
            users = os.open(folder / "users", os.O_RDWR)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
                return
            except BlockingIOError:
                continue
            finally:
                os.close(users)


if __name__ == "__main__":
    main()
