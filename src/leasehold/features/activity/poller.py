"""What is new for whole tenants: one look at the database for all streams of a process, however many clients there are.

A position in the feed is a snapshot of the database, as text. A look tells what is visible now and was not visible to
the last one, so nothing is lost and nothing comes twice, however late a transaction commits; a reader that comes back
names its snapshot. All that one look finds for a tenant is one message: a reader has it, or has not.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import progress
from leasehold.engine.progress import Fact
from leasehold.http.services import Services
from leasehold.http.subscription import ChangePoller, Follower

#: A snapshot: the oldest transaction under way, the next one to come, and those under way in between.
_SNAPSHOT = re.compile(r"([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}(,[0-9]{1,19})*)?", re.ASCII)
#: So many transactions back a reader may go on; what is older starts anew.
_FURTHEST = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What one look found for one tenant; None where it was too much to be told."""

    snapshot: str
    facts: Sequence[Fact] | None


@asynccontextmanager
async def open_feed(services: Services) -> AsyncIterator["Feed"]:
    hub = services.hub
    async with Feed(services.db, lambda: hub.listens) as feed:
        hub.tell(news=feed.heard, closing=feed.close)
        yield feed


class Feed(ChangePoller):
    """What is new for whole tenants."""

    def __init__(self, db: Database, listens: Callable[[], bool]) -> None:
        super().__init__(db, listens)
        self._followers: dict[UUID, set[Follower[Patch]]] = {}
        self._snapshot: str | None = None  # of the last look, while anybody follows
        self._looking = asyncio.Lock()
        self._closed = False

    def close(self) -> None:
        self._closed = True
        for followers in self._followers.values():
            for follower in followers:
                follower.drop()

    @asynccontextmanager
    async def follow(self, tenant: UUID) -> AsyncIterator[tuple[Follower[Patch], str]]:
        """What is new for the tenant after the snapshot that is given with it."""
        follower: Follower[Patch] = Follower()
        async with self._looking:  # a look that is under way does not ask for this tenant
            if self._snapshot is None:
                self._snapshot = (await progress.tenant_news(self._db, [], None)).snapshot
            since = self._snapshot
            self._followers.setdefault(tenant, set()).add(follower)
        self._someone.set()
        if self._closed:
            follower.drop()
        try:
            yield follower, since
        finally:
            self._leave(tenant, follower)

    async def missed(self, tenant: UUID, after: str, until: str) -> Sequence[Fact] | None:
        """What a reader that comes back has missed between two snapshots, or None where it has to start anew."""
        if not _is_near(after, until):
            return None
        news = await progress.tenant_news(self._db, [tenant], after, until=until)
        return news.facts if news.complete else None

    def _leave(self, tenant: UUID, follower: Follower[Patch]) -> None:
        followers = self._followers[tenant]
        followers.discard(follower)
        if not followers:
            del self._followers[tenant]
        if not self._followers:
            self._someone.clear()
            self._snapshot = None

    async def _look(self) -> None:
        async with self._looking:
            await self._look_at_all()

    async def _look_at_all(self) -> None:
        if (before := self._snapshot) is None:  # the last one has left meanwhile
            return
        news = await progress.tenant_news(self._db, list(self._followers), before)
        if not self._followers:
            return
        by_tenant = _by_tenant(news) if news.complete else await self._one_by_one(before, news.snapshot)
        if not self._followers:  # the last one has left meanwhile
            return
        self._snapshot = news.snapshot
        for tenant, facts in by_tenant.items():
            for follower in self._followers.get(tenant, ()):
                follower.give(Patch(snapshot=news.snapshot, facts=facts))

    async def _one_by_one(self, before: str, until: str) -> dict[UUID, list[Fact] | None]:
        """For all together it was too much: that of one tenant must not cost the others their news."""
        found: dict[UUID, list[Fact] | None] = {}
        for tenant in list(self._followers):
            news = await progress.tenant_news(self._db, [tenant], before, until=until)
            found[tenant] = news.facts if news.complete else None
        return {tenant: facts for tenant, facts in found.items() if facts is None or facts}


def _by_tenant(news: progress.News) -> dict[UUID, list[Fact] | None]:
    found: dict[UUID, list[Fact]] = {}
    for fact in news.facts:
        found.setdefault(fact.tenant_id, []).append(fact)
    return dict(found)


def is_snapshot(text: str) -> bool:
    return bool(_SNAPSHOT.fullmatch(text)) and len(text) < 2000


def _is_near(after: str, until: str) -> bool:
    """Whether one can go on from there: it is no snapshot of another database, or of long ago."""
    if not is_snapshot(after):
        return False
    lowest, highest = (int(part) for part in after.split(":")[:2])
    now_lowest, now_highest = (int(part) for part in until.split(":")[:2])
    return lowest <= highest <= now_highest and now_lowest - lowest <= _FURTHEST
