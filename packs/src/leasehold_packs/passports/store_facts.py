"""Documents and facts of passports, in the pack's own tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.passports.errors import Finding, PassportError
from leasehold_packs.passports.facts import Fact, FactJson, typed
from leasehold_packs.passports.model import CurrentFact, Document, ExpiredDocument, StoredFact
from leasehold_packs.passports.store import get_passport, require_row
from leasehold_packs.rows.values import json_of, value_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A version of a document; ``is_new`` is false for bytes that were there already."""

    version_id: UUID
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A document as it came. ``under`` is the place of its facts, ``schema_id`` what it is checked against.

    A certificate has a ``valid_until``: then somebody must send the next one.
    """

    raw: bytes = field(repr=False)
    name: str
    role: str
    media_type: str
    author: str
    under: str = ""
    schema_id: UUID | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact as it is written; one with a message is in error, and may lack a pointer or a value."""

    pointer: str | None
    type: str
    text: str
    unit: str | None
    document: str
    ref: str
    message: str | None = None


def row_of(fact: FactJson, message: str | None = None) -> FactRow:
    source = fact["source"]
    return FactRow(
        pointer=fact["pointer"],
        type=fact["type"],
        text=fact["text"],
        unit=fact["unit"],
        document=source["document"],
        ref=source["ref"],
        message=message,
    )


# -- documents ------------------------------------------------------------------------------------


async def receive_document(tx: Transaction, passport_id: UUID, sent: Delivered) -> Received:
    """The next version of the document of this name. The same bytes again are the same version."""
    await get_passport(tx, passport_id)
    if sent.under and (not sent.under.startswith("/") or sent.under.endswith("/")):
        raise BadInput("the place of a document is a JSON pointer", hint="such as /labels")
    document_id = await tx.fetchval(
        "select leasehold_passports.open_document($1, $2, $3, $4, $5)",
        tx.tenant_id, passport_id, sent.name, sent.role, sent.under,
    )  # fmt: skip
    if document_id is None:
        raise Conflict(f"there is a document {sent.name!r} with another role")
    if sent.schema_id is not None and (await get_document(tx, sent.schema_id)).role != "schema":
        raise BadInput("what a document is checked against is a document with the role schema")
    row = await tx.fetchrow(
        "select * from leasehold_passports.add_document_version($1, $2, $3, $4, $5, $6, $7, $8)",
        tx.tenant_id, document_id, sha256(sent.raw).hexdigest(), sent.media_type, sent.raw, sent.schema_id,
        sent.author, sent.valid_until,
    )  # fmt: skip
    return Received(version_id=row["document_version_id"], is_new=row["is_new"])


async def get_document(tx: Transaction, version_id: UUID) -> Document:
    query = "select * from leasehold_passports.list_documents(null, $1)"
    return value_of(Document, await require_row(tx, "document", query, version_id), "problem")


async def list_documents(tx: Transaction, passport_id: UUID) -> list[Document]:
    rows = await tx.fetch("select * from leasehold_passports.list_documents($1, null)", passport_id)
    return [value_of(Document, row, "problem") for row in rows]


async def document_bytes(tx: Transaction, version_id: UUID) -> bytes:
    query = "select bytes from leasehold_passports.document_version where document_version_id = $1"
    return bytes((await require_row(tx, "document", query, version_id))["bytes"])


async def close_document(tx: Transaction, version_id: UUID, *, encoding: str, facts: int, errors: int) -> None:
    await tx.execute(
        "update leasehold_passports.document_version set state = 'read', encoding = $2, facts = $3, errors = $4,"
        " problem = null where document_version_id = $1",
        version_id, encoding, facts, errors,
    )  # fmt: skip


async def refuse_document(tx: Transaction, version_id: UUID, problem: PassportError) -> None:
    await tx.execute(
        "update leasehold_passports.document_version set state = 'unreadable', problem = $2"
        " where document_version_id = $1",
        version_id, json_of(problem.as_json()),
    )  # fmt: skip


