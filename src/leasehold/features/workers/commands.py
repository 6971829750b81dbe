"""`leasehold workers`."""

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table
from leasehold.cli.tenant_scope import operator


@command
async def workers(json: Json = False) -> None:
    """Workers that are alive, and those that ended within the last hour."""
    from leasehold.engine import leases as engine

    async with operator() as db:
        found = await engine.list_workers(db)
    if json:
        print_json(found)
    else:
        print_table(
            ["worker", "name", "slots", "running", "queues", "last beat", "ended"],
            [(w.worker_id, w.name, w.slots, w.running, ",".join(w.queues), w.beat_at, w.ended_at) for w in found],
        )
