"""The bodies of requests about endpoints, and of their answers."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field

from leasehold.features.webhooks.model import Endpoint, SignatureFormat
from leasehold.http.types import Ask, Moment, Seconds, whole

HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=100, examples=["X-Shop"])]
HeaderValue = Annotated[str, Field(pattern=r"^([!-~]([ -~\t]*[!-~])?)?$", max_length=2000)]
EventType = Annotated[
    str, Field(pattern=r"^([a-z0-9_]+(\.[a-z0-9_]+)*(\.\*)?|\*)$", max_length=100, examples=["job.dead", "job.*", "*"])
]
InFlight = Annotated[int, Field(strict=True, ge=1, le=100), BeforeValidator(whole)]
PerMinute = Annotated[int, Field(strict=True, ge=1, le=60_000), BeforeValidator(whole)]
Reason = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=1000)]  # PostgreSQL keeps no NUL


class HeaderNames(Ask):
    """Other names for the headers of a signature."""

    signature: HeaderName | None = None
    message_id: HeaderName | None = None
    timestamp: HeaderName | None = None


class EndpointRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"url": "https://example.com/hooks", "events": ["job.*"]},
                {
                    "url": "https://example.com/orders",
                    "events": ["job.dead", "order.paid"],
                    "format": "sha256",
                    "header_names": {"signature": "X-Shop-Signature"},
                    "headers": {"Authorization": "Bearer a token"},
                },
            ]
        },
    )

    url: str = Field(
        pattern="^https?://", max_length=2048, description="https, or http to a host that an operator allows."
    )
    events: list[EventType] = Field(min_length=1, max_length=100)
    format: SignatureFormat = Field("standard", description="How deliveries are signed.")
    header_names: HeaderNames = Field(default_factory=HeaderNames)
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict,
        max_length=20,
        description="Sent with every delivery. Their values are never shown again.",
        json_schema_extra={"additionalProperties": False},
    )
    max_in_flight: InFlight = Field(10, description="Deliveries at once.")
    max_per_minute: PerMinute | None = Field(None, description="Deliveries a minute; by default as it answers.")
    ordered: bool = Field(False, strict=True, description="One after the other: what fails holds what comes after it.")
    timeout_s: Annotated[float, Seconds(1, 60)] = Field(15.0, description="Time to answer.")
    disable_after_s: Annotated[float, Seconds(3600, 31_104_000)] = Field(
        432_000.0, description="Seconds of nothing but failures that disable it."
    )


class PauseRequest(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reason": "the receiver is being moved"}, {}]}
    )

    reason: Reason | None = Field(None, description="Shown with the endpoint.")


class RotateRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"overlap_s": 172_800}, {}]})

    overlap_s: Annotated[float, Seconds(0, 31_536_000)] = Field(
        86_400.0, description="Seconds that the old secrets go on signing."
    )


class RecoverRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"since": "2026-01-31T08:00:00Z"}, {"since": "2026-01-31T09:00:00+01:00"}]},
    )

    since: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointMade(Endpoint):
    """An endpoint with its secret."""

    secret: Annotated[str, Field(description="What the receiver verifies with, shown this once.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRotated:
    """The new secret of an endpoint."""

    endpoint_id: UUID
    secret: Annotated[str, Field(description="What the receiver verifies with from now on, shown this once.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRecovered:
    recovered: Annotated[int, Field(description="Deliveries that are on their way.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySent:
    delivery_id: UUID
