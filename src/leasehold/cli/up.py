"""`leasehold up` and `leasehold down`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import App, Json, Slots
from leasehold.cli.output import command, print_json, say

if TYPE_CHECKING:
    from leasehold.cli.standalone import Running


@command
async def up(
    app: App = None,
    json: Json = False,
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="A fresh database that is deleted at the end.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="And a tenant `demo` that is at work, to look around.")] = False,
    slots: Slots = None,
) -> None:
    """Start PostgreSQL (unless LEASEHOLD_DATABASE_URL is set), migrate, run a worker and the HTTP API until Ctrl-C."""
    import asyncio
    import time

    from leasehold import log, tracing
    from leasehold.cli.event_loop import on_stop
    from leasehold.cli.standalone import up as start
    from leasehold.program.app import Leasehold, load
    from leasehold.settings import Settings

    began = time.monotonic()
    settings = Settings.from_env(app=app, slots=slots)
    log.configure(json_lines=json, level=settings.log_level)
    if settings.otel:
        tracing.configure("leasehold")
    mine = load(settings.app) if settings.app else Leasehold()
    stopping = asyncio.Event()
    at_once: list[Callable[[], None]] = []  # what else a signal stops once we are stopping

    def stop() -> None:
        stopping.set()
        for hurry in at_once:
            hurry()

    on_stop(stop)
    async with start(settings, mine, ephemeral=ephemeral, living=demo) as running:
        if running.server and running.server.adopted:
            say(f"took over PostgreSQL (pid {running.server.pid}), which an earlier process left running here")
        if json:
            print_json(running.as_json())
        else:
            _welcome(running, time.monotonic() - began)
        await stopping.wait()
        at_once.append(running.worker.stop)
        say("stopping (once more to stop at once)")
    say("stopped")


@command
async def down(
    wipe: Annotated[bool, typer.Option("--wipe", help="Delete the embedded database and everything in it.")] = False,
) -> None:
    """Stop what `leasehold up` started for this folder, also when it was killed and left PostgreSQL behind."""
    import asyncio

    from leasehold.cli.standalone import take_down
    from leasehold.postgres import Home, instance_home
    from leasehold.settings import Settings

    home = Home(instance_home(Settings.from_env().home))
    stopped = await asyncio.to_thread(take_down, home, wipe=wipe)
    say(stopped)


def _welcome(running: "Running", seconds: float) -> None:
    from rich.console import Console

    from leasehold.database import sql_files
    from leasehold.feature import NAMES

    database = "the PostgreSQL of LEASEHOLD_DATABASE_URL"
    if server := running.server:
        database = f"PostgreSQL {server.version}, {server.origin}, in {server.data} (LEASEHOLD_DATABASE_URL: your own)"
    schema = f"release {running.migrated.release}, {len(running.migrated.applied) or 'no'} files applied"
    if running.migrated.release > sql_files.RELEASE:
        schema += f" (this program is older, of release {sql_files.RELEASE}: pip install --upgrade leasehold)"
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    api = f"{running.api}/v1 (docs: {running.api}/docs)"
    for name, text in {"Database": database, "Schema": schema, "Worker": running.worker.name, "API": api}.items():
        console.print(f"  [green]✓[/green] {name:10}{text}")
    if running.login:
        console.print(f"  [green]✓[/green] {'Sign in':10}{running.login} (once, within ten minutes)")
    if running.key:
        console.print(f"  [green]✓[/green] {'Key':10}{running.key} (of tenant default, for the HTTP API)")
    console.print(f"\nReady in {seconds:.1f} s: a job went all the way through. Ctrl-C stops everything.\n")
    console.print("Try, in another terminal of this folder:")
    tenant = " --tenant default" if running.has_others else ""
    examples = ("run demo.hello name=Ada --follow", "run demo.fail --follow") if "demo" in NAMES else ()
    for arguments in (*examples, "jobs list"):
        console.print(f"  {_program()} {arguments}{tenant}")
    console.print(f"  {_program()} doctor")
    console.print(f"  {_program()} keys create me{tenant}     (a key for the HTTP API)")
    console.print()


def _program() -> str:
    """How the user can call us again: by name if that finds us, else by the path they used."""
    import os
    import shutil
    import sys

    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) != "leasehold":
        return "python -m leasehold"
    found = shutil.which("leasehold")
    return "leasehold" if found and os.path.samefile(found, own) else os.path.relpath(own)
