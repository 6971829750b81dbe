"""Who visits: a person with a session in their browser, or a program with a key."""

from dataclasses import dataclass

from starlette.requests import Request

from leasehold.http.auth import Caller, TenantName, identify
from leasehold.http.services import services_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    caller: Caller
    name: str
    memberships: tuple[TenantName, ...] = ()  # the tenants that a person can choose from

    @property
    def csrf(self) -> str:
        """What every form of theirs holds; empty for what no browser sends by itself, a key or a bearer token."""
        return self.caller.csrf_token or ""


async def signed_in(request: Request) -> Visitor:
    caller = await identify(request)
    profile = await caller.profile(services_of(request))
    return Visitor(caller=caller, name=profile.name, memberships=profile.memberships)
