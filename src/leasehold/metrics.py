"""Numbers for Prometheus: the catalogue of all of them, what a process counts, and the text that is scraped.

A name that is not in the catalogue is not written: docs/reference/metrics.md is made from it, and dashboards and alerts
are checked against it.
"""

import asyncio
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, NamedTuple, Self

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper bounds of the classes of every histogram, in seconds.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
_LAG_SECONDS = 0.5
_LAG_WINDOW_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Metric:
    """``where``: of the installation, as every server tells it; or of one process, a server or a worker or both."""

    where: Literal["installation", "server", "worker", "process"]
    type: Literal["gauge", "counter", "histogram"]
    help: str
    labels: tuple[str, ...] = ()


CATALOGUE = {
    "jobs": Metric(
        "installation", "gauge",
        "Jobs that have not ended, counted up to 10000 in each queue and state.", ("queue", "state"),
    ),
    "queue_age_seconds": Metric(
        "installation", "gauge",
        "The longest wait. queued: since its run_at, of the first 100 in each lane; scheduled: how long the next one is"
        " overdue; running: since the oldest attempt began.", ("queue", "state"),
    ),
    "queue_paused": Metric("installation", "gauge", "Whether a queue is paused.", ("queue",)),
    "workers": Metric("installation", "gauge", "Workers that are alive."),
    "worker_slots": Metric("installation", "gauge", "Attempts that all workers together can run at once."),
    "orphan_leases": Metric(
        "installation", "gauge", "Leases past their deadline, or whose worker has ended: the next reap takes them.",
    ),
    "schedule_overdue_seconds": Metric(
        "installation", "gauge", "How long the tick of a schedule that is not paused has been due and not fired.",
    ),
    "tenants_over_quota": Metric("installation", "gauge", "Tenants that have more waiting than they may."),
    "minute_attempts": Metric(
        "installation", "gauge",
        "Attempts that ended in the minute before the last, from leasehold.stat.", ("queue", "kind", "outcome"),
    ),
    "minute_wait_seconds": Metric(
        "installation", "gauge", "The sum of their waits, each from run_at to its start.", ("queue", "kind", "outcome"),
    ),
    "minute_run_seconds": Metric(
        "installation", "gauge", "The sum of the times that they ran.", ("queue", "kind", "outcome"),
    ),
    "deliveries": Metric(
        "installation", "gauge",
        "Deliveries, counted up to 10000: waiting without a job (endpoint paused, tenant over quota), or being sent.",
        ("state",),
    ),
    "endpoints": Metric("installation", "gauge", "Webhook endpoints.", ("state",)),
    "partition_days_ahead": Metric(
        "installation", "gauge", "Days after today that have partitions; negative: today has none.",
    ),
    "default_partition_jobs": Metric(
        "installation", "gauge", "Jobs in the default partition, counted up to 10000: their day had no partition.",
    ),
    "oldest_transaction_seconds": Metric(
        "installation", "gauge",
        "Age of the oldest transaction in this database; missing where pg_read_all_stats is not granted.",
    ),
    "dead_rows": Metric(
        "installation", "gauge", "Dead rows of the hot tables, as PostgreSQL estimates them.", ("table",),
    ),
    "http_streams": Metric("server", "gauge", "Streams and waiting requests that are open."),
    "http_answers_total": Metric("server", "counter", "Answers by status.", ("status",)),
    "replica_staleness_seconds": Metric(
        "server", "gauge",
        "How old what LEASEHOLD_READ_URL shows may be, at most; beyond the bound lists are read from the primary.",
    ),
    "slots": Metric("worker", "gauge", "Attempts that this worker can run at once."),
    "leases": Metric("worker", "gauge", "Attempts that this worker runs."),
    "beat_age_seconds": Metric(
        "worker", "gauge", "Since the newest beat that got through was sent. Beyond the lease, all is lost.",
    ),
    "claims_total": Metric("worker", "counter", "Attempts that were granted.", ("queue",)),
    "attempts_total": Metric(
        "worker", "counter",
        "Attempts whose end the database accepted; kind is `unknown` where there is no handler.",
        ("queue", "kind", "outcome"),
    ),
    "fenced_total": Metric("worker", "counter", "Ends that the database refused: the lease was another's."),
    "dropped_total": Metric("worker", "counter", "Attempts of which nothing was written: their lease was lost."),
    "lost_total": Metric("worker", "counter", "How often this worker was declared lost."),
    "exchange_failures_total": Metric("worker", "counter", "Exchanges with the database that failed."),
    "exchange_seconds": Metric("worker", "histogram", "Time of one exchange: finish what ended, claim what fits."),
    "wait_seconds": Metric(
        "worker", "histogram",
        "From run_at to the start of a first attempt; a sample, at most 100 of one exchange in each second.",
        ("queue",),
    ),
    "run_seconds": Metric("worker", "histogram", "From the start of an attempt to its end.", ("kind",)),
    "pool_connections": Metric(
        "process", "gauge", "Connections to the database: in use, idle; and calls that wait for one.",
        ("pool", "state"),
    ),
    "pool_size": Metric("process", "gauge", "Connections that a pool may open.", ("pool",)),
    "event_loop_lag_seconds": Metric(
        "process", "gauge", "The worst of the last minute: how late the event loop came to something that was due.",
    ),
    "build_info": Metric("process", "gauge", "Always 1; the version is a label.", ("version",)),
}  # fmt: skip


