"""What webhooks tell: the envelope of an event, and its data by type."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field


class JobEnded(BaseModel):
    """What ``job.succeeded``, ``job.failed``, ``job.dead`` and ``job.canceled`` tell."""

    job_id: UUID
    kind: str
    queue: str
    state: Literal["succeeded", "failed", "dead", "canceled"]
    key: str | None
    tags: list[str] | None
    created_at: datetime
    finished_at: datetime
    attempts: int
    error: dict[str, Any] | None


class EndpointDisabled(BaseModel):
    endpoint_id: UUID
    reason: str


class EndpointTest(BaseModel):
    message: str


class ReportReady(BaseModel):
    report_id: UUID
    title: str
    format: Literal["html", "csv", "json", "xlsx"]
    lines: int
    expires_at: datetime


class WebhookEvent(BaseModel):
    """The envelope of every event. The same ``id`` is the same event: it may come twice."""

    id: UUID
    type: str = Field(examples=["job.dead", "order.paid"])
    api_version: Literal["1"]
    tenant: UUID
    subject_type: str
    subject_id: str
    occurred_at: datetime
    data: Any = Field(description="What happened, by type.")
