"""How the command line speaks: data on stdout, everything else on stderr, errors with a way out and an exit code."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import wraps
from typing import Any, NoReturn
from uuid import UUID

import typer

from leasehold.errors import LeaseholdError


def command(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async command; a LeaseholdError becomes a sentence and its exit code."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        warn_of_unknown_variables()
        try:
            asyncio.run(function(*args, **kwargs))
        except LeaseholdError as problem:
            fail(problem)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    return run


def warn_of_unknown_variables() -> None:
    """In the environment: a typing error there is silent otherwise."""
    from leasehold.settings import unknown_variables

    for sentence in unknown_variables():
        say(f"warning: {sentence}")


def fail(problem: LeaseholdError) -> NoReturn:
    say(f"error: {problem}")
    if problem.hint:
        say(f"  try: {problem.hint}")
    raise typer.Exit(problem.exit_code)


def say(text: str = "") -> None:
    """A line for people, on stderr."""
    with suppress(OSError):  # the terminal was closed: what is being stopped is stopped all the same
        print(text, file=sys.stderr, flush=True)


def shown(line: str, tenant: str | None) -> str:
    """A command of ours to be copied, with the tenant of this one, unless the shell has it."""
    import os
    import shlex

    if tenant is None or os.environ.get("LEASEHOLD_TENANT") == tenant:
        return line
    return f"{line} --tenant {shlex.quote(tenant)}"


def confirm(verb: str, count: int, *, asked: bool, yes: bool, dry_run: bool) -> bool:
    """Show how many a bulk command found and ask; without a terminal it must be told ``--yes``."""
    if dry_run or count == 0:
        say(f"would {verb} {count} jobs" if count else "no job fits")
        return False
    if yes or not asked:
        return True
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"this would {verb} {count} jobs; say --yes, or look first with --dry-run")
    return typer.confirm(f"{verb} {count} jobs?", err=True)


def print_json(value: Any) -> None:
    """One line of JSON on stdout."""
    print(json.dumps(value, default=_plain), flush=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table on stdout: aligned for people, tab-separated for programs."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, no_wrap=place == 0, overflow="fold")  # the first is an id, made to be copied
    for row in cells:
        table.add_row(*row)
    Console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
