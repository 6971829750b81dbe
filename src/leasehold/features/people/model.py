"""People, their sessions and their places in tenants."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Role = Literal["owner", "admin", "member", "viewer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Who is signed in. Without a person it is the operator, by a login link; ``tenant_id`` is the chosen tenant."""

    session_id: str
    person_id: UUID | None
    tenant_id: UUID | None
    role: Role | None
    is_operator: bool
    pepper_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTicket:
    """Whom a ticket of a session lets in: to one job, to one flow, or to the whole tenant."""

    tenant_id: UUID
    session_id: str
    job_id: UUID | None
    flow_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session as its person may see it."""

    session_id: str
    kind: Literal["browser", "refresh"]
    tenant_id: UUID | None
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """What an issuer says of somebody: the issuer's own name for them, and an address that it has verified."""

    issuer: str
    subject: str
    email: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody whom an issuer vouches for."""

    person_id: UUID
    email: str
    name: str
    is_operator: bool
    created_at: datetime
    signed_in_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(Person):
    """A person with what only the database and the person need."""

    issuer: str
    subject: str
    settings: str  # JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    tenant_id: UUID
    name: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    person_id: UUID
    email: str
    name: str
    role: Role
    created_at: datetime
    signed_in_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Who signs in with this address joins the tenant; without a tenant, the installation's staff."""

    invitation_id: UUID
    tenant_id: UUID | None
    email: str
    role: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
