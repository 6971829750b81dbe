"""The leader looks for all workers what is due, and keeps claims fast while a long transaction elsewhere keeps dead
rows alive.

A claim walks a lane from its floor. Without a floor it would walk every row that was ever claimed and that vacuum
cannot remove yet. A floor must never pass a row that may still appear: an enqueue whose transaction commits late.

The argument. Every insert into ``ready`` has its transaction id *before* it reads the lane's clock, and is placed above
that clock; the clock never goes back. A walk reads the clock, *then* takes a snapshot, then finds the lowest pass that
is there; its floor is the lower of the two. A row that appears below this floor later belongs to a transaction that was
open in that snapshot: had it ended, its row would have been seen; had it no id yet, it would have read a later clock.

So: remember which transactions were open. While one is open its rows are invisible and there is nothing to find; when
it has ended, the next walk starts at the floor of a walk made before it began. What that walk finds behind the clock is
moved up to it. Published is the floor of the walk before, so a row is claimable within two ticks after its commit.

No leader, or two: slower, or twice the work, but never wrong.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from leasehold.database.database import Database
from leasehold.engine import maintenance
from leasehold.errors import LeaseholdError
from leasehold.log import emit
from leasehold.settings import Settings
from leasehold.worker.timeouts import wait_for

TICK_SECONDS = 0.1
#: While claims take jobs: each of them walks what was taken since the newest published floor, and where a long
#: transaction keeps the dead rows, it looks at every one.
_BUSY_TICK_SECONDS = 0.025
#: The lead is kept for so long, and renewed by the looks; for less where leases are short.
_TERM_SECONDS = 6.0
RENEW_SECONDS = 1.0
#: Between two looks at rest, and while something was done so lately.
LOOK_SECONDS = 2.5
_ACTIVE_LOOK_SECONDS = 0.25
_ACTIVE_SECONDS = 1.0
#: Between two looks at least; and if the second is because something was done.
_GAP_SECONDS = 0.02
_ACTIVITY_GAP_SECONDS = 0.1
#: Who is woken claims first: the leader's own work can wait so long.
_AFTER_CLAIMS_SECONDS = 0.02
#: Where the same job's turn goes on being next, its workers are told again after so long, and then less and less often.
_NOTIFY_AGAIN_SECONDS = 1.0
_NOTIFY_AGAIN_AT_LAST_SECONDS = 30.0
_LANES_SECONDS = 1.0
_TOKENS_SECONDS = 1.0  # reaping asks for their floor each second; while an enqueue is held open the walk is long
_GENERATIONS = 48


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The transactions that were open at a moment: ``xmin:xmax:open,open``."""

    xmin: int
    xmax: int
    open: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        xmin, xmax, open_ = text.split(":")
        return cls(int(xmin), int(xmax), frozenset(int(xid) for xid in open_.split(",") if xid))

    def has_ended(self, xid: int) -> bool:
        return xid < self.xmax and xid not in self.open