async def set_validity(tx: Transaction, version_id: UUID, valid_until: datetime | None) -> None:
    """Another end for a document that is valid for longer, or not for so long; one that has expired may come back."""
    if not await tx.fetchval("select leasehold_passports.set_validity($1, $2)", version_id, valid_until):
        raise NotFound("there is no such document")


async def expire_documents(tx: Transaction, *, limit: int) -> list[ExpiredDocument]:
    """Documents whose time is over, each once. One that a newer version follows is left out."""
    rows = await tx.fetch("select * from leasehold_passports.expire_documents($1)", limit)
    return [value_of(ExpiredDocument, row) for row in rows]


# -- facts ----------------------------------------------------------------------------------------


async def put_facts(
    tx: Transaction, document: Document, facts: Sequence[Fact], wrong: Sequence[tuple[Fact | None, Finding]]
) -> None:
    """The facts of a version take the place of those of earlier versions, and of others at the same pointers."""
    rows = [row_of(fact.as_json()) for fact in facts]
    rows += [_in_error(document, fact, finding) for fact, finding in wrong]
    await tx.execute(
        "select leasehold_passports.put_facts($1, $2)", document.document_version_id, json_of(rows, list[FactRow])
    )


def _in_error(document: Document, fact: Fact | None, finding: Finding) -> FactRow:
    """A cell that could not be read has no pointer; a place that the schema misses something at has no value."""
    if fact is not None:
        return row_of(fact.as_json(), finding.message)
    return FactRow(
        pointer=f"{document.under}{finding.at}" if finding.at.startswith("/") or finding.at == "" else None,
        type="absent",
        text="",
        unit=None,
        document=document.sha256,
        ref=finding.at,
        message=finding.message,
    )


async def list_facts(
    tx: Transaction, passport_id: UUID, *, state: str | None, after: int, limit: int
) -> list[StoredFact]:
    rows = await tx.fetch(
        "select * from leasehold_passports.list_facts($1, $2, $3, $4)", passport_id, state, after, limit
    )
    return [value_of(StoredFact, row) for row in rows]


async def list_document_facts(tx: Transaction, version_id: UUID, *, after: int, limit: int) -> list[StoredFact]:
    """All that was read from a version of a document, whatever became of it since."""
    rows = await tx.fetch("select * from leasehold_passports.list_document_facts($1, $2, $3)", version_id, after, limit)
    return [value_of(StoredFact, row) for row in rows]


async def put_completeness(tx: Transaction, passport_id: UUID, *, share: int, missing: int, errors: int) -> None:
    await tx.execute(
        "select leasehold_passports.put_completeness($1, $2, $3, $4, $5)",
        tx.tenant_id, passport_id, share, missing, errors,
    )  # fmt: skip


async def current_facts(tx: Transaction, passport_id: UUID) -> list[CurrentFact]:
    """Those of the battery and, where it has none, those of its model. Facts in error are among them."""
    rows = await tx.fetch("select * from leasehold_passports.current_facts($1)", passport_id)
    return [value_of(CurrentFact, row) for row in rows]


async def state_fact(
    tx: Transaction, passport_id: UUID, *, pointer: str, value: object, unit: str | None, author: str
) -> int:
    """What a person states takes the place of the fact at this pointer, and names it."""
    await get_passport(tx, passport_id)
    type_, text = typed(value)
    if not pointer.startswith("/"):
        raise BadInput("a fact stands at a JSON pointer", hint="such as /generalProductInformation/batteryMass")
    made: int = await tx.fetchval(
        "select leasehold_passports.state_fact($1, $2, $3, $4, $5, $6, $7)",
        tx.tenant_id, passport_id, pointer, type_, text, unit, author,
    )  # fmt: skip
    return made


async def dismiss_fact(tx: Transaction, passport_id: UUID, fact_id: int) -> None:
    """A finding that does not matter is set aside; so is a fact that shall not be part of the passport."""
    if not await tx.fetchval("select leasehold_passports.dismiss_fact($1, $2)", passport_id, fact_id):
        raise NotFound("there is no such fact, or it is no current one")
