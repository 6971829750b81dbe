"""The rows of this pack as values: what stores give, and what answers are made of."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from typing_extensions import TypedDict

from leasehold_packs.passports.attributes import Category
from leasehold_packs.passports.facts import Fact, Source, leaf_of
from leasehold_packs.passports.keys import PublicKey

VersionState = Literal["requested", "compiled", "signed", "active", "superseded", "revoked", "failed"]
FactState = Literal["ok", "error", "superseded", "dismissed"]


class ProblemFinding(TypedDict):
    at: str
    message: str
    code: str


class Problem(TypedDict, total=False):
    """Why a document is unreadable or a version failed, with all that was found; or why it was revoked."""

    code: str
    message: str
    findings: list[ProblemFinding]
    reason: str


# -- issuers and keys -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """``proof_url`` is to publish the ``challenge``: that proves the host, and then the issuer can have a key."""

    slug: str
    name: str
    host: str
    did: str
    host_proven_at: datetime | None
    proof_url: str
    challenge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    key_id: str
    issuer: str
    not_before: datetime
    not_after: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A public key of an issuer."""

    issuer: str
    public_key: bytes
    not_before: datetime
    not_after: datetime | None
    revoked_at: datetime | None

    def as_public_key(self) -> PublicKey:
        return PublicKey(
            issuer=self.issuer,
            raw=self.public_key,
            not_before=self.not_before,
            not_after=self.not_after,
            revoked=self.revoked_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A key by the name of its secret; ``is_current``: it signs now."""

    key_id: str
    issuer: str
    secret: str
    revoked_at: datetime | None = None
    is_current: bool = False

    @property
    def method(self) -> str:
        return f"{self.issuer}#{self.key_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHead:
    """A signed head of the log of an issuer."""

    size: int
    root: bytes
    at: datetime
    key_id: str


# -- passports, documents and facts ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Passport:
    passport_id: UUID
    name: str
    category: Category
    gtin: str | None
    serial: str
    model_id: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportSummary(Passport):
    """``state`` is that of the active version, or the newest; ``share`` is how complete it is, in percent."""

    state: VersionState | None
    share: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a document, and how its reading went."""

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
    problem: Problem | None
    valid_until: datetime | None
    expired_at: datetime | None
    author: str
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredDocument:
    document_version_id: UUID
    passport_id: UUID
    name: str
    valid_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentFact:
    """A fact as it is kept: its value has a type and a text, and no pointer where a cell could not be read."""

    fact_id: int
    pointer: str | None
    type: str
    text: str
    unit: str | None
    document: str
    ref: str
    state: FactState
    message: str | None

    def as_fact(self) -> Fact:
        source = Source(document=self.document, ref=self.ref)
        return Fact(pointer=self.pointer or "", value=leaf_of(self.type, self.text), unit=self.unit, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFact(CurrentFact):
    author: str
    supersedes: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    event_id: UUID
    version_id: UUID | None
    type: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Who may see more of a passport than the public, and until when."""

    invitation_id: UUID
    passport_id: UUID | None
    reader: str
    party: str
    ends_at: datetime
    author: str


# -- snapshots, rules and versions ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSummary:
    snapshot_id: UUID
    passport_id: UUID
    base_id: UUID | None
    state: Literal["open", "sealed"]
    hash: str | None
    author: str
    created_at: datetime
    sealed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePackage:
    package_id: UUID
    name: str
    version: str
    state: Literal["draft", "published", "retired"]
    hash: str
    author: str
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePackageSource(RulePackage):
    source: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What versions are made of. ``issued_at`` is fixed here, so that a retry makes the same bytes."""

    package_id: UUID
    issued_at: datetime
    activate: bool
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    version_id: UUID
    passport_id: UUID
    number: int
    snapshot_id: UUID
    package_id: UUID
    key_id: str
    issued_at: datetime
    previous: str | None
    activate: bool
    state: VersionState
    problem: Problem | None
    receipt_hash: str | None
    link: str | None
    author: str
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionContent(Version):
    """With all that its next step, a bundle, a QR code or a replay of it needs."""

    salt_key: bytes = field(repr=False)
    receipt: bytes | None
    proof: str | None

    @property
    def signed_receipt(self) -> bytes:
        if self.receipt is None:
            raise ValueError(f"version {self.version_id} has no receipt")
        return self.receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedVersion:
    version_id: UUID
    passport_id: UUID
    number: int
    state: VersionState
    issued_at: datetime
    receipt: bytes
    proof: str
    salt_key: bytes = field(repr=False)
    name: str
    gtin: str | None
    serial: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """Many batteries of one model, from the lines of a sheet; ``refused`` are lines with the reasons."""

    bulk_id: UUID
    model_id: UUID
    document_version_id: UUID
    base_id: UUID
    package_id: UUID
    key_id: str
    issued_at: datetime
    activate: bool
    state: Literal["running", "done"]
    next_line: int
    made: int
    refused: list[tuple[int, str]]
    author: str
    created_at: datetime

    @property
    def order(self) -> Order:
        return Order(
            package_id=self.package_id,
            issued_at=self.issued_at,
            activate=self.activate,
            author=self.author,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVersion:
    """A published version with the tiers that its reader may see; ``reader`` is null for a link that holds no more."""

    reader: str | None
    passport_id: UUID
    name: str
    category: Category
    gtin: str | None
    serial: str
    issuer: str
    issuer_name: str
    issuer_slug: str
    version_id: UUID
    number: int
    state: VersionState
    reason: str | None
    issued_at: datetime
    link: str
    receipt: bytes
    proof: str
    fields: dict[str, list[list[Any]]]
    log: bytes = b"null"
