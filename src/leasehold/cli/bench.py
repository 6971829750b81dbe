"""`leasehold bench …`: the benchmarks of a checkout; an installed package has none."""

import importlib.util
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from leasehold.cli.output import fail
from leasehold.errors import NotFound


class _NotInstalled(TyperGroup):
    def parse_args(self, context: Any, arguments: list[str]) -> NoReturn:
        fail(
            NotFound(
                "the benchmarks are not installed: they stand in the repository beside the package",
                hint="run `make bench` in a checkout of Leasehold",
            )
        )


if importlib.util.find_spec("leasehold_bench"):
    from leasehold_bench.__main__ import app as app
else:
    app = typer.Typer(help="Measure what this database does; needs a checkout.", cls=_NotInstalled)
