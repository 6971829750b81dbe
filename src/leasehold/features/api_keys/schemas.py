"""The bodies of requests for keys and tickets, and of the answers that hold one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from leasehold.features.api_keys.model import KeyInfo, Scope
from leasehold.http.types import Ask, Id, Moment, Name


class KeyRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "shop back end", "scopes": ["jobs:read", "jobs:write"]},
                {"name": "on call", "scopes": ["jobs:read"], "expires_at": "2030-01-31T08:00:00Z"},
                {"name": "gpu worker", "scopes": ["work"], "queues": ["gpu"]},
            ]
        },
    )

    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1, max_length=5)
    queues: list[Name] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Where a key with the scope `work` may work; no other key has them.",
    )
    expires_at: Moment | None = None
    tenant: str | None = Field(
        None, min_length=1, max_length=100, description="Name or id; only the operator says it, for a tenant's key."
    )


class TicketRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"job_id": "0190a000-0000-7000-8000-00000000000a"},
                {"flow_id": "0190b000-0000-7000-8000-00000000000b"},
            ]
        },
    )

    job_id: Id | None = Field(None, description="Whose stream; without it and a flow: `/v1/events` or `/v1/logs`.")
    flow_id: Id | None = Field(None, description="Of which flow, instead of a job.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.job_id and self.flow_id:
            raise ValueError("a ticket is for a job or for a flow, not for both")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMade(KeyInfo):
    """A key with its secret."""

    key: Annotated[str, Field(description="The whole key, shown this once.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketMade:
    """A ticket for one stream."""

    ticket: str
    job_id: UUID | None
    flow_id: UUID | None
    expires_at: datetime
