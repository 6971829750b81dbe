"""``/tenants``: customers and their limits, for the operator."""

from starlette.responses import Response

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.engine import tenants as engine
from leasehold.errors import BadInput, NotFound
from leasehold.features.limits import store as limits_store
from leasehold.http.problems import Problem
from leasehold.job import Tenant

pages = Pages(NavigationEntry(path="/tenants", title="Tenants", key="t", scopes=frozenset({"operator"})))


@pages.get("/tenants", "operator")
async def tenants(look: Look) -> Page:
    return look.show("tenants.html", own_tenant=True, tenants=look.viewer.tenants, problem=None, name="")


@pages.post("/tenants", "operator")
async def create(look: Look) -> Response | Page:
    name = look.said("name")
    try:
        async with look.viewer.acting(None) as scope:
            await engine.create_tenant(scope, name)
    except BadInput as problem:
        return look.show("tenants.html", own_tenant=True, tenants=look.viewer.tenants, problem=problem, name=name)
    return look.go(f"/tenants/{name}", f"Tenant {name} is there.")


@pages.get("/tenants/{name}", "operator")
async def tenant(look: Look) -> Page:
    return await _show(look, _tenant(look))


@pages.get("/tenants/{name}/pause", "operator")
async def confirm(look: Look) -> Page:
    found = _tenant(look)
    return look.confirm(
        f"Pause the tenant {found.name}?",
        words="None of its jobs start until it goes on. It can still ask for work, and what runs goes on.",
        action=f"/tenants/{found.name}/pause",
        back=f"/tenants/{found.name}",
        button="Pause the tenant",
        danger=True,
    )


@pages.post("/tenants/{name}/pause", "operator")
async def pause(look: Look) -> Response:
    return await _set(look, paused=True)


@pages.post("/tenants/{name}/resume", "operator")
async def resume(look: Look) -> Response:
    return await _set(look, paused=False)


@pages.post("/tenants/{name}", "operator")
async def change(look: Look) -> Response | Page:
    found = _tenant(look)
    try:
        async with look.viewer.acting(None) as scope:
            await engine.set_tenant(
                scope,
                found.tenant_id,
                weight=_number(look, "weight"),
                max_running=round(_number(look, "max_running")),
                max_queued=round(_number(look, "max_queued")),
            )
    except BadInput as problem:
        return await _show(look, found, problem)
    return look.go(f"/tenants/{found.name}", "The limits are changed.")


async def _show(look: Look, found: Tenant, problem: BadInput | None = None) -> Page:
    limits = await limits_store.list_limits(look.services.operator)
    paused = any(one.what == "tenant" and one.name == found.name and one.paused for one in limits)
    return look.show("tenant.html", own_tenant=True, tenant=found, paused=paused, problem=problem)


async def _set(look: Look, *, paused: bool) -> Response:
    found = _tenant(look)
    async with look.viewer.acting(None) as scope:
        await limits_store.pause_tenant(scope, found.tenant_id, paused=paused)
    if not paused:
        look.services.backend.announce()
    return look.go(f"/tenants/{found.name}", f"Tenant {found.name} {'is paused' if paused else 'goes on'}.")


def _tenant(look: Look) -> Tenant:
    for tenant in look.viewer.tenants:
        if tenant.name == look.request.path_params["name"]:
            return tenant
    raise NotFound("there is no such tenant")


def _number(look: Look, name: str) -> float:
    try:
        return float(look.said(name))
    except ValueError:
        raise Problem("invalid", f"{name} is not a number") from None
