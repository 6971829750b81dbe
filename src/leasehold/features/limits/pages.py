"""``/queues``: lanes of the installation, and how much of a queue or kind runs at once, for the operator."""

from starlette.responses import Response

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.engine import leases, tenants
from leasehold.errors import BadInput, NotFound
from leasehold.features.limits import store as limits_store
from leasehold.http.problems import Problem
from leasehold.job import Queue

#: What waits and runs in a queue is counted up to here.
BOUND = 500
pages = Pages(
    NavigationEntry(path="/queues", title="Queues", key="q", scopes=frozenset({"operator"}), head="Installation")
)


@pages.get("/queues", "operator", live=True)
async def queues(look: Look) -> Page:
    return await _show(look)


async def _show(look: Look, problem: BadInput | None = None) -> Page:
    db = look.services.operator
    limits = await limits_store.list_limits(db)
    known = {kind for one in await leases.list_workers(db) for kind in one.kinds}
    return look.show(
        "queues.html",
        live=problem is None,
        own_tenant=True,
        queues=await tenants.list_queues(db, bound=BOUND),
        most={one.name: one.max_running for one in limits if one.what == "queue"},
        kinds=[one for one in limits if one.what == "kind"],
        known=sorted(known),
        given=look.said("kind"),
        problem=problem,
        bound=BOUND,
    )


@pages.post("/queues/{queue}/limit", "operator")
async def limit_queue(look: Look) -> Response | Page:
    queue = await _queue(look)
    try:
        most = _most(look)
        async with look.viewer.acting(None) as scope:
            await limits_store.limit_queue(scope, queue.queue, most)
    except BadInput as problem:
        return await _show(look, problem)
    look.services.backend.announce(queue.queue)
    return look.go("/queues", _limited(f"queue {queue.queue}", most))


@pages.post("/kinds/limit", "operator")
async def limit_kind(look: Look) -> Response | Page:
    kind = look.said("kind")
    try:
        most = _most(look)
        async with look.viewer.acting(None) as scope:
            await limits_store.limit_kind(scope, kind, most)
    except (BadInput, NotFound) as problem:
        return await _show(look, BadInput(str(problem), hint=problem.hint))
    look.services.backend.announce()
    return look.go("/queues", _limited(f"kind {kind}", most))


@pages.get("/kinds/pause", "operator")
async def confirm_kind(look: Look) -> Page:
    kind = look.query("kind")
    if not kind:
        raise Problem("bad_parameter", "say which kind")
    return look.confirm(
        f"Pause the kind {kind}?",
        words="No attempt of it starts, whichever tenant asks; what runs goes on.",
        action="/kinds/pause",
        fields=[("kind", kind), ("paused", "yes")],
        back="/queues",
        button="Pause the kind",
        danger=True,
    )


@pages.post("/kinds/pause", "operator")
async def pause_kind(look: Look) -> Response:
    kind, paused = look.said("kind"), look.said("paused") == "yes"
    async with look.viewer.acting(None) as scope:
        await limits_store.pause_kind(scope, kind, paused=paused)
    if not paused:
        look.services.backend.announce()
    return look.go("/queues", f"Kind {kind} {'is paused' if paused else 'goes on'}.")


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
        await limits_store.pause_queue(scope, queue.queue, paused=paused)
    if not paused:
        look.services.backend.announce(queue.queue)
    return look.go("/queues", f"Queue {queue.queue} {'is paused' if paused else 'goes on'}.")


def _most(look: Look) -> int | None:
    """How many at once; nothing for as many as there are workers for."""
    text = look.said("max_running")
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text[:10]) <= 1_000_000:
        raise BadInput("a limit is a number from 1 to 1,000,000", hint="to let nothing start, pause it")
    return int(text)


def _limited(what: str, most: int | None) -> str:
    return f"Of {what} at most {most:,} run at once." if most else f"The {what} has no limit."


async def _queue(look: Look) -> Queue:
    name = look.request.path_params["queue"]
    for queue in await tenants.list_queues(look.services.operator, bound=BOUND):
        if queue.queue == name:
            return queue
    raise NotFound("there is no such queue")
