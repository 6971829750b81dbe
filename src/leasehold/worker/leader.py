"""The leader keeps claims fast while a long transaction elsewhere keeps dead rows alive.

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
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from leasehold.engine import upkeep
from leasehold.engine.database import Database
from leasehold.errors import LeaseholdError
from leasehold.log import emit

TICK_SECONDS = 0.1
#: While claims take jobs: each of them walks what was taken since the newest published floor, and where a long
#: transaction keeps the dead rows, it looks at every one.
_BUSY_TICK_SECONDS = 0.025
_DUTY_SECONDS = 3.0
_RENEW_SECONDS = 1.0
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
    _watched: frozenset[int] = frozenset()
    _generations: list[tuple[int, int]] = field(default_factory=list)  # (xmax, floor) of past walks, oldest first

    def saw(self, snapshot: Snapshot, floor: int) -> None:
        ended = [xid for xid in self._watched if snapshot.has_ended(xid)]
        self._watched = snapshot.open
        self._generations.append((snapshot.xmax, floor))
        self.publish = floor
        self.start = self._before(min(ended)) if ended else floor
        self._forget(min(snapshot.open, default=snapshot.xmax))

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

    async def tick(self) -> int:
        """How many late rows were moved up."""
        await self._find_lanes()
        lanes = list(self._lanes)
        walks = [self._lanes[lane] for lane in lanes]
        swept = await upkeep.sweep(self._db, lanes, [walk.start for walk in walks], [walk.publish for walk in walks])
        self.is_busy = any(seen.floor != self._lanes[seen.lane].publish for seen in swept)
        for seen in swept:
            self._lanes[seen.lane].saw(Snapshot.parse(seen.snapshot), seen.floor)
        await self._walk_tokens()
        return sum(seen.moved for seen in swept)

    async def _find_lanes(self) -> None:
        if time.monotonic() >= self._lanes_at:
            for lane in await upkeep.list_lanes(self._db):
                self._lanes.setdefault(lane, Walk())
            self._lanes_at = time.monotonic() + _LANES_SECONDS

    async def _walk_tokens(self) -> None:
        if time.monotonic() >= self._tokens_at:
            snapshot, floor = await upkeep.sweep_tokens(self._db, self._publish_token)
            self._publish_token = self._tokens.saw(Snapshot.parse(snapshot), floor)
            self._tokens_at = time.monotonic() + _TOKENS_SECONDS


async def lead(db: Database, worker_id: Callable[[], UUID | None], wake: Callable[[], None]) -> None:
    """Be the leader whenever nobody else is."""
    leader: Leader | None = None
    renew_at = 0.0
    while True:
        try:
            if time.monotonic() >= renew_at and (me := worker_id()):
                mine = await upkeep.take_duty(db, "leader", me, _DUTY_SECONDS)
                leader = (leader or Leader(db)) if mine else None
                renew_at = time.monotonic() + _RENEW_SECONDS
            if leader and await leader.tick():
                wake()
        except LeaseholdError as problem:
            if not db.outage.covers(problem):
                emit("leader failed", level=logging.WARNING, problem=problem)
            leader, renew_at = None, time.monotonic() + max(_RENEW_SECONDS, db.outage.pause_seconds())
        await asyncio.sleep(_BUSY_TICK_SECONDS if leader and leader.is_busy else TICK_SECONDS)
