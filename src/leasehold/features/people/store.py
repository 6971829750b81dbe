"""People: their sessions, what they are in which tenant, and who is invited."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import tokens as keys
from leasehold.database.database import Database
from leasehold.engine.tenants import DEFAULT
from leasehold.features.people.model import (
    Account,
    Invitation,
    Member,
    Membership,
    Session,
    SessionInfo,
    SessionTicket,
    Vouched,
)
from leasehold.installation_keys import peppers
from leasehold.settings import Settings
from leasehold.tokens import Key, Peppers

#: What stands in a token in the place of a key's environment.
BROWSER, REFRESH, LINK = "session", "refresh", "login"
#: What a person begins with.
DEFAULT_SETTINGS: dict[str, Any] = {"theme": "system", "time_zone": "UTC", "app": {}}
_KINDS = {BROWSER: "browser", REFRESH: "refresh"}
_NOBODY = bytes(32)
_LINK_SECONDS = 600.0


async def find_session(db: Database, token: Key, peppers: Peppers) -> Session | None:
    """Whose session this token is. One look-up and one comparison, whether there is such a session or not."""
    row = await _look_up(db, token.key_id)
    digest, pepper = (row["digest"], row["pepper_id"]) if row else (_NOBODY, peppers.newest)
    if not peppers.fits(token, digest, pepper) or row is None or row["kind"] != _KINDS[token.env]:
        return None
    return await _if_live(db, token.key_id, row)


async def find_token_session(db: Database, session_id: str, person: UUID) -> Session | None:
    """The session that a signed token names, if it is this person's and not over."""
    row = await _look_up(db, session_id)
    if row is None or row["kind"] != _KINDS[REFRESH] or row["person_id"] != person:
        return None
    return await _if_live(db, session_id, row)


async def renew_session(db: Database, token: Key, peppers: Peppers) -> tuple[Key, UUID] | None:
    """The next refresh token in the place of this one, and its person. One that was used before ends its session."""
    row = await _look_up(db, token.key_id)
    if row is None or row["kind"] != _KINDS[REFRESH]:
        return None
    following = keys.make(REFRESH, key_id=token.key_id)
    pepper = peppers.newest
    old, new = peppers.digest(token, row["pepper_id"]), peppers.digest(following, pepper)
    is_renewed = await db.value("renew_session", token.key_id, old, new, pepper)
    return (following, row["person_id"]) if is_renewed else None


async def _look_up(db: Database, session_id: str) -> Any:
    rows = await db.call("find_session", session_id)
    return rows[0] if rows else None


async def _if_live(db: Database, session_id: str, row: Any) -> Session | None:
    if not row["is_live"]:
        return None
    if not row["seen_lately"]:
        await db.call("touch_session", session_id)
    return Session(
        session_id=session_id,
        person_id=row["person_id"],
        tenant_id=row["tenant_id"],
        role=row["role"],
        is_operator=row["is_operator"],
        pepper_id=row["pepper_id"],
    )


async def make_login_link(db: Database, settings: Settings, api: str) -> str:
    """A URL that signs the operator in once, within ten minutes, in the tenant of the settings."""
    token = keys.make(LINK)
    found = peppers(settings)
    await db.call("create_login_link", found.digest(token, found.newest), _LINK_SECONDS, settings.tenant or DEFAULT)
    return f"{api}/login?token={token.text}"


async def take_login_link(db: Database, link: Key, session: Key, peppers: Peppers, *, seconds: float) -> bool:
    """Whether the link was good; then the session has begun, and the link is worth nothing any more."""
    pepper = peppers.newest
    args = peppers.digest(link, pepper), session.key_id, peppers.digest(session, pepper), pepper, seconds
    return bool(await db.value("redeem_login_link", *args))


async def sign_in_person(
    db: Database, who: Vouched, session: Key, peppers: Peppers, *, signup: bool, seconds: float
) -> Account | None:
    """Who is let in, but never as operator; the session has begun then. None: there is no place for them."""
    rows = await db.call("sign_in_person", *_sign_in_args(who, session, peppers, signup=signup, seconds=seconds))
    return Account(**rows[0]) if rows else None


