"""``/audit``: who did what."""

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.engine.audit import list_audit

pages = Pages(NavigationEntry(path="/audit", title="Audit log", scopes=frozenset({"admin"})))
_LIMIT = 50


@pages.get("/audit", "admin", "operator")
async def audit(look: Look) -> Page:
    before = as_id(look.query("before")) if look.query("before") else None
    found = await list_audit(look.viewer.db, look.viewer.tenant, before=before, limit=_LIMIT + 1)
    return look.show(
        "audit.html",
        rows=found[:_LIMIT],
        older=found[_LIMIT - 1].audit_id if len(found) > _LIMIT else None,
        before=before,
        tenant_names=look.viewer.tenant_names,
    )
