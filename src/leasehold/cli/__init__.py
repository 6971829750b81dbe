"""The command line: its menu, options and output, and the commands that start processes."""

import gc
from typing import Annotated

import typer

from leasehold.cli.menu import Menu

_EXIT_CODES = (
    "Exit codes: 0 ok, 1 the asked thing failed, 2 usage, 3 not found, 4 conflict, 5 not allowed,"
    " 6 cannot reach the database, 7 timeout, 130 interrupted."
)

app = typer.Typer(
    name="leasehold",
    cls=Menu,
    help="Durable background work for many customers, on the PostgreSQL you already have.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"leasehold {version('leasehold')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


def main() -> None:
    gc.set_threshold(10_000)  # what commands import stays: no reason to search it for cycles again and again
    app()
