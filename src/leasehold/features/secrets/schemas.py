"""The body of a request to keep a secret."""

from pydantic import ConfigDict, Field

from leasehold.http.types import Ask


class SecretRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"value": "the key of a payment service"}, {"value": "correct horse battery"}]},
    )

    value: str = Field(
        min_length=6, max_length=65_536, description="At most 65,536 bytes of UTF-8. Never shown again, to anybody."
    )
