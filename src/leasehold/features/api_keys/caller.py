"""Who holds a key or a ticket."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from fastapi import Request

from leasehold import tokens as keys
from leasehold.database.database import Database
from leasehold.features.api_keys import store as engine
from leasehold.features.api_keys.model import Holder
from leasehold.http.auth import Caller, Refused, credentials, is_for
from leasehold.http.services import Services


async def authenticate(request: Request, services: Services, tickets: bool) -> Caller | None:
    """A text with two dots is a token of somebody else's: no key has a dot."""
    text = credentials(request)
    if text is not None:
        return None if text.count(".") == 2 else _caller(await _by_key(text, services))
    if tickets and "ticket" in request.query_params:
        holder = await _by_ticket(request, services)
        return _caller(holder) if holder else None
    return None


async def _by_key(text: str, services: Services) -> Holder | None:
    key = keys.parse(text)
    if key is None or key.env != services.settings.key_env:
        return None
    return await engine.sign_in(services.db, key, services.peppers)


async def _by_ticket(request: Request, services: Services) -> Holder | None:
    digest = keys.ticket_digest(request.query_params["ticket"])
    taken = await engine.take_ticket(services.db, digest)
    if taken is None:
        return None
    if not is_for(request, taken.job_id, taken.flow_id):
        raise Refused("the ticket is for another stream")
    return taken.holder


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder(Caller):
    """A program with a key, or a reader with a ticket that was made with one."""

    async def create_ticket(
        self, db: Database, digest: bytes, *, job_id: UUID | None, flow_id: UUID | None
    ) -> datetime:
        stream = {"job_id": job_id, "flow_id": flow_id}
        return await engine.create_ticket(db, self.tenant, digest, self.key_id, **stream)


def _caller(holder: Holder | None) -> Caller:
    if holder is None:
        raise Refused("the key is not valid, or not any more")
    return KeyHolder(key_id=holder.key_id, tenant_id=holder.tenant_id, scopes=holder.scopes)
