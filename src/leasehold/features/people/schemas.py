"""The bodies of requests about people, and of their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from leasehold.features.people.model import Membership, Person, Role
from leasehold.http.types import Ask, Number

EMAIL = r"^[!-?A-~]+@[!-?A-~]+$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who is signed in. Without a person it is the operator, by a login link."""

    person: Person | None
    session_id: str
    tenant_id: Annotated[UUID | None, Field(description="The tenant that was chosen.")]
    role: Role | None
    is_operator: bool
    scopes: list[str]
    tenants: Annotated[list[Membership], Field(description="Those that can be chosen; an operator can choose any.")]
    csrf_token: Annotated[str | None, Field(description="For X-CSRF-Token, where a cookie signs in.")]


class TenantChoice(Ask):
    tenant: str | None = Field(min_length=1, max_length=100, description="Name or id.", examples=["acme"])


class PersonSettings(Ask):
    """A person's own settings. ``app`` is for the front end: whatever it wants to find again."""

    theme: Literal["system", "light", "dark"] = "system"
    time_zone: Annotated[
        str, Field(max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_+/-]*$", examples=["UTC", "Europe/Berlin"])
    ] = "UTC"
    app: dict[str, Any] = Field(default_factory=dict)


class IdToken(Ask):
    """An ID token of the issuer that this server trusts, as its sign-in button gave it to a front end."""

    id_token: str = Field(min_length=1, max_length=16_384)
    nonce: str | None = Field(
        None, min_length=1, max_length=255, description="What the front end gave the button: the token must have it."
    )
    tenant: str | None = Field(None, min_length=1, max_length=100, description="Act in this tenant: name or id.")


class RefreshToken(Ask):
    refresh_token: str = Field(min_length=1, max_length=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a front end acts for a person with."""

    access_token: Annotated[str, Field(description="A JWT for `Authorization: Bearer`, for a few minutes.")]
    token_type: Literal["Bearer"]
    expires_in: Annotated[int, Field(description="Seconds.")]
    refresh_token: Annotated[str, Field(description="For the next tokens, once; they bring another.")]


class MemberChange(Ask):
    role: Role


class InvitationRequest(Ask):
    """Whoever signs in with this address, verified by the issuer, joins."""

    email: str = Field(pattern=EMAIL, max_length=320, examples=["ada@example.com"])
    role: Literal["owner", "admin", "member", "viewer", "operator"] = Field(
        description="operator: of the installation's staff, for operators to give."
    )
    days: Number = Field(7, gt=0, le=90)
    tenant: str | None = Field(None, min_length=1, max_length=100, description="Name or id; only the operator says it.")
