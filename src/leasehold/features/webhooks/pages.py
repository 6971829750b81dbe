"""``/webhooks``: whom events are sent to, and how that went."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.filters import plural
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.errors import BadInput, FetchRefused, NotFound
from leasehold.features.webhooks import store as engine
from leasehold.features.webhooks.model import Endpoint

pages = Pages(NavigationEntry(path="/webhooks", title="Webhooks", key="h", scopes=frozenset({"admin"})))
_LIMIT = 50
#: Deliveries that a question counts.
_COUNTED = 500
_STATES = ("pending", "delivered", "failed")


@pages.get("/webhooks", "admin", "operator", live=True)
async def webhooks(look: Look) -> Page:
    return await _list(look)


@pages.post("/webhooks", "admin", "operator")
async def create(look: Look) -> Page:
    """The secret is in this answer and never again, so there is no other page to go to."""
    tenant, services = look.viewer.one_tenant, look.services
    try:
        async with look.viewer.acting(tenant) as scope:
            endpoint_id, secret = await engine.create_endpoint(
                scope,
                tenant,
                services.secret_keys,
                services.settings,
                url=look.said("url"),
                events=look.said("events").replace(",", " ").split() or ["*"],
                format_="standard",
                header_names={},
                headers={},
                max_in_flight=10,
                timeout_s=15.0,
                disable_after=timedelta(days=5),
            )
    except (BadInput, FetchRefused) as problem:
        return await _list(look, problem=str(problem), url_given=look.said("url"))
    return await _one(look, endpoint_id, secret=secret)


@pages.get("/webhooks/{endpoint_id}", "admin", "operator", live=True)
async def endpoint(look: Look) -> Page:
    return await _one(look, look.path_id("endpoint_id"))


@pages.get("/webhooks/{endpoint_id}/confirm/{act}", "admin", "operator")
async def confirm(look: Look) -> Page:
    found = await _endpoint(look, look.path_id("endpoint_id"))
    act = look.request.path_params["act"]
    asked = {
        "remove": (f"Remove {found.url}?", await _words_of_removal(look, found), "Remove the endpoint"),
        "rotate": ("Give it a new secret?", "The old ones go on signing for a day.", "Make a new secret"),
        "pause": (f"Pause {found.url}?", "What comes meanwhile waits for it.", "Pause the endpoint"),
        "recover": (
            "Send again what failed?",
            "All that failed within the last day, and what it missed while it was disabled.",
            "Send again",
        ),
    }
    if act not in asked:
        raise NotFound("there is no such page")
    question, words, button = asked[act]
    return look.confirm(
        question,
        words=words,
        action=look.url(f"/webhooks/{found.endpoint_id}/{act}"),
        back=look.url(f"/webhooks/{found.endpoint_id}"),
        button=button,
        danger=act in ("remove", "pause"),
    )


async def _words_of_removal(look: Look, endpoint: Endpoint) -> str:
    found = await engine.list_deliveries(
        look.services.db, look.viewer.one_tenant, endpoint=endpoint.endpoint_id, limit=_COUNTED + 1
    )
    many = (
        f"{_COUNTED:,} deliveries and more" if len(found) > _COUNTED else plural(len(found), "delivery", "deliveries")
    )
    return f"What was sent to it goes too: {many}, with their history."


@pages.post("/webhooks/{endpoint_id}/rotate", "admin", "operator")
async def rotate(look: Look) -> Page:
    tenant, endpoint_id = look.viewer.one_tenant, look.path_id("endpoint_id")
    async with look.viewer.acting(tenant) as scope:
        secret = await engine.rotate_secret(scope, tenant, endpoint_id, look.services.secret_keys)
    return await _one(look, endpoint_id, secret=secret)


@pages.post("/webhooks/{endpoint_id}/remove", "admin", "operator")
async def remove(look: Look) -> Response:
    tenant = look.viewer.one_tenant
    async with look.viewer.acting(tenant) as scope:
        await engine.remove_endpoint(scope, tenant, look.path_id("endpoint_id"))
    return look.go(look.url("/webhooks"), "The endpoint is removed.")


@pages.post("/webhooks/{endpoint_id}/pause", "admin", "operator")
async def pause(look: Look) -> Response:
    return await _set_state(look, "paused", "It is paused: what comes meanwhile waits.")


@pages.post("/webhooks/{endpoint_id}/resume", "admin", "operator")
async def resume(look: Look) -> Response:
    return await _set_state(look, "enabled", "It goes on; what waited is sent.")


@pages.post("/webhooks/{endpoint_id}/test", "admin", "operator")
async def send_test(look: Look) -> Response:
    tenant, endpoint_id = look.viewer.one_tenant, look.path_id("endpoint_id")
    async with look.viewer.acting(tenant) as scope:
        await engine.test_endpoint(scope, tenant, endpoint_id)
    look.services.backend.announce()
    return look.go(look.url(f"/webhooks/{endpoint_id}"), "An event endpoint.test is on its way.")


@pages.post("/webhooks/{endpoint_id}/recover", "admin", "operator")
async def recover(look: Look) -> Response:
    tenant, endpoint_id = look.viewer.one_tenant, look.path_id("endpoint_id")
    async with look.viewer.acting(tenant) as scope:
        n = await engine.recover_deliveries(scope, tenant, endpoint_id, datetime.now(UTC) - timedelta(days=1))
    look.services.backend.announce()
    return look.go(look.url(f"/webhooks/{endpoint_id}"), f"{plural(n, 'delivery goes', 'deliveries go')} out again.")


@pages.get("/deliveries/{delivery_id}", "admin", "operator")
async def delivery(look: Look) -> Page:
    tenant, delivery_id = look.viewer.one_tenant, look.path_id("delivery_id")
    attempts = await engine.list_delivery_attempts(look.services.db, tenant, delivery_id)
    return look.show("delivery.html", own_tenant=True, delivery_id=delivery_id, attempts=attempts)


@pages.post("/deliveries/{delivery_id}/resend", "admin", "operator")
async def resend(look: Look) -> Response:
    tenant, delivery_id = look.viewer.one_tenant, look.path_id("delivery_id")
    async with look.viewer.acting(tenant) as scope:
        await engine.resend_delivery(scope, tenant, delivery_id)
    look.services.backend.announce()
    return look.go(look.url(f"/deliveries/{delivery_id}"), "It goes out again.")


async def _list(look: Look, *, problem: str | None = None, url_given: str = "") -> Page:
    tenant = look.viewer.tenant
    endpoints = await engine.list_endpoints(look.services.db, tenant) if tenant else []
    deliveries = await engine.list_deliveries(look.services.db, tenant, limit=20) if tenant else []
    return look.show(
        "webhooks.html",
        live=problem is None,
        endpoints=endpoints,
        deliveries=deliveries,
        problem=problem,
        url_given=url_given,
        urls={one.endpoint_id: one.url for one in endpoints},
    )


async def _one(look: Look, endpoint_id: UUID, secret: str | None = None) -> Page:
    tenant = look.viewer.one_tenant
    state = look.query("state") if look.query("state") in _STATES else None
    before = as_id(look.query("before")) if look.query("before") else None
    found = await engine.list_deliveries(
        look.services.db, tenant, endpoint=endpoint_id, state=state, before=before, limit=_LIMIT + 1
    )
    return look.show(
        "endpoint.html",
        live=secret is None and before is None,
        own_tenant=True,
        endpoint=await _endpoint(look, endpoint_id),
        secret=secret,
        deliveries=found[:_LIMIT],
        older=found[_LIMIT - 1].delivery_id if len(found) > _LIMIT else None,
        state=state,
        states=_STATES,
    )


async def _endpoint(look: Look, endpoint_id: UUID) -> Endpoint:
    found = await engine.list_endpoints(look.services.db, look.viewer.one_tenant, endpoint_id)
    if not found:
        raise NotFound("there is no such endpoint")
    return found[0]


async def _set_state(look: Look, state: str, words: str) -> Response:
    tenant, endpoint_id = look.viewer.one_tenant, look.path_id("endpoint_id")
    async with look.viewer.acting(tenant) as scope:
        await engine.set_endpoint_state(scope, tenant, endpoint_id, state)
    look.services.backend.announce()
    return look.go(look.url(f"/webhooks/{endpoint_id}"), words)
