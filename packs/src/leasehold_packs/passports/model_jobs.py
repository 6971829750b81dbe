"""What the jobs of this pack take and give."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from typing_extensions import TypedDict

from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.changes import FieldChange

QUEUE = "passports"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOrder:
    document_version_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportOrder:
    passport_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsOrder:
    """One version, or some of a bulk: they are done in one transaction."""

    versions: list[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOrder:
    bulk_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RecompileOrder:
    """What is active and would become another now: a passport and the batteries of its model, or all there are.

    ``dry_run`` only says how.
    """

    package_id: UUID
    issued_at: datetime
    author: str
    passport_id: UUID | None = None
    activate: bool = True
    dry_run: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOrder:
    """``sample`` published versions, chosen by ``seed``: another one chooses others."""

    sample: int = 100
    seed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """What ``reader`` may see of all passports, or of one and the batteries of its model.

    ``part`` and ``after`` are for those that follow the first file.
    """

    reader: Reader = Reader.PUBLIC
    passport_id: UUID | None = None
    all_versions: bool = False
    keep_days: float = 7.0
    part: int = 1
    after: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    facts: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete:
    """``share`` is of what the category requires, in percent."""

    share: int
    missing: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProven:
    host: str
    proven_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One file, under ``/v1/reports/{report_id}`` until it expires; ``next_job`` makes the next one."""

    report_id: UUID
    part: int
    versions: int
    size: int
    sha256: str
    expires_at: datetime
    next_job: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How many versions went on, and how many failed here."""

    done: int
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDone:
    made: int
    refused: int


class PassportDiffers(TypedDict):
    passport_id: str
    changes: list[FieldChange]


class PassportFailed(TypedDict):
    passport_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompiled:
    """``changed`` has the first hundred of those that differ, each with what differs."""

    looked_at: int
    differ: int
    requested: int
    failed: int
    changed: list[PassportDiffers | PassportFailed] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    same: int
    differ: list[UUID]
