"""Every block of Python in the documentation runs as it stands, and every command that it shows exists.

The blocks of one page run in order, in one namespace. A block whose first line is ``# shop.py`` is that file too: the
worker that runs beside the page imports it.
"""

import asyncio
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import typer
from typer.main import get_command

from leasehold.cli import app as program
from leasehold.database.database import Role
from tests.cell import Cell
from tests.docs.pages import PAGES, ROOT, Block, blocks, commands
from tests.docs.running import Running, running, settings_of

#: Pages that show pieces of an example which is run elsewhere.
PIECES = {"docs/howto/write-a-pack.md": "examples/your_own_pack"}
WITH_PYTHON = [
    page
    for page in PAGES
    if str(page.relative_to(ROOT)) not in PIECES and any(block.language == "python" for block in blocks(page))
]
SHELL = [block for page in PAGES for block in blocks(page) if block.language in ("console", "sh")]


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, cell: Cell) -> None:
    for name, value in settings_of(cell).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.dont_write_bytecode", True)


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_runs_as_it_stands(page: Path, cell: Cell, tmp_path: Path) -> None:
    with running(cell, tmp_path) as here:
        here.run_page(page)


@pytest.mark.parametrize("page", PIECES)
def test_pieces_of_an_example_stand_there_word_for_word(page: str) -> None:
    files = [path for path in (ROOT / PIECES[page]).rglob("*") if path.suffix in (".py", ".toml")]
    example = {_closed_up(path.read_text()) for path in files}
    for block in blocks(ROOT / page):
        if block.language in ("python", "toml"):
            assert any(_closed_up(block.text) in text for text in example), f"{block} is not in {PIECES[page]}"


def _closed_up(text: str) -> str:
    """Without indentation and empty lines."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


@pytest.mark.usefixtures("surroundings")
def test_the_sample_of_the_readme_joins_the_callers_transaction_and_is_run(cell: Cell, tmp_path: Path) -> None:
    with running(cell, tmp_path) as here:
        here.run_page(ROOT / "README.md")
        assert asyncio.run(_ask_twice(here, cell)) == ["order 17 is refunded"]


async def _ask_twice(here: Running, cell: Cell) -> list[Any]:
    """Once rolled back, once committed; the results of the jobs that there are."""
    app, ask = here.namespace["app"], here.namespace["close_order"]
    connection = await asyncpg.connect(cell.url(Role.API))
    try:
        undone = connection.transaction()
        await undone.start()
        await ask(connection, 16)
        await undone.rollback()
        async with connection.transaction():
            await ask(connection, 17)
        async with app:
            client = await app.client("acme")
            return [await app.wait(job.job_id, tenant="acme", timeout=20) for job in await client.list_jobs()]
    finally:
        await connection.close()


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("text", ["assert 1 == 2", "import nothing_of_this_name", "if"])
def test_a_block_that_does_not_run_would_be_found(text: str, cell: Cell, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n```python\nfirst = 1\n```\n\n```python\nassert first\n{text}\n```\n")
    with running(cell, tmp_path) as here, pytest.raises((AssertionError, ImportError, SyntaxError)):
        here.run_page(page)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_the_commands_of_a_page_exist_with_their_options(block: Block) -> None:
    for arguments in commands(block):
        # $JOB and the like stand for ids
        parse([re.sub(r"\$\w+", str(UUID(int=0)), argument) for argument in arguments])


def parse(arguments: list[str]) -> None:
    """What the command line does with these arguments, up to the point where it would do it."""
    command: Any = get_command(program)
    context, name = None, "leasehold"
    while True:
        try:
            context = command.make_context(name, list(arguments), parent=context)
        except typer.Exit:
            return  # --version, --help
        if not hasattr(command, "resolve_command"):
            return
        rest = [*context._protected_args, *context.args]
        name, command, arguments = command.resolve_command(context, rest)


@pytest.mark.parametrize(
    "arguments",
    [["jobs", "lost"], ["run"], ["jobs", "get", "17"], ["up", "--fast"], ["worker", "--processes", "0"]],
    ids=" ".join,
)
def test_a_command_that_does_not_exist_would_be_found(arguments: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing|valid UUID|greater than or equal"):
        parse(arguments)
