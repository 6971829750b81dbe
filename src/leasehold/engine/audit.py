"""The audit log: who did what to which thing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Who did what to which thing."""

    audit_id: UUID
    tenant_id: UUID | None
    actor: str
    action: str
    target: str
    detail: dict[str, Any] | None
    at: datetime


async def list_audit(db: Database, tenant: UUID | None, *, before: UUID | None, limit: int) -> list[Audit]:
    """Newest first; of all tenants where none is given, which only the operator may ask."""
    function = "list_audit" if tenant is None else "list_own_audit"
    rows = await db.call(function, before, limit, tenant=tenant)
    return [Audit(**dict(row) | {"detail": json_codec.decode(row["detail"])}) for row in rows]


async def log_own_action(db: Database, tenant: UUID, action: str, target: str, detail: Any = None) -> None:
    """Write the tenant's audit log, in the transaction of whoever acts."""
    await db.call("log_own_action", action, target, json_codec.encode(detail, what="detail"), tenant=tenant)
