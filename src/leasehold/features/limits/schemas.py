"""The bodies of requests about limits, pauses and gates, and of their answers."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field

from leasehold.http.types import Ask, Number, Running, Seconds, whole

Many = Annotated[int, Field(strict=True, ge=1, le=1_000_000), BeforeValidator(whole)]
Failures = Annotated[int, Field(strict=True, ge=1, le=100_000), BeforeValidator(whole)]
Probes = Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole)]
#: A gate; a class of gates ends in a colon.
GateName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@:-]{0,199}$", max_length=200, examples=["host:example.com", "stripe"])
]


class LimitRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"max_running": 20}, {"max_running": None}]}
    )

    max_running: Running | None = Field(description="Jobs at once; null removes the limit.")


class GateRule(Ask):
    """A rate, a breaker, or both."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"rate": 10, "per_s": 60, "burst": 2}, {"rate": 5, "failures": 5, "cooldown_s": 60}]
        },
    )

    rate: Many | None = Field(None, description="So many starts in per_s seconds; any number if it is left out.")
    per_s: Annotated[float, Seconds(0.001, 2_592_000)] | None = Field(None, description="Default 1.")
    burst: Many | None = Field(None, description="Starts at once after a rest; 1 if it is left out.")
    failures: Failures | None = Field(None, description="Failures that open the breaker; none if it is left out.")
    ratio: Number | None = Field(None, ge=0, le=1, description="Share of the starts that they must be; 0.5.")
    window_s: Annotated[float, Seconds(1, 86_400)] | None = Field(
        None, description="Seconds in which they are counted; 60."
    )
    cooldown_s: Annotated[float, Seconds(0.1, 86_400)] | None = Field(
        None, description="Seconds that the breaker stays open; 30."
    )
    probes: Probes | None = Field(None, description="Jobs that may then try; 1.")


class GateHold(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"seconds": 60}, {"seconds": 3600}]})

    seconds: Annotated[float, Seconds(0, 2_592_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePaused:
    queue: str
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KindPaused:
    kind: str
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPaused:
    tenant_id: UUID
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimited:
    queue: str
    max_running: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindLimited:
    kind: str
    max_running: int | None
