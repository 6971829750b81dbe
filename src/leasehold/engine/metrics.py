"""What monitoring counts: the installation, and a process of ours."""

from collections.abc import Iterator, Mapping

from leasehold import json_codec
from leasehold.database.database import Database, own_version
from leasehold.metrics import LoopLag, Sample


async def collect_metrics(db: Database) -> list[Sample]:
    """The numbers of the installation."""
    return [Sample(name, json_codec.decode(labels), value) for name, labels, value in await db.call("collect_metrics")]


def process_metrics(lag: LoopLag, pools: Mapping[str, Database]) -> Iterator[Sample]:
    """What every process of ours tells of itself."""
    for name, db in pools.items():
        usage = db.usage()
        yield Sample("pool_size", {"pool": name}, usage.size)
        for state in ("used", "idle", "waiting"):
            yield Sample("pool_connections", {"pool": name, "state": state}, getattr(usage, state))
    yield Sample("event_loop_lag_seconds", {}, lag.seconds)
    yield Sample("build_info", {"version": own_version()}, 1)
