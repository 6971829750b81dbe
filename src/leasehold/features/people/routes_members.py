"""``/v1/members`` and ``/v1/invitations``: the people of a tenant, for its owners; and for the operator."""

from uuid import UUID

from fastapi import Request, Response

from leasehold.features.people import store as people
from leasehold.features.people.model import Invitation, Member
from leasehold.features.people.schemas import InvitationRequest, MemberChange
from leasehold.http.auth import SignedIn
from leasehold.http.problems import Problem
from leasehold.http.responses import answer, answer_all
from leasehold.http.route import needs, router
from leasehold.http.tenant_param import Tenant, owner_scope
from leasehold.http.types import Id, Listing

routes = router("members")
_READ = needs("admin", "members", "operator")
_MEMBERS = needs("members", "operator")
_DAY = 86_400.0


@routes.get(
    "/v1/members",
    operation_id="members.list",
    summary="The people of the tenant, by address",
    response_model=Listing[Member],
    openapi_extra=_READ,
)
async def list_(request: Request, caller: SignedIn, tenant: Tenant = None) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        return answer_all(await people.list_members(scope, _named(owner)), of=Member)


@routes.put(
    "/v1/members/{person_id}",
    operation_id="members.set",
    summary="Give a person of the tenant another role, from their next request on",
    status_code=204,
    response_class=Response,
    openapi_extra=_MEMBERS,
)
async def set_(
    request: Request, caller: SignedIn, person_id: Id, body: MemberChange, tenant: Tenant = None
) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        await people.set_member(scope, _named(owner), person_id, body.role)
    return Response(None, 204)


@routes.delete(
    "/v1/members/{person_id}",
    operation_id="members.remove",
    summary="Take a person out of the tenant, from their next request on",
    status_code=204,
    response_class=Response,
    openapi_extra=_MEMBERS,
)
async def remove(request: Request, caller: SignedIn, person_id: Id, tenant: Tenant = None) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        await people.remove_member(scope, _named(owner), person_id)
    return Response(None, 204)


@routes.get(
    "/v1/invitations",
    operation_id="invitations.list",
    summary="The open invitations, newest first",
    response_model=Listing[Invitation],
    openapi_extra=_MEMBERS,
)
async def list_invitations(request: Request, caller: SignedIn, tenant: Tenant = None) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        found = await (
            people.list_operator_invitations(scope) if owner is None else people.list_invitations(scope, owner)
        )
    return answer_all(found, of=Invitation)


@routes.post(
    "/v1/invitations",
    operation_id="invitations.create",
    summary="Invite an address; again changes the role and begins the time anew",
    status_code=201,
    response_model=Invitation,
    openapi_extra=_MEMBERS,
)
async def invite(request: Request, caller: SignedIn, body: InvitationRequest) -> Response:
    async with owner_scope(request, caller, body.tenant) as (scope, owner):
        if (owner is None) != (body.role == "operator"):
            raise Problem("invalid", "the role operator is the installation's, and a tenant's invitation names another")
        seconds = body.days * _DAY
        if owner is None:
            made = await people.create_operator_invitation(scope, body.email, seconds=seconds)
        else:
            made = await people.create_invitation(scope, owner, body.email, body.role, seconds=seconds)
    return answer(made, status=201, headers={"Location": f"/v1/invitations/{made.invitation_id}"})


@routes.delete(
    "/v1/invitations/{invitation_id}",
    operation_id="invitations.remove",
    summary="Take back an invitation",
    status_code=204,
    response_class=Response,
    openapi_extra=_MEMBERS,
)
async def take_back(request: Request, caller: SignedIn, invitation_id: Id, tenant: Tenant = None) -> Response:
    async with owner_scope(request, caller, tenant) as (scope, owner):
        await (
            people.remove_operator_invitation(scope, invitation_id)
            if owner is None
            else people.remove_invitation(scope, owner, invitation_id)
        )
    return Response(None, 204)


def _named(owner: UUID | None) -> UUID:
    if owner is None:
        raise Problem("invalid", "members are a tenant's: name one", hint="?tenant=acme")
    return owner
