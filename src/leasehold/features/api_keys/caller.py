"""Who holds a key or a ticket."""

import hashlib

from fastapi import Request

from leasehold import tokens as keys
from leasehold.features.api_keys import store as engine
from leasehold.features.api_keys.model import Holder
from leasehold.http.auth import Caller, Refused, credentials
from leasehold.http.services import Services


async def authenticate(request: Request, services: Services, tickets: bool) -> Caller | None:
    """A text with two dots is a token of somebody else's: no key has a dot."""
    text = credentials(request)
    if text is not None:
        return None if text.count(".") == 2 else _caller(await _by_key(text, services))
    if tickets and "ticket" in request.query_params:
        return _caller(await _by_ticket(request, services))
    return None


def ticket_digest(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "backslashreplace")).digest()


async def _by_key(text: str, services: Services) -> Holder | None:
    key = keys.parse(text)
    if key is None or key.env != services.settings.key_env:
        return None
    return await engine.sign_in(services.db, key, services.peppers)


async def _by_ticket(request: Request, services: Services) -> Holder | None:
    taken = await engine.take_ticket(services.db, ticket_digest(request.query_params["ticket"]))
    if taken is None:
        return None
    wanted = {"job_id": taken.job_id, "flow_id": taken.flow_id}
    fits = all(request.path_params.get(name) == (value and str(value)) for name, value in wanted.items())
    return taken.holder if fits else None


def _caller(holder: Holder | None) -> Caller:
    if holder is None:
        raise Refused("the key is not valid, or not any more")
    return Caller(key_id=holder.key_id, tenant_id=holder.tenant_id, scopes=holder.scopes)
