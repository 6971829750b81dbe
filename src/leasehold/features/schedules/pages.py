"""``/schedules``: what is made by the clock."""

import json
from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.filters import pretty
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.database.actor import ActorDatabase
from leasehold.errors import BadInput
from leasehold.features.schedules.model import ScheduleInfo
from leasehold.features.schedules.store import Schedules

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


@pages.get("/schedules/{name}/edit", "jobs:write", "operator")
async def edit(look: Look) -> Page:
    info = await _of(look).get(look.request.path_params["name"])
    every = "" if info.every_s is None else f"{info.every_s:g}"
    return _edit_form(
        look, info, {"cron": info.cron or "", "every": every, "zone": info.zone, "payload": pretty(info.payload)}
    )


@pages.post("/schedules/{name}/edit", "jobs:write", "operator")
async def change(look: Look) -> Response | Page:
    info = await _of(look).get(look.request.path_params["name"])
    given = {name: look.said(name) for name in ("cron", "every", "zone", "payload")}
    try:
        changes = {"zone": given["zone"] or "UTC", "payload": json.loads(given["payload"])}
        if given["cron"] or given["every"] or info.at is None:  # one that ticks once keeps its time if nothing is said
            changes |= {"cron": given["cron"] or None, "every": float(given["every"]) if given["every"] else None}
        await _of(look).edit(info.name, **changes)
    except ValueError:
        return _edit_form(look, info, given, BadInput("the payload is not JSON, or the seconds are no number"))
    except BadInput as problem:
        return _edit_form(look, info, given, problem)
    return look.go(look.url(f"/schedules/{info.name}"), f"Schedule {info.name} is changed.")


def _edit_form(look: Look, info: ScheduleInfo, given: dict[str, str], problem: BadInput | None = None) -> Page:
    return look.show("schedule_edit.html", own_tenant=True, schedule=info, given=given, problem=problem)


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
    db = ActorDatabase(look.services.db, look.viewer.caller.actor)
    return Schedules(db, look.viewer.one_tenant, look.services.backend.announce)
