"""`leasehold bench …`, or `python -m leasehold_bench`."""

from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from leasehold.cli.event_loop import loop_factory
from leasehold.cli.options import Json
from leasehold.cli.output import fail, print_json, print_table, say, warn_of_unknown_variables
from leasehold.errors import BadInput, LeaseholdError


class _RunByDefault(TyperGroup):
    """`leasehold bench --quick` is `leasehold bench run --quick`."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        known = {*self.commands, "--help"}
        return super().parse_args(context, arguments if known.intersection(arguments[:1]) else ["run", *arguments])


app = typer.Typer(
    help="Measure: what will this database do? `leasehold bench` alone is `leasehold bench run`.", cls=_RunByDefault
)

_PEERS = ["pgqueuer", "graphile-tuned", "proto"]
Repetitions = Annotated[int, typer.Option("--reps", min=1, help="Repetitions of every scenario; medians are shown.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write the JSON document to this file, too.")]


def interruptible(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """An async command on the event loop that workers have; the first signal stops it in good order, others wait."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        import asyncio

        warn_of_unknown_variables()
        try:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                runner.run(_stopped_by_signals(function(*args, **kwargs)))
        except LeaseholdError as problem:
            fail(problem)
        except asyncio.CancelledError:
            raise typer.Exit(130) from None

    return run


async def _stopped_by_signals(work: Coroutine[Any, Any, None]) -> None:
    import asyncio

    from leasehold.cli.event_loop import on_stop

    task = asyncio.ensure_future(work)

    def stop() -> None:
        if not task.cancelling():  # a second one would stop the cleaning up
            say("stopping: what was made for the benchmark is being removed")
            task.cancel()

    on_stop(stop)
    await task


@app.command()
@interruptible
async def run(
    scenarios: Annotated[
        str | None, typer.Option("--scenarios", help="Letters separated by commas: A,C,E.", show_default="all")
    ] = None,
    repetitions: Repetitions = 3,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the jobs where there are a million.")] = False,
    scale: Annotated[float, typer.Option("--scale", min=0.0001, max=1, help="Multiply all numbers of jobs.")] = 1.0,
    json: Json = False,
    out: Out = None,
) -> None:
    """Measure a database of its own: on the server of LEASEHOLD_DATABASE_URL, else on an embedded PostgreSQL."""
    from leasehold.settings import Settings
    from leasehold_bench.run import run as measure
    from leasehold_bench.scenarios import choose
    from leasehold_bench.sizes import Sizes

    _require_folder(out)
    report = await measure(
        Settings.from_env(),
        choose(scenarios),
        sizes=Sizes.chosen(quick=quick, scale=scale),
        repetitions=repetitions,
        command=_command_line(),
        say=say,
    )
    _print(report.as_json(), json=json, out=out)
    if report.void:
        raise typer.Exit(1)


@app.command()
@interruptible
async def peers(
    more: Annotated[list[str] | None, typer.Argument(metavar="[PEER]...", help="Peers, as --peers has them.")] = None,
    chosen: Annotated[
        list[str] | None, typer.Option("--peers", help="A system that the harness knows; more may follow.")
    ] = None,
    scenarios: Annotated[str, typer.Option("--scenarios", help="Letters separated by commas.")] = "T,H,E",
    repetitions: Repetitions = 3,
    folder: Annotated[
        Path | None,
        typer.Option("--harness", envvar="LEASEHOLD_BENCH", show_default="../shared/bench", help="Its folder."),
    ] = None,
    root: Annotated[
        Path, typer.Option("--root", envvar="BENCH_ROOT", help="Where the harness keeps what it installs.")
    ] = Path("~/.cache/leasehold-bench"),
    postgres: Annotated[
        str | None,
        typer.Option("--postgres", envvar="BENCH_PG", help="A server for all, which loses its databases b_*."),
    ] = None,
    json: Json = False,
    out: Out = None,
) -> None:
    """Install other job systems and run them beside this one, in turn: leasehold bench peers --peers pgqueuer proto"""
    from leasehold_bench.peers import harness
    from leasehold_bench.peers.run import run_peers

    _require_folder(out)
    found = harness.find(folder, root=root, postgres=postgres, say=say)
    names = [*(chosen or []), *(more or [])] or _PEERS
    document = await run_peers(found, names, scenarios, repetitions=repetitions, command=_command_line())
    _print(document, json=json, out=out)
    if document["failed"]:
        raise typer.Exit(1)


@app.command()
def show(file: Path) -> None:
    """The table of a JSON document that `bench` or `bench peers` wrote."""
    import json

    try:
        _table(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError) as problem:
        fail(BadInput(f"{file} is no document of a benchmark: {problem}", hint="name one that --out wrote"))


def _require_folder(out: Path | None) -> None:
    """Now, and not when everything has been measured."""
    if out is not None and not out.absolute().parent.is_dir():
        raise BadInput(f"there is no folder {out.parent} for {out.name}", hint="make it first")


def _print(document: dict[str, Any], *, json: bool, out: Path | None) -> None:
    import json as codec

    if out is not None:
        out.write_text(codec.dumps(document, indent=1) + "\n")
    if json:
        print_json(document)
    else:
        _table(document)


def _table(document: dict[str, Any]) -> None:
    from leasehold_bench.report import table

    columns, rows = table(document)
    print_table(columns, rows)


def _command_line() -> str:
    import shlex
    import sys

    return shlex.join(["leasehold", *sys.argv[1:]])


if __name__ == "__main__":
    app()
