"""Who looks, and at whose rows: the same pages for a tenant's person and for the operator.

A tenant's person has the api role's connection with their tenant set, so row security and the functions show nothing
else. The operator has the operator's connection and sees all tenants, or chooses one and then looks as it does.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from leasehold.dashboard.sign_in import Visitor
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.engine import tenants
from leasehold.errors import NotFound
from leasehold.http.auth import Caller
from leasehold.http.problems import Problem
from leasehold.http.services import Services
from leasehold.job import Tenant


class NoTenant(Problem):
    """What was asked for belongs to one tenant, and none is chosen."""

    def __init__(self) -> None:
        super().__init__("invalid", "choose a tenant first", hint="at the top of the page")


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    services: Services
    caller: Caller
    tenant: UUID | None  # None: the operator looks at all of them, anybody else at nothing
    tenant_name: str | None = None
    tenants: tuple[Tenant, ...] = ()  # those that the operator can choose from

    @property
    def is_operator(self) -> bool:
        return "operator" in self.caller.scopes

    @property
    def db(self) -> Database:
        if self.is_operator and self.tenant is None:
            return self.services.operator
        return self.services.db

    def may(self, scope: str) -> bool:
        """The operator may everything; a tenant's person what their role says."""
        return self.is_operator or scope in self.caller.scopes

    def needs_one_of(self, scopes: frozenset[str]) -> None:
        if not scopes or any(map(self.may, scopes)):
            return
        if self.tenant is None:
            raise NoTenant  # who belongs to several has no role until they say in which
        raise Problem("forbidden", f"this page needs the scope {' or '.join(sorted(scopes))}")

    @property
    def one_tenant(self) -> UUID:
        """For what belongs to one tenant and cannot be shown for all at once."""
        if self.tenant is None:
            raise NoTenant
        return self.tenant

    @property
    def tenant_names(self) -> dict[object, str]:
        """The tenants' names, where rows of several stand together."""
        return {} if self.tenant else {tenant.tenant_id: tenant.name for tenant in self.tenants}

    @asynccontextmanager
    async def acting(self, tenant: UUID | None) -> AsyncIterator[ActorTransaction]:
        """One transaction in which this person acts, for one tenant or, as the operator, for the installation."""
        if not self.is_operator and (tenant is None or tenant != self.caller.tenant_id):
            raise NotFound("there is no such thing")
        db = self.services.operator if tenant is None else self.services.db
        async with ActorTransaction.open(db, tenant=tenant, actor=self.caller.actor) as scope:
            yield scope


async def viewer_of(services: Services, visitor: Visitor, chosen: str | None) -> Viewer:
    """``chosen`` is the name of a tenant, which only the operator says."""
    caller = visitor.caller
    if "operator" not in caller.scopes:
        if caller.tenant_id is None and not visitor.memberships:
            raise Problem("forbidden", "you belong to no tenant", hint="an administrator of a tenant can invite you")
        return Viewer(services=services, caller=caller, tenant=caller.tenant_id)
    known = tuple(await tenants.list_tenants(services.operator))
    if not chosen:
        return Viewer(services=services, caller=caller, tenant=None, tenants=known)
    for tenant in known:
        if tenant.name == chosen:
            return Viewer(services=services, caller=caller, tenant=tenant.tenant_id, tenant_name=chosen, tenants=known)
    raise NotFound(f"there is no tenant {chosen}")
