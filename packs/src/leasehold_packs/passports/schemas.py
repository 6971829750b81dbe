"""The bodies of requests and answers of the routes."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from leasehold_packs.passports.attributes import Category, Reader

Name = Annotated[str, Field(min_length=1, max_length=200)]
Pointer = Annotated[str, Field(max_length=2_000, pattern="^/", examples=["/generalProductInformation/batteryMass"])]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class IssuerIn(_In):
    slug: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,39}$", examples=["acme"])]
    name: Name
    host: Annotated[str, Field(max_length=250, examples=["passports.acme.example"])]


class IssuerOut(BaseModel):
    """``proof_url`` is to publish the ``challenge``: that proves the host, and then the issuer can have a key."""

    slug: str
    name: str
    host: str
    did: str
    host_proven_at: datetime | None
    proof_url: str
    challenge: str


class KeyOut(BaseModel):
    key_id: str
    issuer: str
    not_before: datetime
    not_after: datetime | None
    revoked_at: datetime | None


class Keys(BaseModel):
    data: list[KeyOut]


class RevokeKeyIn(_In):
    """Nothing holds that the key signed for this moment or a later one."""

    since: AwareDatetime


class PackageOut(BaseModel):
    package_id: UUID
    name: str
    version: str
    state: Literal["draft", "published", "retired"]
    hash: str
    author: str
    created_at: datetime
    published_at: datetime | None


class Packages(BaseModel):
    data: list[PackageOut]


class PassportIn(_In):
    name: Name
    category: Category
    gtin: Annotated[str, Field(pattern="^[0-9]{8,14}$")] | None = None
    serial: Annotated[str, Field(max_length=20)] = ""
    model_id: UUID | None = None


class PassportOut(BaseModel):
    passport_id: UUID
    name: str
    category: Category
    gtin: str | None
    serial: str
    model_id: UUID | None
    created_at: datetime


class Passports(BaseModel):
    data: list[PassportOut]
    next_after: UUID | None


class DocumentOut(BaseModel):
    document_version_id: UUID
    document_id: UUID
    passport_id: UUID
    name: str
    role: Literal["facts", "schema", "sheet", "evidence"]
    under: str
    number: int
    sha256: str
    media_type: str
    schema_id: UUID | None
    state: Literal["received", "read", "unreadable"]
    encoding: str | None
    facts: int | None
    errors: int | None
    problem: Any
    valid_until: datetime | None
    expired_at: datetime | None
    author: str
    received_at: datetime


class ValidityIn(_In):
    valid_until: AwareDatetime | None


class Documents(BaseModel):
    data: list[DocumentOut]


class FactOut(BaseModel):
    fact_id: int
    pointer: str | None
    type: str
    text: str
    unit: str | None
    document: str
    ref: str
    state: Literal["ok", "error", "superseded", "dismissed"]
    message: str | None
    author: str
    supersedes: int | None
    created_at: datetime


class Facts(BaseModel):
    data: list[FactOut]
    next_after: int | None


class FactIn(_In):
    """Write numbers of more than 15 digits as text."""

    pointer: Pointer
    value: str | bool | int | float | None
    unit: Annotated[str, Field(min_length=1, max_length=40)] | None = None


class FactMade(BaseModel):
    fact_id: int


class AttributeOut(BaseModel):
    number: int
    name: str
    at: list[str]


class CompletenessOut(BaseModel):
    """``share`` is of what the category requires, in percent."""

    share: int
    present: int
    missing: list[AttributeOut]
    errors: int


class SnapshotOut(BaseModel):
    snapshot_id: UUID
    passport_id: UUID
    base_id: UUID | None
    state: Literal["open", "sealed"]
    hash: str | None
    author: str
    created_at: datetime
    sealed_at: datetime | None


class Snapshots(BaseModel):
    data: list[SnapshotOut]


class FactChange(BaseModel):
    """A fact has its type, text, unit and source; null where there is none."""

    pointer: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class FactChanges(BaseModel):
    data: list[FactChange]


class CompileIn(_In):
    """Without a snapshot, the current facts are sealed; without ``issued_at``, it is now."""

    package_id: UUID
    snapshot_id: UUID | None = None
    issued_at: AwareDatetime | None = None
    activate: bool = True


class VersionMade(BaseModel):
    version_id: UUID
    job_id: UUID


class VersionOut(BaseModel):
    version_id: UUID
    passport_id: UUID
    number: int
    snapshot_id: UUID
    package_id: UUID
    key_id: str
    issued_at: datetime
    previous: str | None
    activate: bool
    state: Literal["requested", "compiled", "signed", "active", "superseded", "revoked", "failed"]
    problem: Any
    receipt_hash: str | None
    link: str | None
    author: str
    created_at: datetime
    changed_at: datetime


class Versions(BaseModel):
    data: list[VersionOut]


class EventOut(BaseModel):
    event_id: UUID
    version_id: UUID | None
    type: str
    at: datetime


class Events(BaseModel):
    data: list[EventOut]


class RevokeIn(_In):
    reason: Name


class Replay(BaseModel):
    same: bool


class FieldsOut(BaseModel):
    data: list[dict[str, Any]]


class InvitationIn(_In):
    reader: Literal["legitimate_interest", "authority"]
    party: Name
    ends_at: AwareDatetime


class InvitationMade(BaseModel):
    """The link shows what the reader may see; the token in it is shown this once."""

    invitation_id: UUID
    link: str


class InvitationOut(BaseModel):
    invitation_id: UUID
    passport_id: UUID | None
    reader: str
    party: str
    ends_at: datetime
    author: str


class Invitations(BaseModel):
    data: list[InvitationOut]


class BulkIn(_In):
    """``document_version_id`` is a sheet with the column ``serial`` and one for each fact of the battery."""

    package_id: UUID
    document_version_id: UUID
    issued_at: AwareDatetime | None = None
    activate: bool = True


class BulkOut(BaseModel):
    bulk_id: UUID
    model_id: UUID
    state: Literal["running", "done"]
    next_line: int
    made: int
    refused: Any
    versions: dict[str, int]


class BulkMade(BaseModel):
    bulk_id: UUID


class RecompileIn(_In):
    """Of a passport and the batteries of its model, or of all. With ``dry_run``, the job only says what differs."""

    package_id: UUID
    passport_id: UUID | None = None
    issued_at: AwareDatetime | None = None
    activate: bool = True
    dry_run: bool = True


class ReplayIn(_In):
    sample: Annotated[int, Field(ge=1, le=10_000)] = 100


class ExportIn(_In):
    """All that is active, or one passport and the batteries of its model; ``all_versions`` takes older ones, too."""

    reader: Reader = Reader.PUBLIC
    passport_id: UUID | None = None
    all_versions: bool = False
    keep_days: Annotated[float, Field(gt=0, le=3650)] = 7.0


class JobMade(BaseModel):
    job_id: UUID


class VerifyIn(_In):
    """The parts of a bundle. Keys of an issuer that is not of this server come as its did document."""

    payload: dict[str, Any]
    receipt: dict[str, Any]
    proof: dict[str, Any]
    log: dict[str, Any] | None = None
    disclosure: dict[str, Any]
    did: dict[str, Any] | None = None


class FindingOut(BaseModel):
    at: str
    code: str
    message: str


class VerdictOut(BaseModel):
    """``state`` is what this server knows of the version: active, superseded, revoked, or null."""

    ok: bool
    shown: list[str]
    state: str | None
    findings: list[FindingOut]


class LogEntries(BaseModel):
    """The leaves from ``start`` on, in hexadecimal: a thousand at most."""

    start: int
    leaves: list[str]
