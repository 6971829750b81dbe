"""Who visits: a person with a session in their browser, or a program with a key."""

from dataclasses import dataclass

from starlette.requests import Request

from leasehold.features.people import store as people
from leasehold.features.people.model import Membership
from leasehold.http.auth import Caller, identify
from leasehold.http.services import services_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    caller: Caller
    name: str
    memberships: tuple[Membership, ...] = ()  # the tenants that a person can choose from

    @property
    def csrf(self) -> str:
        """What every form of theirs holds; empty for what no browser sends by itself, a key or a bearer token."""
        return self.caller.csrf_token or ""


async def signed_in(request: Request) -> Visitor:
    services = services_of(request)
    caller = await identify(request)
    session = caller.session
    if session is None:
        return Visitor(caller=caller, name=f"key {caller.key_id[:6]}…")
    if session.person_id is None:
        return Visitor(caller=caller, name="Operator")
    person = await people.get_person(services.db, session.person_id)
    member_of = () if session.is_operator else tuple(await people.list_memberships(services.db, session.person_id))
    return Visitor(caller=caller, name=person.name or person.email, memberships=member_of)