async def sign_in_staff(
    db: Database, who: Vouched, session: Key, peppers: Peppers, *, signup: bool, seconds: float, first: bool
) -> Account | None:
    """The same with the operator's login: operators are let in as such. ``first`` makes the first of all one."""
    args = _sign_in_args(who, session, peppers, signup=signup, seconds=seconds)
    rows = await db.call("sign_in_staff", *args, first)
    return Account(**rows[0]) if rows else None


def _sign_in_args(
    who: Vouched, session: Key, peppers: Peppers, *, signup: bool, seconds: float
) -> tuple[str | bool | bytes | float, ...]:
    pepper = peppers.newest
    return (
        who.issuer,
        who.subject,
        who.email,
        who.name,
        json.dumps(DEFAULT_SETTINGS),
        signup,
        session.key_id,
        _KINDS[session.env],
        peppers.digest(session, pepper),
        pepper,
        seconds,
    )


async def choose_tenant(db: Database, session_id: str, tenant: str | None) -> UUID | None:
    chosen: UUID | None = await db.value("choose_tenant", session_id, tenant)
    return chosen


async def list_sessions(db: Database, person: UUID | None) -> list[SessionInfo]:
    return [SessionInfo(**row) for row in await db.call("list_sessions", person)]


async def revoke_session(db: Database, session_id: str, person: UUID | None) -> bool:
    return bool(await db.value("revoke_session", session_id, person))


async def get_person(db: Database, person: UUID) -> Account:
    return Account(**(await db.call("get_person", person))[0])


async def list_memberships(db: Database, person: UUID) -> list[Membership]:
    return [Membership(**row) for row in await db.call("list_memberships", person)]


async def put_settings(db: Database, person: UUID, settings: str) -> None:
    """Replace a person's settings; JSON."""
    await db.call("put_person_settings", person, settings)


async def list_members(db: Database, tenant: UUID) -> list[Member]:
    return [Member(**row) for row in await db.call("list_members", tenant=tenant)]


async def set_member(db: Database, tenant: UUID, person: UUID, role: str) -> None:
    await db.call("set_member", person, role, tenant=tenant)


async def remove_member(db: Database, tenant: UUID, person: UUID) -> None:
    await db.call("remove_member", person, tenant=tenant)


async def create_invitation(db: Database, tenant: UUID, email: str, role: str, *, seconds: float) -> Invitation:
    rows = await db.call("create_invitation", email, role, seconds, tenant=tenant)
    return Invitation(**rows[0])


async def create_operator_invitation(db: Database, email: str, *, seconds: float) -> Invitation:
    return Invitation(**(await db.call("create_operator_invitation", email, seconds))[0])


async def list_invitations(db: Database, tenant: UUID) -> list[Invitation]:
    return [Invitation(**row) for row in await db.call("list_invitations", tenant=tenant)]


async def list_operator_invitations(db: Database) -> list[Invitation]:
    return [Invitation(**row) for row in await db.call("list_operator_invitations")]


async def remove_invitation(db: Database, tenant: UUID, invitation: UUID) -> None:
    await db.call("remove_invitation", invitation, tenant=tenant)


async def remove_operator_invitation(db: Database, invitation: UUID) -> None:
    await db.call("remove_operator_invitation", invitation)


async def list_people(db: Database) -> list[Account]:
    return [Account(**row) for row in await db.call("list_people")]


async def set_operator(db: Database, person: UUID, *, is_operator: bool) -> None:
    await db.call("set_operator", person, is_operator)


async def sign_out_person(db: Database, person: UUID) -> int:
    return int(await db.value("sign_out_person", person))


async def create_ticket(
    db: Database,
    tenant: UUID,
    digest: bytes,
    session_id: str,
    *,
    job_id: UUID | None,
    flow_id: UUID | None,
) -> datetime:
    """When the ticket ends."""
    given = (digest, job_id, flow_id, session_id)
    ends: datetime = await db.value("create_session_ticket", *given, tenant=tenant)
    return ends


async def take_ticket(db: Database, digest: bytes) -> SessionTicket | None:
    """It is used up, and worth nothing the next time."""
    rows = await db.call("redeem_session_ticket", digest)
    return SessionTicket(**rows[0]) if rows else None


async def purge_sessions(db: Database) -> int:
    return int(await db.value_long("purge_sessions"))
