"""The bodies of requests about tenants."""

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from leasehold.http.types import Ask, Name, Number, Running, whole

Queued = Annotated[int, Field(strict=True, ge=1, le=1_000_000_000), BeforeValidator(whole)]
Most = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1), BeforeValidator(whole)]


class QuotaChange(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"most": 200}, {"most": None}]})

    most: Most | None = Field(description="How many the tenant may have; null for as many as are usual.")


class TenantRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "acme"}, {"name": "globex"}]})

    name: Name


class TenantChange(Ask):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"weight": 2}, {"max_running": 20, "max_queued": 5000}]}
    )

    weight: Number | None = Field(None, ge=0.02, le=100)
    max_running: Running | None = None
    max_queued: Queued | None = None
