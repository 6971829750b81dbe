"""What a worker counts while somebody may ask: without ``LEASEHOLD_WORKER_PORT`` there is no meter, and no cost."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from leasehold.engine import jobs
from leasehold.engine.database import Database
from leasehold.job import Ended, Grant
from leasehold.metrics import Counts

_SAMPLE_SECONDS = 1.0
_SAMPLE_JOBS = 100


class Meter:
    """Counters and histograms of one worker. What it counts as ended is in the database."""

    def __init__(self, kinds: Collection[str]) -> None:
        self.counts = Counts()
        self._kinds = kinds
        self._sampled_at = 0.0
        self._unstorable: set[int] = set()  # tokens of ends that had to be recorded as failed

    def exchanged(self, grants: Iterable[Grant], *, seconds: float) -> None:
        self.counts.observe("exchange_seconds", seconds=seconds)
        for grant in grants:
            self.counts.add("claims_total", grant.queue)

    def failed(self) -> None:
        self.counts.add("exchange_failures_total")

    def ran(self, kind: str, *, seconds: float) -> None:
        self.counts.observe("run_seconds", kind, seconds=seconds)

    def ended(self, ends: Mapping[int, tuple[Grant, Ended]], *, refused: Collection[int] = ()) -> None:
        """All of these but those that were refused."""
        for token, (grant, ended) in ends.items():
            if token not in refused:
                outcome = "failed" if token in self._unstorable else ended.outcome
                self._unstorable.discard(token)
                self._end(grant, outcome)

    def completed(self, grant: Grant) -> None:
        """Its own transaction has ended it."""
        self._end(grant, "succeeded")

    def _end(self, grant: Grant, outcome: str) -> None:
        # Anybody may ask for jobs of kinds that nobody knows: their names must not become time series.
        kind = grant.kind if grant.kind in self._kinds else "unknown"
        self.counts.add("attempts_total", grant.queue, kind, outcome)

    def unstorable(self, token: int) -> None:
        self._unstorable.add(token)

    def fenced(self) -> None:
        self.counts.add("fenced_total")

    def dropped(self) -> None:
        self.counts.add("dropped_total")

    def lost(self) -> None:
        self.counts.add("lost_total")

    def wants_sample(self) -> bool:
        """Whether it is time to ask how long jobs had waited."""
        now = time.monotonic()
        if now < self._sampled_at + _SAMPLE_SECONDS:
            return False
        self._sampled_at = now
        return True

    async def sample(self, db: Database, grants: Sequence[Grant]) -> None:
        some = grants[:_SAMPLE_JOBS]
        for grant, seconds in zip(some, await jobs.list_waits(db, some), strict=True):
            if seconds is not None:
                self.counts.observe("wait_seconds", grant.queue, seconds=seconds)
