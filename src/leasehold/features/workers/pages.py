"""``/workers``: who runs jobs, for the operator."""

from datetime import UTC, datetime

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.engine import leases as engine

pages = Pages(NavigationEntry(path="/workers", title="Workers", key="w", scopes=frozenset({"operator"})))


@pages.get("/workers", "operator", live=True)
async def workers(look: Look) -> Page:
    found = await engine.list_workers(look.services.operator)
    now = datetime.now(UTC)
    late = {one.worker_id for one in found if (now - one.beat_at).total_seconds() > one.lease_s / 2}
    return look.show("workers.html", live=True, own_tenant=True, workers=found, late=late)
