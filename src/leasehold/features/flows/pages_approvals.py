"""``/approvals``: what waits for a person, and their answer."""

from typing import Any
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.errors import NotFound
from leasehold.features.flows.model import Approval
from leasehold.features.flows.pages import flows_within
from leasehold.features.flows.store import list_approvals
from leasehold.http.problems import Problem

pages = Pages(NavigationEntry(path="/approvals", title="Approvals", key="a", scopes=frozenset({"jobs:read"})))
_LIMIT = 50


@pages.get("/approvals", "jobs:read", "operator", live=True)
async def approvals(look: Look) -> Page:
    viewer = look.viewer
    after = as_id(look.query("after")) if look.query("after") else None
    found = await list_approvals(viewer.db, viewer.tenant, after=after, limit=_LIMIT + 1)
    return look.show(
        "approvals.html",
        live=after is None,
        rows=found[:_LIMIT],
        asked={one.job_id: _asked(one) for one in found},
        after=after,
        next_after=found[_LIMIT - 1].job_id if len(found) > _LIMIT else None,
        tenant_names=look.viewer.tenant_names,
        shows_payload=viewer.caller.sees_payloads,
        may_act=viewer.may("jobs:write"),
    )


@pages.get("/approvals/{job_id}/confirm/{act}", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    found = await _approval(look)
    act = look.request.path_params["act"]
    if act not in ("approve", "reject"):
        raise Problem("not_found", "there is no such page")
    what = found.name or "this step"
    return look.confirm(
        f"{act.capitalize()} {what} of the flow {found.flow}?",
        words="The flow goes on at once."
        if act == "approve"
        else "The step fails; its flow says what follows from that.",
        inputs=[("note", "Note, kept with your name" if act == "approve" else "Reason, kept with your name")],
        required=["note"] if act == "reject" else [],
        action=look.url(f"/approvals/{found.job_id}/{act}"),
        back=look.url("/approvals"),
        button=act.capitalize(),
        danger=act == "reject",
    )


@pages.post("/approvals/{job_id}/approve", "jobs:write", "operator")
async def approve(look: Look) -> Response:
    found = await _approval(look)
    async with look.viewer.acting(found.tenant_id) as scope:
        await flows_within(scope, found.tenant_id).approve(found.job_id, look.said("note") or None)
    look.services.backend.announce()
    return look.go(look.url("/approvals"), f"Approved: the flow {found.flow} goes on.")


@pages.post("/approvals/{job_id}/reject", "jobs:write", "operator")
async def reject(look: Look) -> Response:
    found = await _approval(look)
    if not look.said("note"):
        raise Problem("invalid", "say why it is rejected", hint="whoever asked reads the reason")
    async with look.viewer.acting(found.tenant_id) as scope:
        await flows_within(scope, found.tenant_id).reject(found.job_id, look.said("note"))
    look.services.backend.announce()
    return look.go(look.url("/approvals"), f"Rejected: {found.name or 'the step'} of the flow {found.flow} has failed.")


def _asked(approval: Approval) -> tuple[str, Any]:
    """The question, and what else was said with it."""
    name, told = approval.name or "approval", approval.payload
    if not isinstance(told, dict):
        return name, told
    return str(told.get("message") or name), {key: value for key, value in told.items() if key != "message"}


async def _approval(look: Look) -> Approval:
    job_id = look.path_id("job_id")
    just_before = UUID(int=max(job_id.int - 1, 0))  # the list starts after it
    found = await list_approvals(look.viewer.db, look.viewer.tenant, after=just_before, limit=1)
    if not found or found[0].job_id != job_id:
        raise NotFound("nothing waits for a person here", hint="somebody may have answered already")
    return found[0]
