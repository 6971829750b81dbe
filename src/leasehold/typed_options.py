"""The options of jobs, for type checkers. Made from options.csv by `python -m tools.generate`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from leasehold.durations import Duration


class _CommonOptions(TypedDict, total=False):
    queue: str | None
    """Queue of the job; it must exist. Default default."""
    priority: int | None
    """0 critical, 1 high, 2 normal, 3 low. Default 2."""
    attempts: int | None
    """Number of attempts before the job is dead. Default 5."""
    retry_base_s: Duration | None
    """Delay in seconds before the second attempt; each later delay is twice as long. Default 1."""
    retry_cap_s: Duration | None
    """Longest delay in seconds between two attempts. Default 3600."""
    timeout: Duration | None
    """Hard limit of one attempt in seconds. Default 600."""
    delay: Duration | None
    """Seconds before the first attempt, from the tick of a schedule or the turn of a step."""
    version: int | None
    """Version of the payload's shape. Default 1."""
    tags: Sequence[str] | None
    """Words to find the job by."""
    meta: Mapping[str, Any] | None
    """Free JSON object of at most 16 KiB, which the job carries and shows."""
    group: str | None
    """Jobs of one group of a tenant start in order, group_limit of them at once."""
    group_limit: int | None
    """How many jobs of the group run at once; its first waiting job decides. Default 1."""
    group_hold: bool | None
    """When this job is dead or failed, its group waits until the job is retried. Default false."""
    group_gap: Duration | None
    """Shortest time in seconds between two starts of the group."""
    gate: str | None
    """Gate that every start passes; `{customer}` in it stands for that member of the payload."""


class StepOptions(_CommonOptions, total=False):
    """What the job of a step may be given."""

    run_at: datetime | None
    """No attempt starts before this time (default now), at most ten years ahead; overrides delay_s."""
    expires_at: datetime | None
    """No attempt starts after this time; the job is canceled when its turn comes."""
    traceparent: str | None
    """W3C trace context of the caller."""


class JobOptions(StepOptions, total=False):
    """What an enqueue may be given."""

    key_window: Duration | None
    """Seconds for which a key belongs to its job. Default 86400."""
    unique: str | None
    """At most one job of the tenant and kind waits under this key; excludes group and key."""
    on_duplicate: Literal["keep", "replace", "push"] | None
    """With unique: keep the waiting job, replace its payload, or push its time too. Default keep."""
    copied_from: UUID | str | None
    """Job that this one is a copy of."""


class HandlerOptions(_CommonOptions, total=False):
    """What a handler says of the jobs of its kind, and how a worker runs them."""

    key_window: Duration | None
    """Seconds for which a key belongs to its job. Default 86400."""
    on_duplicate: Literal["keep", "replace", "push"] | None
    """With unique: keep the waiting job, replace its payload, or push its time too. Default keep."""

    retry: tuple[Duration, Duration]
    """retry_base_s and retry_cap_s: the first delay and the longest one."""
    isolate: bool
    """Each attempt runs in a process of its own."""
    memory_mb: int | None
    """Memory that the process of an attempt may take; with isolate."""
    soft_timeout: Duration | None
    """Seconds after which ctx.timed_out is true. Default half of the timeout."""


class ScheduleOptions(_CommonOptions, total=False):
    """When a schedule fires, and what its jobs are given."""

    cron: str | None
    """Cron line; one of cron, every and at."""
    every: Duration | None
    """Seconds between two ticks."""
    at: datetime | None
    """The only tick."""
    zone: str
    """Time zone of the cron line. Default UTC."""
    starts_at: datetime | None
    """No tick before this time."""
    ends_at: datetime | None
    """No tick after this time."""
    jitter: Duration
    """Seconds by which a tick comes later at most. Default 0."""
    overlap: Literal["skip", "queue", "cancel_old"] | None
    """What a tick does while the job of the last one has not ended."""
    catch_up: Literal["none", "one", "all"]
    """Which ticks are made up for after a stop. Default one."""
    catch_up_max: int
    """How many of the newest ticks catch_up=all makes up for. Default 100."""
    tick_as: str | None
    """Member of the payload that gets the tick."""
    tenant: str | UUID | None
    """Name or id of the tenant. Default that of LEASEHOLD_TENANT."""
