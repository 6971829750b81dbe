"""`leasehold people …`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import shell_scope, tenant_scope

if TYPE_CHECKING:
    from typing import TypeVar

    from leasehold.features.people.model import Invitation, Member, Person

    Named = TypeVar("Named", bound=Member | Person | Invitation)

app = typer.Typer(help="People who sign in: invite them, list them, change what they may do.", no_args_is_help=True)

Operator = Annotated[bool, typer.Option("--operator", help="Of the installation, not of a tenant.")]
Who = Annotated[str, typer.Argument(metavar="WHO", help="An e-mail address, or an id.")]
_DAY = 86_400.0


@app.command()
@command
async def link() -> None:
    """Print a link that signs you in as operator: once, within ten minutes, on this machine."""
    from leasehold.errors import Unreachable
    from leasehold.features.people import store as people
    from leasehold.postgres import Home, instance_home
    from leasehold.settings import Settings

    settings = Settings.from_env()
    endpoint = Home(instance_home(settings.home)).read_endpoint() or {}
    api = settings.public_url or endpoint.get("api")  # what was said, before what an instance has left in its folder
    if api is None:
        raise Unreachable(
            "it is not known where the server is", hint="start one with `leasehold up`, or set LEASEHOLD_PUBLIC_URL"
        )
    async with shell_scope(None) as (db, _):
        print(await people.make_login_link(db, settings, api))


@app.command("list")
@command
async def list_(operator: Operator = False, tenant: Tenant = None, json: Json = False) -> None:
    """The people of a tenant and its open invitations; with --operator, everybody who ever signed in."""
    from leasehold.features.people import store as people
    from leasehold.settings import Settings

    async with shell_scope(None if operator else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            everybody = await people.list_people(db)
            found = [_shown(p, "operator" if p.is_operator else "-", p.signed_in_at) for p in everybody]
            invited = await people.list_operator_invitations(db)
        else:
            found = [_shown(m, m.role, m.signed_in_at) for m in await people.list_members(db, owner)]
            invited = await people.list_invitations(db, owner)
    found += [
        {"id": i.invitation_id, "email": i.email, "role": i.role, "signed_in_at": None, "invited_until": i.expires_at}
        for i in invited
    ]
    if json:
        print_json(found)
    else:
        print_table(["id", "email", "role", "signed in", "invited until"], [tuple(row.values()) for row in found])


@app.command()
@command
async def invite(
    email: Annotated[str, typer.Argument(help="The address that the issuer has to vouch for.")],
    role: Annotated[str, typer.Option("--role", help="owner, admin, member or viewer.")] = "member",
    operator: Operator = False,
    days: Annotated[float, typer.Option(min=0.001, max=90, help="Days until it is over.")] = 7,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Let whoever signs in with this address into a tenant; with --operator, into the installation's staff."""
    from leasehold.features.people import store as people
    from leasehold.settings import Settings

    async with shell_scope(None if operator else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            made = await people.create_operator_invitation(db, email, seconds=days * _DAY)
        else:
            made = await people.create_invitation(db, owner, email, role, seconds=days * _DAY)
    if json:
        print_json(made)
    else:
        say(f"{made.email} becomes {made.role} at the next sign-in, until {made.expires_at:%Y-%m-%d %H:%M} UTC")


@app.command()
@command
async def role(
    who: Who,
    role: Annotated[str, typer.Argument(help="owner, admin, member or viewer.")],
    tenant: Tenant = None,
) -> None:
    """Give a person of a tenant another role, from their next request on."""
    from leasehold.features.people import store as people
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        member = _one(await people.list_members(db, owner), who)
        await people.set_member(db, owner, member.person_id, role)
    say(f"{member.email} is {role}")


@app.command()
@command
async def remove(who: Who, operator: Operator = False, tenant: Tenant = None) -> None:
    """Take a person out of a tenant, or back an invitation; with --operator, out of the installation's staff."""
    from leasehold.features.people import store as people
    from leasehold.features.people.model import Invitation, Member, Person
    from leasehold.settings import Settings

    async with shell_scope(None if operator else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            staff = [person for person in await people.list_people(db) if person.is_operator]
            those: list[Person | Invitation] = [*staff, *await people.list_operator_invitations(db)]
            found = _one(those, who)
            if isinstance(found, Person):
                await people.set_operator(db, found.person_id, is_operator=False)
            else:
                await people.remove_operator_invitation(db, found.invitation_id)
        else:
            here: list[Member | Invitation] = [*await people.list_members(db, owner)]
            one = _one([*here, *await people.list_invitations(db, owner)], who)
            if isinstance(one, Member):
                await people.remove_member(db, owner, one.person_id)
            else:
                await people.remove_invitation(db, owner, one.invitation_id)
    say(f"{who} is out")


@app.command("sign-out")
@command
async def sign_out(who: Who) -> None:
    """End every session of a person: every server refuses them from their next request on."""
    from leasehold.features.people import store as people

    async with shell_scope(None) as (db, _):
        person = _one(await people.list_people(db), who)
        ended = await people.sign_out_person(db, person.person_id)
    say(f"{person.email}: {ended} sessions ended")


def _shown(one: "Member | Person", role: str, signed_in_at: object) -> dict[str, object]:
    return {
        "id": one.person_id,
        "email": one.email,
        "role": role,
        "signed_in_at": signed_in_at,
        "invited_until": None,
    }


def _one(found: "Sequence[Named]", who: str) -> "Named":
    """The one of this address or id."""
    from leasehold.errors import BadInput, NotFound

    fitting = [one for one in found if one.email.lower() == who.lower() or _id(one) == who.lower()]
    if not fitting:
        raise NotFound(f"there is no {who} here", hint="leasehold people list")
    if len(fitting) > 1:
        raise BadInput(f"several have the address {who}", hint="say the id: leasehold people list")
    return fitting[0]


def _id(one: "Member | Person | Invitation") -> str:
    return str(getattr(one, "person_id", None) or getattr(one, "invitation_id", None))
