"""Endpoints, and what they are sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID

if TYPE_CHECKING:
    from leasehold.sealing import Sealed

SignatureFormat = Literal["standard", "stripe", "sha256", "ed25519"]
DeliveryState = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Whom events are sent to. ``headers`` are names; ``secrets`` is how many sign; the ``url`` is masked."""

    endpoint_id: UUID
    url: str
    events: list[str]
    format: SignatureFormat
    header_names: dict[str, str]
    headers: list[str]
    max_in_flight: int
    timeout_s: float
    disable_after_s: float
    state: Literal["enabled", "paused", "disabled"]
    reason: str | None
    state_at: datetime
    created_at: datetime
    failing_since: datetime | None
    resting_until: datetime | None
    secrets: int
    max_per_minute: int | None
    ordered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one endpoint."""

    delivery_id: UUID
    event_id: UUID
    endpoint_id: UUID
    job_id: UUID | None
    type: str
    subject_type: str
    subject_id: str
    state: DeliveryState
    reason: str | None
    attempts: int
    status: int | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """What was sent and what came back, redacted."""

    n: int
    at: datetime
    request_headers: dict[str, str]
    status: int | None
    response_body: str | None
    error: str | None
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """What is to be done about a delivery; there is a letter for the verdict ``send`` only."""

    verdict: str
    delay_s: float | None
    reason: str | None
    letter: "Letter | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What is to be sent where, signed with which secrets."""

    event_id: UUID
    url: str
    format: str
    header_names: dict[str, str]
    timeout_s: float
    body: bytes
    secrets: "list[Sealed]"  # newest first
    headers: "Sealed | None"
