"""Run the blocks of one page: in order, in one namespace, with a worker of the page's own app."""

import asyncio
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from leasehold.database.database import Role
from leasehold.engine import tenants
from tests.cell import Cell
from tests.cli.program import environment, leasehold, started
from tests.docs.pages import Block, blocks
from tests.http.test_server import serving

#: A block of SQL with this comment before it is run, in its place among the blocks of Python.
ADMINISTRATOR = "run as the administrator"
#: Such a block finds a server's address and a key of the tenant ``default`` in its environment.
SERVER = "run beside a server"
_FAST = {
    "LEASEHOLD_LEASE_SECONDS": "4",
    "LEASEHOLD_BEAT_SECONDS": "0.5",
    "LEASEHOLD_POLL_SECONDS": "0.05",
    "PYTHONDONTWRITEBYTECODE": "1",  # a file is written anew within the second
}


def settings_of(cell: Cell) -> dict[str, str]:
    return cell.environment() | _FAST


class Running:
    """A folder with the page's files, the namespace of its blocks, and a worker."""

    def __init__(self, cell: Cell, folder: Path) -> None:
        self.namespace: dict[str, Any] = {"__name__": "page"}
        self._cell = cell
        self._folder = folder
        self._env = settings_of(cell)
        self._app: str | None = None  # the file that holds the app, when its worker is not running yet
        self._worker = ExitStack()
        self._server = ExitStack()

    def run_page(self, page: Path) -> None:
        for block in blocks(page):
            if block.language == "sql" and block.note == ADMINISTRATOR:
                asyncio.run(self._cell.cluster.administer(self._cell.name, block.text))
            elif block.language == "python":
                self._run(block)
        self.start_worker()
        self._run_tests()

    def _run(self, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(block), "exec")
        if block.note == SERVER and "JOBS_URL" not in os.environ:
            self.start_server()
        if block.file:
            self._write(block, block.file)
        else:
            self.start_worker()
        if not (block.file or "").startswith("test_"):
            exec(code, self.namespace)

    def _write(self, block: Block, name: str) -> None:
        (self._folder / name).write_text(block.text + "\n")
        sys.modules.pop(name.removesuffix(".py"), None)  # a page may write a file anew
        importlib.invalidate_caches()
        if "= Leasehold(" in block.text:
            self._app = name.removesuffix(".py")
        if "= Worker(" in block.text:
            program = started(command=(sys.executable, name), env=self._env, cwd=str(self._folder))
            self._server.enter_context(program).said("worker started")

    def _run_tests(self) -> None:
        tests = [path.name for path in self._folder.glob("test_*.py")]
        if tests:
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
            subprocess.run(command, cwd=self._folder, env=environment(self._env), check=True)

    def start_worker(self) -> None:
        """Start the worker of the newest app, unless it runs."""
        if self._app is None:
            return
        self._worker.close()
        worker = self._worker.enter_context(started("worker", f"{self._app}:app", env=self._env, cwd=str(self._folder)))
        worker.said("worker started")
        self._app = None

    def start_server(self) -> None:
        """A server, a worker for the kinds that are always there, and a key to ask for jobs and to work."""
        url, _ = self._server.enter_context(serving(self._env))
        self._server.enter_context(started("worker", env=self._env)).said("worker started")
        leasehold("queues", "create", "gpu", env=self._env)
        scopes = [f"--scope={scope}" for scope in ("jobs:read", "jobs:write", "work")]
        key = leasehold("keys", "create", "pages", "--tenant=default", *scopes, "--queue=gpu", "--json", env=self._env)
        for name, value in {"JOBS_URL": url, "JOBS_KEY": key.json["key"]}.items():
            os.environ[name] = value
            self._server.callback(os.environ.pop, name)

    def close(self) -> None:
        self._worker.close()
        self._server.close()


@contextmanager
def running(cell: Cell, folder: Path, modules: Mapping[str, Any] = sys.modules) -> Iterator[Running]:
    """A page's surroundings, with the tenants that the pages speak of."""
    before = set(modules)
    asyncio.run(_make_tenants(cell))
    page = Running(cell, folder)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield page
    finally:
        page.close()
        sys.path.remove(str(folder))
        for name in set(modules) - before:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


async def _make_tenants(cell: Cell) -> None:
    async with cell.database(Role.OPERATOR, connections=1) as db:
        for name in ("default", "acme", "globex"):
            await tenants.create_tenant(db, name)