@dataclass(slots=True)
class Walk:
    """Where the next walk over one lane starts, and what it may publish."""

    start: int = 0
    publish: int | None = None
    #: A transaction has ended that was open when the floor came to be where it is; the next walk looks what it left.
    has_seen_ends: bool = False
    _risky: frozenset[int] = frozenset()  # those of them that are still open
    _watched: frozenset[int] = frozenset()
    _generations: list[tuple[int, int]] = field(default_factory=list)  # (xmax, floor) of past walks, oldest first

    def saw(self, snapshot: Snapshot, floor: int) -> None:
        ended = [xid for xid in self._watched if snapshot.has_ended(xid)]
        still = frozenset(xid for xid in self._risky if not snapshot.has_ended(xid))
        self.has_seen_ends = still != self._risky
        self._risky = still if floor == self.publish else snapshot.open
        self._watched = snapshot.open
        self._generations.append((snapshot.xmax, floor))
        self.publish = floor
        self.start = self._before(min(ended)) if ended else floor
        self._forget(min(snapshot.open, default=snapshot.xmax))

    @property
    def watches(self) -> bool:
        """Transactions are open that may leave something behind the floor; those that began later cannot."""
        return bool(self._risky)

    def _before(self, xid: int) -> int:
        """The floor of the newest walk that was over before this transaction began."""
        return max((floor for xmax, floor in self._generations if xmax <= xid), default=0)

    def _forget(self, oldest: int) -> None:
        while len(self._generations) > 1 and self._generations[1][0] <= oldest:
            self._generations.pop(0)
        if len(self._generations) > _GENERATIONS:  # any may go: that only makes a later walk start lower
            del self._generations[1 : _GENERATIONS // 2 : 2]


@dataclass(slots=True)
class TokenWalk:
    """The token below which no lease is left: publishable once everything open at its walk has ended."""

    _generations: list[tuple[int, int]] = field(default_factory=list)

    def saw(self, snapshot: Snapshot, floor: int) -> int | None:
        self._generations.append((snapshot.xmax, floor))
        settled = [generation for generation in self._generations if generation[0] <= snapshot.xmin]
        if not settled:
            del self._generations[_GENERATIONS:]
            return None
        self._generations = self._generations[len(settled) - 1 :]
        return settled[-1][1]


class Leader:
    """One tick is one walk over all lanes, and now and then one over the leases."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lanes: dict[int, Walk] = {}
        self._lanes_at = 0.0
        self._tokens = TokenWalk()
        self._tokens_at = 0.0
        self._publish_token: int | None = None
        self.is_busy = False  # a lane has moved on since the tick before

    @property
    def has_seen_ends(self) -> bool:
        return any(walk.has_seen_ends for walk in self._lanes.values())

    @property
    def watches(self) -> bool:
        return any(walk.watches for walk in self._lanes.values())

    async def tick(self) -> int:
        """How many late rows were moved up."""
        await self._find_lanes()
        lanes = list(self._lanes)
        walks = [self._lanes[lane] for lane in lanes]
        swept = await maintenance.advance_lane_floor(
            self._db, lanes, [walk.start for walk in walks], [walk.publish for walk in walks]
        )
        self.is_busy = any(seen.floor != self._lanes[seen.lane].publish for seen in swept)
        for seen in swept:
            self._lanes[seen.lane].saw(Snapshot.parse(seen.snapshot), seen.floor)
        await self._walk_tokens()
        return sum(seen.moved for seen in swept)

    async def _find_lanes(self) -> None:
        if time.monotonic() >= self._lanes_at:
            for lane in await maintenance.list_lanes(self._db):
                self._lanes.setdefault(lane, Walk())
            self._lanes_at = time.monotonic() + _LANES_SECONDS

    async def _walk_tokens(self) -> None:
        if time.monotonic() >= self._tokens_at:
            snapshot, floor = await maintenance.advance_token_floor(self._db, self._publish_token)
            self._publish_token = self._tokens.saw(Snapshot.parse(snapshot), floor)
            self._tokens_at = time.monotonic() + _TOKENS_SECONDS


class Leadership:
    """One worker leads: it looks for all of them what is due, and walks. The others sleep until they are told of work.

    At rest the leader looks every 2.5 s, which is how long work can wait that nobody was told of; what is due
    later it has seen by then, and waits for the moment itself. Whoever does something tells it, by a wake-up or by
    news; then it looks at once, and walks for a while. Where it hears nothing it never rests.
    """

    def __init__(
        self,
        db: Database,
        settings: Settings,
        worker_id: Callable[[], UUID | None],
        *,
        wake: Callable[[], None],
        notify: Callable[[str], None],
        hears: Callable[[], bool],
    ) -> None:
        self._db = db
        self._worker_id = worker_id
        self._wake = wake  # this worker: there may be work
        self._notify = notify  # the workers of a queue: there is work
        self._hears = hears  # whether wake-ups reach this worker
        self._poll_s = settings.poll_seconds
        self._rest_s = LOOK_SECONDS * min(1.0, settings.poll_seconds)
        self._term_s = min(_TERM_SECONDS, max(settings.lease_seconds / 2, 3 * self._rest_s))
        self.due_work = maintenance.DueWork(leads=False)
        self.active_at = 0.0  # when something was last done, as far as is known
        self.query_events: list[asyncio.Event] = []  # set after each query
        self.changed: Callable[[], None] = lambda: None  # the lead was taken or lost
        self.queried_at = 0.0  # when the newest query began
        self._query_at = 0.0  # the next time
        self._hurry = asyncio.Event()  # it is sooner than it was
        self._vacant = asyncio.Event()  # a heartbeat found no leader
        self._walk = asyncio.Event()
        self._is_busy = False  # claims take one job after another, and tell of it all the time
        self._turns: frozenset[tuple[str, int]] = frozenset()  # that the workers were told of
        self._notified: dict[str, tuple[float, float]] = {}  # queue: how long we wait, until when

    @property
    def leads(self) -> bool:
        return self.due_work.leads

    @property
    def is_active(self) -> bool:
        """Whether anything was done lately; who hears nothing must suppose so."""
        return not self._hears() or time.monotonic() - self.active_at < _ACTIVE_SECONDS

    def note_activity(self, _: str = "") -> None:
        """Something was done. What is told in quick succession is looked at together."""
        self.active_at = time.monotonic()
        self._walk.set()
        gap_s = _ACTIVE_LOOK_SECONDS if self._is_busy else _ACTIVITY_GAP_SECONDS
        self._query_by(max(time.monotonic() + _AFTER_CLAIMS_SECONDS, self.queried_at + gap_s))

    def query_again(self) -> None:
        """Work appeared, or its place is free: look who is to be told."""
        self.active_at = time.monotonic()
        self._query_by(max(time.monotonic(), self.queried_at + _GAP_SECONDS))

    def _query_by(self, moment: float) -> None:
        self._query_at = min(self._query_at, moment)
        self._hurry.set()

    def note_vacancy(self) -> None:
        self._vacant.set()

    async def run(self) -> None:
        """Lead while no other worker leads, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._query_forever())
            group.create_task(self._walk_forever())

    async def _query_forever(self) -> None:
        tries_until = time.monotonic() + self._term_s + RENEW_SECONDS
        while True:
            try:
                await self._query()
            except LeaseholdError as problem:
                if not self._db.outage.covers(problem):
                    emit("leader failed", level=logging.WARNING, problem=problem)
                self._use(maintenance.DueWork(leads=False))
                await asyncio.sleep(max(RENEW_SECONDS, self._db.outage.pause_seconds()))
                continue
            if self.leads:
                tries_until = time.monotonic() + self._term_s + RENEW_SECONDS
                while (pause := self._query_at - time.monotonic()) > 0:
                    self._hurry.clear()
                    await wait_for(self._hurry, pause)
            else:
                # Whoever led when we came may have died just before; later the next beat tells us.
                calm = self._hears() and time.monotonic() > tries_until
                await wait_for(self._vacant, None if calm else RENEW_SECONDS)

    async def _query(self) -> None:
        self._vacant.clear()
        self.queried_at, self._query_at = (
            time.monotonic(),
            math.inf,
        )  # what is told from now on may come too late for it
        if (me := self._worker_id()) is None:
            self._use(maintenance.DueWork(leads=False))
            return
        self._use(await maintenance.lead(self._db, me, self._term_s))
        if not self.leads:
            return
        if self.due_work.is_behind:
            self.active_at = time.monotonic()
            self._walk.set()
        self._notify_of_turns()
        for waits in self.query_events:
            waits.set()
        if not self._hears():
            pause = min(self._poll_s, LOOK_SECONDS)
        elif self.is_active:
            pause = min(self._poll_s, _ACTIVE_LOOK_SECONDS)
        else:
            pause = self._rest_s
        if self.due_work.next_s is not None:
            pause = min(pause, max(self.due_work.next_s, _GAP_SECONDS))
        self._query_at = min(self._query_at, time.monotonic() + pause)

    def _use(self, due_work: maintenance.DueWork) -> None:
        before, self.due_work = self.due_work, due_work
        if due_work.leads != before.leads:
            self._turns = frozenset()
            self._notified.clear()
            self.changed()
            self.note_activity()

    def _notify_of_turns(self) -> None:
        """The workers of each queue where jobs wait: at once when it is another job's turn, else now and then."""
        now = time.monotonic()
        new = {queue for queue, _ in self.due_work.turns - self._turns}
        for queue in sorted({queue for queue, _ in self.due_work.turns}):
            again_s, again_at = (0.0, 0.0) if queue in new else self._notified[queue]
            if now >= again_at:
                again_s = min(2 * again_s, _NOTIFY_AGAIN_AT_LAST_SECONDS) or _NOTIFY_AGAIN_SECONDS
                self._notified[queue] = again_s, now + again_s
                self._notify(queue)
                self._wake()
        self._turns = self.due_work.turns

    async def _walk_forever(self) -> None:
        leader: Leader | None = None
        while True:
            self._walk.clear()
            if not self.leads:
                leader = None
                await self._walk.wait()
                continue
            if leader is None:
                leader = Leader(self._db)
            try:
                moved = await leader.tick()
            except LeaseholdError as problem:
                if not self._db.outage.covers(problem):
                    emit("leader failed", level=logging.WARNING, problem=problem)
                leader = None
                await asyncio.sleep(max(RENEW_SECONDS, self._db.outage.pause_seconds()))
                continue
            self._is_busy = leader.is_busy
            if moved:
                self.note_activity()
            elif leader.is_busy:
                self.active_at = time.monotonic()
            if self.is_active:
                await asyncio.sleep(_BUSY_TICK_SECONDS if leader.is_busy else TICK_SECONDS)
            else:
                # What is still open may commit behind the floor: we are told of it, or find it now and then.
                pause = TICK_SECONDS if leader.has_seen_ends else LOOK_SECONDS if leader.watches else None
                await wait_for(self._walk, pause)
                await asyncio.sleep(_AFTER_CLAIMS_SECONDS)
