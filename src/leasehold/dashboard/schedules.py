"""``/schedules``: what is made by the clock."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.engine.schedules import ScheduleInfo, Schedules
from leasehold.engine.scope import Acting

pages = Pages(NavigationEntry(path="/schedules", title="Schedules", key="s", scopes=frozenset({"jobs:read"})))
_MOST = 200


@pages.get("/schedules", "jobs:read", "operator", live=True)
async def schedules(look: Look) -> Page:
    found = await _of(look).list(limit=_MOST) if look.viewer.tenant else []
    return look.show("schedules.html", live=True, schedules=found, may_act=look.viewer.may("jobs:write"))


@pages.get("/schedules/{name}", "jobs:read", "operator", live=True)
async def schedule(look: Look) -> Page:
    name = look.request.path_params["name"]
    return look.show(
        "schedule.html",
        live=True,
        own_tenant=True,
        schedule=await _of(look).get(name),
        ticks=await _of(look).ticks(name, limit=30),
        shows_payload=look.viewer.caller.sees_payloads,
        may_act=look.viewer.may("jobs:write"),
    )


@pages.get("/schedules/{name}/delete", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    info = await _of(look).get(look.request.path_params["name"])
    return look.confirm(
        f"Delete the schedule {info.name}?",
        words=f"No more {info.kind} is made by it. Jobs that it has made stay."
        + (" A program declares it: when that starts again, it comes back." if info.origin == "code" else ""),
        action=look.url(f"/schedules/{info.name}/delete"),
        back=look.url(f"/schedules/{info.name}"),
        button="Delete the schedule",
        danger=True,
    )


@pages.post("/schedules/{name}/pause", "jobs:write", "operator")
async def pause(look: Look) -> Response:
    return await _acted(look, lambda schedules, name: schedules.pause(name), "is paused")


@pages.post("/schedules/{name}/resume", "jobs:write", "operator")
async def resume(look: Look) -> Response:
    return await _acted(look, lambda schedules, name: schedules.resume(name), "goes on")


@pages.post("/schedules/{name}/run", "jobs:write", "operator")
async def run(look: Look) -> Response:
    job_id = await _of(look).run(look.request.path_params["name"])
    return look.go(look.url(f"/jobs/{job_id}"), "Made now; the schedule's own times stay as they are.")


@pages.post("/schedules/{name}/delete", "jobs:write", "operator")
async def delete(look: Look) -> Response:
    name = look.request.path_params["name"]
    await _of(look).delete(name)
    return look.go(look.url("/schedules"), f"Schedule {name} is deleted.")


async def _acted(
    look: Look, act: Callable[[Schedules, str], Awaitable[ScheduleInfo | UUID | None]], words: str
) -> Response:
    name = look.request.path_params["name"]
    await act(_of(look), name)
    return look.go(look.url(f"/schedules/{name}"), f"Schedule {name} {words}.")


def _of(look: Look) -> Schedules:
    db = Acting(look.services.db, look.viewer.caller.actor)
    return Schedules(db, look.viewer.one_tenant, look.services.backend.announce)
