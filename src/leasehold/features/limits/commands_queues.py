"""`leasehold queues …`."""

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import operator

app = typer.Typer(help="Queues: list them, make, pause and resume them.", no_args_is_help=True)


@app.command("list")
@command
async def list_(json: Json = False) -> None:
    """All queues with what waits and runs in them (counted up to 10,000)."""
    from leasehold.engine import tenants

    async with operator() as db:
        queues = await tenants.list_queues(db)
    if json:
        print_json(queues)
    else:
        print_table(
            ["queue", "paused", "queued", "scheduled", "running"],
            [(q.queue, "yes" if q.paused else "no", q.queued, q.scheduled, q.running) for q in queues],
        )


@app.command()
@command
async def create(queue: str) -> None:
    """Make a queue, unless it is there. Workers do this for the queues that their handlers name."""
    from leasehold.engine import tenants

    async with operator() as db:
        await tenants.create_queue(db, queue)
    say(f"{queue} is there")


@app.command()
@command
async def pause(queue: str) -> None:
    """Let nothing of this queue be claimed; what runs goes on."""
    await _pause(queue, paused=True)
    say(f"{queue} is paused; `leasehold queues resume {queue}` lets it go on")


@app.command()
@command
async def resume(queue: str) -> None:
    """Let a paused queue go on."""
    await _pause(queue, paused=False)
    say(f"{queue} goes on")


async def _pause(queue: str, *, paused: bool) -> None:
    from leasehold.features.limits import store as limits_store

    async with operator() as db:
        await limits_store.pause_queue(db, queue, paused=paused)
