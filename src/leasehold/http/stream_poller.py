"""The hub of the streams: one look at the database for all of them, however many clients there are.

Workers tell that there is news (LISTEN, one connection for each process). Then, while anybody follows
a job, one query asks how far all followed jobs are, and one for each other kind of subject; only for
those that went on their events are read, once for each, and handed to everybody who follows it.
Clients never query by themselves after their first look.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from leasehold.database.database import Database
from leasehold.database.wakeups import Listener, news_channel, ready_channel
from leasehold.engine import jobs, progress
from leasehold.errors import LeaseholdError, NotFound, Unreachable
from leasehold.http.problems import Problem
from leasehold.http.responses import read_json
from leasehold.http.stream_subjects import JOB, Stateful, Subject, has_ended
from leasehold.http.subscription import ChangePoller, Follower
from leasehold.job import Event, Job
from leasehold.settings import Settings

#: Jobs or flows in one look at most.
_MOST = 2000
#: Jobs or flows whose events are read at the same time.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something new about a job or a flow: an event, or its end."""

    seq: int
    event: Event | None = None
    ended: Stateful | None = None


@dataclass(slots=True, kw_only=True)
class _Followed:
    subject: Subject[Any]
    tenant: UUID
    id: UUID
    head: int | None = None  # None until the first follower has had its look
    ended: bool = False  # and the followers know
    followers: set[Follower[News]] = field(default_factory=set)

    def give(self, news: News) -> None:
        for follower in self.followers:
            follower.give(news)

    def let_go(self) -> None:
        for follower in self.followers:
            follower.drop()

    def has_news(self, head: progress.Head | None) -> bool:
        if head is None or self.head is None:
            return False
        return head.seq > self.head or (head.ended and not self.ended)


