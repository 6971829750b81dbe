"""What a worker counts while somebody may ask: without ``LEASEHOLD_WORKER_PORT`` there is no meter, and no cost."""

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence

from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.log import emit
from leasehold.metrics import Counts

_SAMPLE_SECONDS = 1.0
_SAMPLE_JOBS = 100


class WorkerMetrics:
    """Counters and histograms of one worker. What it counts as ended is in the database."""

    def __init__(self, db: Database, kinds: Collection[str]) -> None:
        self.counts = Counts()
        self._db = db
        self._kinds = kinds
        self._sampled_at = 0.0
        self._sampling: asyncio.Task[None] | None = None
        self._unstorable: set[int] = set()  # tokens of ends that had to be recorded as failed

    def exchanged(self, claimed: Sequence[ClaimedJob], *, seconds: float) -> None:
        self.counts.observe("exchange_seconds", seconds=seconds)
        for job in claimed:
            self.counts.add("claims_total", job.queue)
        self._sample_waits(claimed)

    def failed(self) -> None:
        self.counts.add("exchange_failures_total")

    def ran(self, kind: str, *, seconds: float) -> None:
        self.counts.observe("run_seconds", kind, seconds=seconds)

    def ended(self, ends: Mapping[int, tuple[ClaimedJob, AttemptOutcome]], *, refused: Collection[int] = ()) -> None:
        """All of these but those that were refused."""
        for token, (job, ended) in ends.items():
            if token not in refused:
                outcome = "failed" if token in self._unstorable else ended.outcome
                self._unstorable.discard(token)
                self._end(job, outcome)

    def completed(self, job: ClaimedJob) -> None:
        """Its own transaction has ended it."""
        self._end(job, "succeeded")

    def _end(self, job: ClaimedJob, outcome: str) -> None:
        # Anybody may ask for jobs of kinds that nobody knows: their names must not become time series.
        kind = job.kind if job.kind in self._kinds else "unknown"
        self.counts.add("attempts_total", job.queue, kind, outcome)

    def unstorable(self, token: int) -> None:
        self._unstorable.add(token)

    def fenced(self) -> None:
        self.counts.add("fenced_total")

    def dropped(self) -> None:
        self.counts.add("dropped_total")

    def lost(self) -> None:
        self.counts.add("lost_total")

    def _sample_waits(self, claimed: Sequence[ClaimedJob]) -> None:
        """Query now and then how long some of the claimed jobs had waited."""
        now = time.monotonic()
        is_sampling = self._sampling is not None and not self._sampling.done()
        if claimed and not is_sampling and now >= self._sampled_at + _SAMPLE_SECONDS:
            self._sampled_at = now
            self._sampling = asyncio.create_task(self._sample(claimed[:_SAMPLE_JOBS]))

    async def _sample(self, claimed: Sequence[ClaimedJob]) -> None:
        try:
            waits = await jobs.list_waits(self._db, claimed)
        except LeaseholdError as problem:
            emit("waits not measured", level=logging.WARNING, problem=problem)
            return
        for job, seconds in zip(claimed, waits, strict=True):
            if seconds is not None:
                self.counts.observe("wait_seconds", job.queue, seconds=seconds)
