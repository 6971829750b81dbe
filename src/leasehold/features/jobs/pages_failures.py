"""``/failures``: what went wrong, by cause."""

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.features.jobs import store as engine

pages = Pages(NavigationEntry(path="/failures", title="Failures", key="f", scopes=frozenset({"jobs:read"})))


@pages.get("/failures", "jobs:read", "operator", live=True)
async def failures(look: Look) -> Page:
    found = await engine.list_failures(look.viewer.db, look.viewer.tenant)
    return look.show(
        "failures.html",
        live=True,
        failures=found,
        total=sum(one.n for one in found),
        most=engine.MOST,
        may_act=look.viewer.may("jobs:write"),
    )
