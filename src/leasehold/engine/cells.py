"""The directory of cells, kept in the home database."""

from uuid import UUID

from leasehold.engine.database import Database


async def locate_tenant(db: Database, name_or_id: str | None) -> tuple[UUID, str | None]:
    """Its id, and the cell that it lives in; None is home. Where none is named, the only one there is."""
    [row] = await db.call("locate_tenant", name_or_id)
    return row["tenant_id"], row["cell"]
