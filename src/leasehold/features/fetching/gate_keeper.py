"""Leave to ask a site: what its robots.txt says, and when it is our turn."""

from datetime import datetime

from leasehold.database.database import Database
from leasehold.errors import FetchDisallowed, FetchUnreachable
from leasehold.features.fetching.store import KeptRobots, wait_for_host
from leasehold.fetch.urls import parse_url
from leasehold.program.app import Leasehold
from leasehold.program.context import PATIENCE_S

#: Sites may ask for so long between two requests; more would be a no, and that they can say otherwise.
MAX_CRAWL_DELAY_S = 300.0


async def ask_leave(db: Database, app: Leasehold, url: str, agent: str | None, rules_since: datetime | None) -> float:
    """Seconds to wait before the request, as ``wait_for_host`` says; FetchDisallowed where it must not be made."""
    parsed = parse_url(url)
    us = agent or app.settings.user_agent
    rules = await app.robots.rules(parsed, user_agent=us, store=KeptRobots(db), since=rules_since)
    if rules.in_trouble:
        raise FetchUnreachable(f"{parsed.origin}/robots.txt cannot be read: nothing may be fetched there for a while")
    if not rules.allow(parsed):
        why = f"{parsed.origin}/robots.txt forbids it to {rules.agent} ({rules.forbidding(parsed)})"
        raise FetchDisallowed.because(str(parsed), why, hint="ask the site; without polite=True if it is yours")
    gap_s = max(app.settings.fetch_gap_seconds, min(rules.crawl_delay or 0.0, MAX_CRAWL_DELAY_S))
    return await wait_for_host(db, parsed.host, gap_s, patience_s=PATIENCE_S)