class Hub(ChangePoller):
    def __init__(self, db: Database, settings: Settings) -> None:
        super().__init__(db, lambda: self.listens)
        self._most = settings.streams_per_tenant
        self._followed: dict[tuple[UUID, UUID], _Followed] = {}
        self._by_tenant: Counter[UUID] = Counter()
        self._on_news: list[Callable[[], None]] = [self.heard]
        self._on_ready: list[Callable[[str], None]] = []
        self._on_closing: list[Callable[[], None]] = []
        self._listener = Listener(
            db.target,
            lambda _: self._pass_on(),
            channel=news_channel(db.target.schema),
            also={ready_channel(db.target.schema): self._pass_on_ready},
        )
        self._closing = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._listener.__aenter__()
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        await self._listener.__aexit__(kind, error, trace)

    def tell(
        self,
        *,
        news: Callable[[], None] | None = None,
        ready: Callable[[str], None] | None = None,
        closing: Callable[[], None] | None = None,
    ) -> None:
        """Tell a part of the server too: of news, of a queue with new jobs, and that the server stops."""
        self._on_news += [news] if news else []
        self._on_ready += [ready] if ready else []
        self._on_closing += [closing] if closing else []

    def _pass_on(self) -> None:
        for hears in self._on_news:
            hears()

    def _pass_on_ready(self, queue: str) -> None:
        for hears in self._on_ready:
            hears(queue)

    @property
    def listens(self) -> bool:
        return self._listener.listening.is_set()

    @property
    def streams(self) -> int:
        return self._by_tenant.total()

    @property
    def is_closed(self) -> bool:
        return self._closing.is_set()

    async def closed(self) -> None:
        """Returns when the server stops."""
        await self._closing.wait()

    def close(self) -> None:
        """Let go of every follower: the server stops, and they come back to another."""
        self._closing.set()
        for closes in self._on_closing:
            closes()
        for followed in self._followed.values():
            followed.let_go()

    @contextmanager
    def follow(self, tenant: UUID, subject_id: UUID, subject: Subject[Any] = JOB) -> Iterator[Follower[News]]:
        """What is new about a job or a flow of the tenant, after the number that ``begin`` gives."""
        with self.counted(tenant):
            follower: Follower[News] = Follower()
            followed = self._followed.setdefault(
                (tenant, subject_id), _Followed(subject=subject, tenant=tenant, id=subject_id)
            )
            followed.followers.add(follower)
            self._someone.set()
            if self.is_closed:
                follower.drop()
            try:
                yield follower
            finally:
                self._leave(tenant, subject_id, follower)

    @contextmanager
    def counted(self, tenant: UUID) -> Iterator[None]:
        """One stream or waiting request more of the tenant, unless it has too many."""
        if self._by_tenant[tenant] >= self._most:
            raise Problem(
                "too_many_streams",
                f"{self._most} streams and waiting requests are open",
                hint="close some, or follow fewer jobs at once",
                retry_after=5,
            )
        self._by_tenant[tenant] += 1
        try:
            yield
        finally:
            self._by_tenant[tenant] -= 1
            if not self._by_tenant[tenant]:
                del self._by_tenant[tenant]

    async def begin(self, tenant: UUID, subject_id: UUID) -> progress.Head:
        """How far it is: what comes after is news. Whoever reads it from now on sees at least that."""
        followed = self._followed[tenant, subject_id]
        heads = await followed.subject.heads(self._db, [subject_id])
        if subject_id not in heads:
            raise NotFound(f"there is no {followed.subject.word} {subject_id}")
        head = heads[subject_id]
        if followed.head is None:
            followed.head = head.seq
        # Somebody who looked at the same time saw more: the hub tells what comes after that, and the end.
        return head if head.seq >= followed.head else replace(head, seq=followed.head, ended=False)

    async def wait(self, tenant: UUID, job_id: UUID, seconds: float) -> Job | None:
        """The job when it has ended, or None when that takes longer."""
        with self.follow(tenant, job_id) as follower:
            head = await self.begin(tenant, job_id)
            if head.ended:
                return await jobs.get_job(self._db, tenant, job_id, read_json)
            try:
                async with asyncio.timeout(seconds):
                    while (news := await follower.next(seconds)) is not None:
                        if isinstance(news.ended, Job):
                            return news.ended
            except TimeoutError:
                pass
            return None

    def _leave(self, tenant: UUID, subject_id: UUID, follower: Follower[News]) -> None:
        followed = self._followed[tenant, subject_id]
        followed.followers.discard(follower)
        if not followed.followers:
            del self._followed[tenant, subject_id]
        if not self._followed:
            self._someone.clear()

    async def _look(self) -> None:
        for subject in {one.subject for one in self._followed.values()}:
            known = [one for one in self._followed.values() if one.subject is subject and one.head is not None]
            for first in range(0, len(known), _MOST):
                await self._look_at(subject, known[first : first + _MOST])

    async def _look_at(self, subject: Subject[Any], some: list[_Followed]) -> None:
        heads = await subject.heads(self._db, [followed.id for followed in some])
        for followed in some:
            if followed.id not in heads:
                followed.let_go()
        moved = [followed for followed in some if followed.has_news(heads.get(followed.id))]
        for first in range(0, len(moved), _AT_ONCE):
            group = moved[first : first + _AT_ONCE]
            await asyncio.gather(*(self._tell(followed, heads[followed.id]) for followed in group))

    async def _tell(self, followed: _Followed, head: progress.Head) -> None:
        try:
            await self._read(followed, head)
        except Unreachable:
            raise
        except LeaseholdError:  # it went meanwhile, or cannot be read: the others must not wait for it
            followed.let_go()

    async def _read(self, followed: _Followed, head: progress.Head) -> None:
        assert followed.head is not None
        for event in await jobs.events_since(self._db, followed.tenant, followed.id, followed.head):
            followed.head, followed.ended = event.seq, False
            followed.give(News(seq=event.seq, event=event))
        if not head.ended or followed.head != head.seq:
            return  # the next look tells of the end, if there is one
        found = await followed.subject.get(self._db, followed.tenant, followed.id)
        if has_ended(found):
            followed.ended = True
            followed.give(News(seq=head.seq, ended=found))
