"""Keys and tickets, and who holds them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Scope = Literal["jobs:read", "jobs:write", "work", "admin", "operator", "metrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """A key, never its secret. ``tenant_id`` is null for a key of the installation."""

    key_id: str
    tenant_id: UUID | None
    name: str
    scopes: list[Scope]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    queues: list[str] | None  # where a key for workers may work


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who a good key lets in, and what for."""

    key_id: str
    tenant_id: UUID | None
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Whom a ticket lets in: to one job, to one flow, or to the whole tenant."""

    holder: Holder
    job_id: UUID | None
    flow_id: UUID | None
