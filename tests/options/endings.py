"""One handler by every way to write one. It ends as it is told."""

from dataclasses import dataclass
from typing import Any

from leasehold import Cancel, Context, Fail, Leasehold, Retry, Snooze, SyncContext
from leasehold.program.batches import Item
from leasehold.remote import Context as RemoteContext
from leasehold.remote import SyncContext as RemoteSyncContext
from leasehold.remote import Worker as RemoteWorker

app = Leasehold()


@dataclass
class Order:
    how: str


def end(order: Order) -> Any:
    match order.how:
        case "nothing":
            return None
        case "a result":
            return {"n": [1, None, "ü"]}
        case "a result that cannot be kept":
            return "a\0b"
        case "retry":
            raise Retry("busy")
        case "retry later":
            raise Retry("busy", after=5000)
        case "retry and hold the gate":
            raise Retry("busy", after=5000, gate=True)
        case "snooze":
            raise Snooze("not yet", after=5000)
        case "snooze and hold the gate":
            raise Snooze("not yet", after=5000, gate=True)
        case "cancel":
            raise Cancel("gone")
        case "fail":
            raise Fail("bad card")
        case "an error":
            raise ValueError("token=abcdef1234567890")
        case "an error without words":
            raise ValueError
        case "an end of the program":
            raise SystemExit(3)
    raise AssertionError(order.how)


@app.handler("h.task")
async def task(ctx: Context, order: Order) -> Any:
    return end(order)


@app.handler("h.thread")
def thread(ctx: SyncContext, order: Order) -> Any:
    return end(order)


@app.handler("h.process", isolate=True)
async def process(ctx: Context, order: Order) -> Any:
    return end(order)


@app.handler("h.sync_process", isolate=True)
def sync_process(ctx: SyncContext, order: Order) -> Any:
    return end(order)


@app.batch("h.batch", size=3, wait=0.01)
async def batch(items: list[Item[Order]]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        try:
            found.append(end(item.payload))
        except BaseException as problem:
            found.append(problem)
    return found


def remote(worker: RemoteWorker) -> RemoteWorker:
    """The same for a worker without a database."""

    @worker.handler("h.remote")
    async def task(ctx: RemoteContext, order: Order) -> Any:
        return end(order)

    @worker.handler("h.remote_thread")
    def thread(ctx: RemoteSyncContext, order: Order) -> Any:
        return end(order)

    return worker
