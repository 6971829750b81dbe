"""The command line. Heavy imports stand inside the commands, so that --help is quick."""

from typing import Annotated

import typer

from leasehold.cli import (
    approvals,
    bench,
    cells,
    config,
    db,
    demo,
    doctor,
    fetch,
    flows,
    gates,
    jobs,
    keys,
    limits,
    packs,
    people,
    queues,
    redact,
    reports,
    run,
    schedules,
    secrets,
    serve,
    signals,
    tenants,
    up,
    webhooks,
    worker,
    workers,
)
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
app.command("up")(up.up)
app.command("down")(up.down)
app.command("demo")(demo.demo)
app.command("serve")(serve.serve)
app.command("worker")(worker.worker)
app.command("run")(run.run)
app.add_typer(jobs.app, name="jobs")
app.add_typer(queues.app, name="queues")
app.add_typer(limits.app, name="limits")
app.add_typer(schedules.app, name="schedules")
app.add_typer(flows.app, name="flows")
app.add_typer(approvals.app, name="approvals")
app.add_typer(signals.app, name="signals")
app.add_typer(gates.app, name="gates")
app.command("workers")(workers.workers)
app.add_typer(tenants.app, name="tenants")
app.add_typer(cells.app, name="cells")
app.add_typer(keys.app, name="keys")
app.add_typer(people.app, name="people")
app.add_typer(secrets.app, name="secrets")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(reports.app, name="reports")
app.add_typer(packs.app, name="packs")
app.command("fetch")(fetch.fetch)
app.command("redact")(redact.redact)
app.add_typer(db.app, name="db")
app.add_typer(config.app, name="config")
app.command("doctor")(doctor.doctor)
app.add_typer(bench.app, name="bench")


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
    app()
