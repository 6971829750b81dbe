"""``/flows``: jobs that wait for each other, drawn; stop one, or go on from what failed."""

from collections import Counter
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.filters import plural, short
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.database.actor import ActorTransaction
from leasehold.errors import NotFound
from leasehold.features.flows import drawing
from leasehold.features.flows.model import FlowInfo
from leasehold.features.flows.store import Flows, find_flows, see_flows
from leasehold.http.problems import Problem

pages = Pages(NavigationEntry(path="/flows", title="Flows", key="l", scopes=frozenset({"jobs:read"})))
STATES = ("running", "succeeded", "failed", "canceled")
_LIMIT = 50
#: Steps on one page; more than these are not read at a time.
_STEPS = 150


@pages.get("/flows", "jobs:read", "operator", live=True)
async def flows(look: Look) -> Page:
    viewer = look.viewer
    before = as_id(look.query("before")) if look.query("before") else None
    state = look.query("state") if look.query("state") in STATES else None
    found = await find_flows(viewer.db, viewer.tenant, state, before=before, limit=_LIMIT)
    return look.show(
        "flows.html",
        live=before is None,
        rows=await see_flows(viewer.db, viewer.tenant, found.flows),
        looked_to=found.looked_to,
        before=before,
        state=state,
        states=STATES,
        tenant_names=look.viewer.tenant_names,
    )


@pages.get("/flows/{flow_id}", "jobs:read", "operator", live=True)
async def flow(look: Look) -> Page:
    found = await _flow(look)
    after = as_id(look.query("after")) if look.query("after") else None
    steps = await Flows(look.services.db, found.tenant_id, look.services.backend.announce).steps(
        found.flow_id, after=after, limit=_STEPS + 1
    )
    shown = steps[:_STEPS]
    states = {step.job_id: step.state for step in shown}
    ended = found.state != "running"
    return look.show(
        "flow.html",
        live=not ended,
        own_tenant=True,
        flow=found,
        steps=shown,
        words={step.job_id: drawing.words_of(step, states) for step in shown},
        names={step.job_id: step.name or short(step.job_id) for step in shown},
        counts=Counter(step.state for step in shown),
        done=sum(step.state in drawing.ENDED for step in shown),
        drawn=drawing.draw(shown),
        size=(drawing.WIDTH, drawing.HEIGHT),
        after=after,
        next_after=shown[-1].job_id if len(steps) > _STEPS else None,
        tenant_name=look.viewer.tenant_names.get(found.tenant_id),
        may_cancel=not ended and not found.stopping and look.viewer.may("jobs:write"),
        may_retry=found.state in ("failed", "canceled") and look.viewer.may("jobs:write"),
        curl=f"curl -H 'Authorization: Bearer '$KEY {look.request.base_url}v1/flows/{found.flow_id}",
    )


@pages.get("/flows/{flow_id}/confirm/{act}", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    found = await _flow(look)
    act = look.request.path_params["act"]
    words = {
        "cancel": "Steps that have not started never will; those that run are told to stop.",
        "retry": "Steps that succeeded stay as they are. All others get new attempts, in the same order.",
    }
    if act not in words:
        raise Problem("not_found", "there is no such page")
    return look.confirm(
        f"Cancel the flow {found.name}?" if act == "cancel" else f"Go on with the flow {found.name}?",
        words=words[act],
        inputs=[("reason", "Reason, kept with the flow")] if act == "cancel" else [],
        action=look.url(f"/flows/{found.flow_id}/{act}"),
        back=look.url(f"/flows/{found.flow_id}"),
        button="Cancel the flow" if act == "cancel" else "Retry from what failed",
        danger=act == "cancel",
    )


@pages.post("/flows/{flow_id}/cancel", "jobs:write", "operator")
async def cancel(look: Look) -> Response:
    found = await _flow(look)
    async with look.viewer.acting(found.tenant_id) as scope:
        became = await flows_within(scope, found.tenant_id).cancel(found.flow_id, look.said("reason") or None)
    words = {"canceled": "The flow is canceled.", "requested": "What runs is told to stop; then the flow is canceled."}
    return look.go(look.url(f"/flows/{found.flow_id}"), words.get(became, f"It had {became} already."))


@pages.post("/flows/{flow_id}/retry", "jobs:write", "operator")
async def retry(look: Look) -> Response:
    found = await _flow(look)
    async with look.viewer.acting(found.tenant_id) as scope:
        n = await flows_within(scope, found.tenant_id).retry(found.flow_id)
    look.services.backend.announce()
    return look.go(look.url(f"/flows/{found.flow_id}"), f"It goes on with {plural(n, 'step')}.")


async def _flow(look: Look) -> FlowInfo:
    flow_id: UUID = look.path_id("flow_id")
    found = await see_flows(look.viewer.db, look.viewer.tenant, [flow_id])
    if not found:
        raise NotFound(f"there is no flow {flow_id}")
    return found[0]


def flows_within(scope: ActorTransaction, tenant: UUID) -> Flows:
    """To act in one transaction; workers are told after it, by whoever opened it."""
    return Flows(scope, tenant, lambda: None)
