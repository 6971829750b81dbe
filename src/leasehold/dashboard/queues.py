"""``/queues``: lanes of the installation, for the operator."""

from starlette.responses import Response

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.engine import tenants
from leasehold.engine.look import BOUND
from leasehold.errors import NotFound
from leasehold.job import Queue

pages = Pages(
    NavigationEntry(path="/queues", title="Queues", key="q", scopes=frozenset({"operator"}), head="Installation")
)


@pages.get("/queues", "operator", live=True)
async def queues(look: Look) -> Page:
    found = await tenants.list_queues(look.services.operator, bound=BOUND)
    return look.show("queues.html", live=True, own_tenant=True, queues=found, bound=BOUND)


@pages.get("/queues/{queue}/pause", "operator")
async def confirm(look: Look) -> Page:
    queue = await _queue(look)
    return look.confirm(
        f"Pause queue {queue.queue}?",
        words=f"{queue.queued:,} waiting and {queue.scheduled:,} scheduled jobs of all tenants stay where they are. "
        f"The {queue.running:,} that run go on.",
        action=f"/queues/{queue.queue}/pause",
        back="/queues",
        button="Pause the queue",
        danger=True,
    )


@pages.post("/queues/{queue}/pause", "operator")
async def pause(look: Look) -> Response:
    return await _set(look, paused=True)


@pages.post("/queues/{queue}/resume", "operator")
async def resume(look: Look) -> Response:
    return await _set(look, paused=False)


async def _set(look: Look, *, paused: bool) -> Response:
    queue = await _queue(look)
    async with look.viewer.acting(None) as scope:
        await tenants.pause_queue(scope, queue.queue, paused=paused)
    if not paused:
        look.services.backend.announce(queue.queue)
    return look.go("/queues", f"Queue {queue.queue} {'is paused' if paused else 'goes on'}.")


async def _queue(look: Look) -> Queue:
    name = look.request.path_params["queue"]
    for queue in await tenants.list_queues(look.services.operator, bound=BOUND):
        if queue.queue == name:
            return queue
    raise NotFound("there is no such queue")