class Sample(NamedTuple):
    """One line: ``name`` is in the catalogue, but for the suffix of a histogram's parts."""

    name: str
    labels: dict[str, str]
    value: float
    suffix: str = ""


class Counts:
    """The counters and histograms of one process."""

    def __init__(self) -> None:
        self._counters: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._histograms: dict[tuple[str, tuple[str, ...]], _Histogram] = {}

    def add(self, name: str, *labels: str, n: int = 1) -> None:
        self._counters[name, labels] += n

    def observe(self, name: str, *labels: str, seconds: float) -> None:
        histogram = self._histograms.get((name, labels))
        if histogram is None:
            histogram = self._histograms[name, labels] = _Histogram()
        histogram.add(seconds)

    def samples(self) -> Iterator[Sample]:
        for (name, values), count in sorted(self._counters.items()):
            yield Sample(name, _named(name, values), count)
        for (name, values), histogram in sorted(self._histograms.items()):
            yield from histogram.samples(name, _named(name, values))


class _Histogram:
    __slots__ = ("_classes", "_sum")

    def __init__(self) -> None:
        self._classes = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._classes[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def samples(self, name: str, labels: dict[str, str]) -> Iterator[Sample]:
        below = 0
        for bound, count in zip((*BUCKETS, "+Inf"), self._classes, strict=True):
            below += count
            yield Sample(name, labels | {"le": str(bound)}, below, "_bucket")
        yield Sample(name, labels, self._sum, "_sum")
        yield Sample(name, labels, below, "_count")


def _named(name: str, values: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(CATALOGUE[name].labels, values, strict=True))


class LoopLag:
    """``async with LoopLag() as lag``: how late the event loop is, at worst within the last minute."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()  # when, how late
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    @property
    def seconds(self) -> float:
        return max((late for _, late in self._seen), default=0.0)

    async def _watch(self) -> None:
        while True:
            due = time.monotonic() + _LAG_SECONDS
            await asyncio.sleep(_LAG_SECONDS)
            now = time.monotonic()
            self._seen.append((now, max(0.0, now - due)))
            while self._seen[0][0] < now - _LAG_WINDOW_SECONDS:
                self._seen.popleft()


def exposition(samples: Iterable[Sample]) -> str:
    """The text format of Prometheus, one family after another in the order of the catalogue."""
    families: dict[str, list[Sample]] = {}
    for sample in samples:
        families.setdefault(sample.name, []).append(sample)
    return "".join(f"{line}\n" for name in CATALOGUE if name in families for line in _family(name, families[name]))


def _family(name: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP leasehold_{name} {CATALOGUE[name].help}"
    yield f"# TYPE leasehold_{name} {CATALOGUE[name].type}"
    for sample in samples:
        inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in sample.labels.items())
        yield f"leasehold_{name}{sample.suffix}{f'{{{inside}}}' if inside else ''} {_number(sample.value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """All its digits: a counter of millions must not lose the last ones."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
