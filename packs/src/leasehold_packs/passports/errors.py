"""The one error of the passports pack: a code that programs act on, and what was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from leasehold.errors import BadInput


class Code(StrEnum):
    """Why a passport job ended. Only the retryable ones may pass by themselves."""

    SNAPSHOT_NOT_READY = "SNAPSHOT_NOT_READY"
    RULE_PKG_NOT_PUBLISHED = "RULE_PKG_NOT_PUBLISHED"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    RULE_TYPE_ERROR = "RULE_TYPE_ERROR"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    SIGNING_KEY_MISSING = "SIGNING_KEY_MISSING"
    HOST_NOT_PROVEN = "HOST_NOT_PROVEN"
    DB_UNAVAILABLE = "DB_UNAVAILABLE"
    QUEUE_UNAVAILABLE = "QUEUE_UNAVAILABLE"
    ABANDONED = "ABANDONED"

    @property
    def retryable(self) -> bool:
        return self in (Code.DB_UNAVAILABLE, Code.QUEUE_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong: ``at`` is a JSON pointer, a cell or the name of a part; ``code`` says what kind."""

    at: str
    message: str
    code: str = Code.VALIDATION_ERROR


#: What is kept of the findings of one error.
_MAX_FINDINGS = 100


class PassportError(BadInput):
    """Ends a job for good unless ``retryable``; ``findings`` has every single thing that is wrong."""

    sqlstate: ClassVar[str | None] = None  # no function of the engine raises it

    def __init__(self, code: Code, message: str, *, hint: str | None = None, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.findings = tuple(findings)

    @property
    def retryable(self) -> bool:
        return self.code.retryable

    def as_json(self) -> dict[str, object]:
        """As documents and versions keep it."""
        findings = [
            {"at": each.at, "message": each.message, "code": each.code} for each in self.findings[:_MAX_FINDINGS]
        ]
        return {"code": self.code, "message": str(self)[:2000], "findings": findings}


def invalid(message: str, *, hint: str | None = None, findings: Sequence[Finding] = ()) -> PassportError:
    return PassportError(Code.VALIDATION_ERROR, message, hint=hint, findings=findings)


def abandoned(reason: str) -> PassportError:
    """Somebody gave it up."""
    return PassportError(Code.ABANDONED, reason)


def too_large(message: str) -> PassportError:
    return PassportError(Code.PAYLOAD_TOO_LARGE, message, hint="split the document, or leave out what is not needed")
