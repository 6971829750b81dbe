"""``/keys``: what programs come in with."""

from uuid import UUID

from starlette.responses import Response

from leasehold import tokens as texts
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.database.actor import ActorTransaction
from leasehold.errors import NotFound
from leasehold.features.api_keys import store as engine
from leasehold.features.api_keys.model import KeyInfo
from leasehold.http.problems import Problem

pages = Pages(NavigationEntry(path="/keys", title="API keys", scopes=frozenset({"admin"}), head="Access"))
#: What a tenant's key may be for, with the words of the form.
SCOPES = {
    "jobs:read": "look at jobs, webhooks and deliveries",
    "jobs:write": "create, cancel and retry jobs",
    "admin": "keys, secrets, webhooks and the audit log",
}


@pages.get("/keys", "admin", "operator")
async def keys(look: Look) -> Page:
    return await _list(look)


@pages.post("/keys", "admin", "operator")
async def create(look: Look) -> Page:
    """The key is in this answer and never again, so there is no other page to go to."""
    key = texts.make(look.services.settings.key_env)
    name, tenant = look.said("name"), look.viewer.tenant
    peppers = look.services.peppers
    if not name:
        raise Problem("invalid", "a key has a name", hint="say what will use it")
    async with look.viewer.acting(tenant) as scope:
        if tenant is None:
            scopes = [look.said("scope")]
            await engine.create_operator_key(scope, key, peppers, name=name, scopes=scopes, expires_at=None)
        else:
            scopes = [scope for scope in SCOPES if scope in look.form.getlist("scope")]
            if missing := [scope for scope in scopes if not look.viewer.may(scope)]:
                raise Problem("forbidden", f"you cannot give away what you lack: {', '.join(missing)}")
            if not scopes:
                raise Problem("invalid", "a key is for something", hint="choose what it may do")
            await engine.create_key(scope, tenant, key, peppers, name=name, scopes=scopes, expires_at=None)
    return await _list(look, made=key.text)


@pages.get("/keys/{key_id}/revoke", "admin", "operator")
async def confirm(look: Look) -> Page:
    key_id = look.request.path_params["key_id"]
    found = next((key for key in await _keys(look) if key.key_id == key_id), None)
    if found is None:
        raise NotFound("there is no such key")
    return look.confirm(
        f"Revoke the key {found.name}?",
        words="Every process refuses it from its next request on. It cannot be brought back.",
        action=look.url(f"/keys/{key_id}/revoke"),
        back=look.url("/keys"),
        button="Revoke the key",
        danger=True,
    )


@pages.post("/keys/{key_id}/revoke", "admin", "operator")
async def revoke(look: Look) -> Response:
    key_id, tenant = look.request.path_params["key_id"], look.viewer.tenant
    async with look.viewer.acting(tenant) as scope:
        await (
            engine.revoke_operator_key(scope, key_id) if tenant is None else engine.revoke_key(scope, tenant, key_id)
        )
    return look.go(look.url("/keys"), "The key is revoked.")


async def _list(look: Look, made: str | None = None) -> Page:
    return look.show(
        "keys.html",
        keys=await _keys(look),
        made=made,
        scopes={name: words for name, words in SCOPES.items() if look.viewer.may(name)},
    )


async def _keys(look: Look) -> list[KeyInfo]:
    async with look.viewer.acting(look.viewer.tenant) as scope:
        return await _keys_of(scope, look.viewer.tenant)


async def _keys_of(scope: ActorTransaction, tenant: UUID | None) -> list[KeyInfo]:
    """Those of a tenant, or those of the installation."""
    return await (engine.list_operator_keys(scope) if tenant is None else engine.list_keys(scope, tenant))
