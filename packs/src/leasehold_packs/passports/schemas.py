"""The bodies of requests and answers of the routes."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from leasehold_packs.passports.attributes import Category, Reader, Tier
from leasehold_packs.passports.model import PassportSummary, StoredFact

Name = Annotated[str, Field(min_length=1, max_length=200)]
Pointer = Annotated[str, Field(max_length=2_000, pattern="^/", examples=["/generalProductInformation/batteryMass"])]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class IssuerRequest(_Request):
    slug: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,39}$", examples=["acme"])]
    name: Name
    host: Annotated[str, Field(max_length=250, examples=["passports.acme.example"])]


class RevokeKeyRequest(_Request):
    """Nothing holds that the key signed for this moment or a later one."""

    since: AwareDatetime


class PassportRequest(_Request):
    name: Name
    category: Category
    gtin: Annotated[str, Field(pattern="^[0-9]{8,14}$")] | None = None
    serial: Annotated[str, Field(max_length=20)] = ""
    model_id: UUID | None = None


class ValidityRequest(_Request):
    valid_until: AwareDatetime | None


class FactRequest(_Request):
    """Write numbers of more than 15 digits as text."""

    pointer: Pointer
    value: str | bool | int | float | None
    unit: Annotated[str, Field(min_length=1, max_length=40)] | None = None


class CompileRequest(_Request):
    """Without a snapshot, the current facts are sealed; without ``issued_at``, it is now."""

    package_id: UUID
    snapshot_id: UUID | None = None
    issued_at: AwareDatetime | None = None
    activate: bool = True


class RevokeRequest(_Request):
    reason: Name


class InvitationRequest(_Request):
    reader: Literal["legitimate_interest", "authority"]
    party: Name
    ends_at: AwareDatetime


class BulkRequest(_Request):
    """``document_version_id`` is a sheet with the column ``serial`` and one for each fact of the battery."""

    package_id: UUID
    document_version_id: UUID
    issued_at: AwareDatetime | None = None
    activate: bool = True


class RecompileRequest(_Request):
    """Of a passport and the batteries of its model, or of all. With ``dry_run``, the job only says what differs."""

    package_id: UUID
    passport_id: UUID | None = None
    issued_at: AwareDatetime | None = None
    activate: bool = True
    dry_run: bool = True


class ReplayRequest(_Request):
    sample: Annotated[int, Field(ge=1, le=10_000)] = 100


class ExportRequest(_Request):
    """All that is active, or one passport and the batteries of its model; ``all_versions`` takes older ones, too."""

    reader: Reader = Reader.PUBLIC
    passport_id: UUID | None = None
    all_versions: bool = False
    keep_days: Annotated[float, Field(gt=0, le=3650)] = 7.0


class VerifyRequest(_Request):
    """The parts of a bundle. Keys of an issuer that is not of this server come as its did document."""

    payload: dict[str, Any]
    receipt: dict[str, Any]
    proof: dict[str, Any]
    log: dict[str, Any] | None = None
    disclosure: dict[str, Any]
    did: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMade:
    job_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMade:
    fact_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionMade:
    version_id: UUID
    job_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkMade:
    bulk_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationMade:
    """The link shows what the reader may see; the token in it is shown this once."""

    invitation_id: UUID
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportPage:
    """``next_after`` is where the next page begins; null on the last one."""

    data: list[PassportSummary]
    next_after: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPage:
    """``next_after`` is where the next page begins; null on the last one."""

    data: list[StoredFact]
    next_after: int | None


def fact_page(rows: list[StoredFact], limit: int) -> FactPage:
    """Facts that were asked for with one more than the page may have."""
    data, more = rows[:limit], len(rows) > limit
    return FactPage(data=data, next_after=data[-1].fact_id if more else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAttribute:
    number: int
    name: str
    at: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessReport:
    """``share`` is of what the category requires, in percent."""

    share: int
    present: int
    missing: list[MissingAttribute]
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldShown:
    """A field of a version with its tier, and what it was derived from."""

    pointer: str
    tier: Tier
    value: Any
    derivation: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkProgress:
    """``refused`` are lines that no version was made of, with the reasons."""

    bulk_id: UUID
    model_id: UUID
    state: Literal["running", "done"]
    next_line: int
    made: int
    refused: list[tuple[int, str]]
    versions: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictFinding:
    at: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """``state`` is what this server knows of the version: active, superseded, revoked, or null."""

    ok: bool
    shown: list[str]
    state: str | None
    findings: list[VerdictFinding]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntries:
    """The leaves from ``start`` on, in hexadecimal: a thousand at most."""

    start: int
    leaves: list[str]
