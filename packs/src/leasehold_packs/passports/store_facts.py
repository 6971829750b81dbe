"""Passports, their documents and facts, in the pack's own tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.passports.attributes import Category
from leasehold_packs.passports.errors import Finding
from leasehold_packs.passports.facts import Fact
from leasehold_packs.passports.qr import checked_serial, gtin14
from leasehold_packs.passports.store import TENANT, one, stated

_PASSPORT = "passport_id, name, category, gtin, serial, model_id, created_at"
_DOCUMENT = (
    "v.document_version_id, v.document_id, d.passport_id, d.name, d.role, d.under, v.number, v.sha256, v.media_type,"
    " v.schema_id, v.state, v.encoding, v.facts, v.errors, v.problem, v.valid_until, v.expired_at, v.author,"
    " v.received_at"
)
_FACT = "fact_id, pointer, type, text, unit, document, ref, state, message, author, supersedes, created_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A version of a document; ``is_new`` is false for bytes that were there already."""

    version_id: UUID
    is_new: bool


# -- passports ------------------------------------------------------------------------------------------------------


async def add_passport(
    tx: Transaction, *, name: str, category: Category, gtin: str | None, serial: str, model_id: UUID | None
) -> UUID:
    if serial and not gtin:
        raise BadInput("a serial number needs a GTIN")
    if model_id is not None and (await get_passport(tx, model_id))["model_id"] is not None:
        raise BadInput("the model of a battery is no single battery itself")
    made = await tx.fetchval(
        "insert into leasehold_passports.passport (tenant_id, name, category, gtin, serial, model_id)"
        f" values ({TENANT}, $1, $2, $3, $4, $5) on conflict do nothing returning passport_id",
        name, category, gtin14(gtin) if gtin else None, checked_serial(serial) if serial else "", model_id,
    )  # fmt: skip
    if made is None:
        raise Conflict("there is a passport with this GTIN and serial number already")
    return UUID(str(made))


async def get_passport(tx: Transaction, passport_id: UUID) -> Any:
    query = f"select {_PASSPORT} from leasehold_passports.passport where passport_id = $1"
    return await one(tx, "passport", query, passport_id)


async def get_passports(tx: Transaction, passports: Sequence[UUID]) -> dict[UUID, Any]:
    query = f"select {_PASSPORT} from leasehold_passports.passport where passport_id = any($1::uuid[])"
    return {row["passport_id"]: row for row in await tx.fetch(query, list(passports))}


async def list_passports(tx: Transaction, *, model_id: UUID | None, after: UUID | None, limit: int) -> list[Any]:
    return await tx.fetch(
        f"select {_PASSPORT}, (select v.state from leasehold_passports.version v"
        "   where v.passport_id = p.passport_id order by v.state = 'active' desc, v.number desc limit 1) as state,"
        " (select c.share from leasehold_passports.completeness c where c.passport_id in (p.passport_id, p.model_id)"
        "   order by c.passport_id = p.passport_id desc limit 1) as share"
        " from leasehold_passports.passport p"
        " where ($1::uuid is null or model_id = $1) and ($2::uuid is null or passport_id > $2)"
        " order by passport_id limit $3",
        model_id, after, limit,
    )  # fmt: skip


# -- documents ------------------------------------------------------------------------------------------------------


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


async def receive_document(tx: Transaction, passport_id: UUID, sent: Delivered) -> Received:
    """The next version of the document of this name. The same bytes again are the same version."""
    await get_passport(tx, passport_id)
    if sent.under and (not sent.under.startswith("/") or sent.under.endswith("/")):
        raise BadInput("the place of a document is a JSON pointer", hint="such as /labels")
    document_id = await tx.fetchval(
        "insert into leasehold_passports.document (tenant_id, passport_id, name, role, under)"
        f" values ({TENANT}, $1, $2, $3, $4)"
        " on conflict (tenant_id, passport_id, name) do update set under = excluded.under"  # the lock orders uploads
        " where document.role = excluded.role returning document_id",
        passport_id, sent.name, sent.role, sent.under,
    )  # fmt: skip
    if document_id is None:
        raise Conflict(f"there is a document {sent.name!r} with another role")
    if sent.schema_id is not None:
        await _check_schema(tx, sent.schema_id)
    digest = sha256(sent.raw).hexdigest()
    known = await tx.fetchval(
        "select document_version_id from leasehold_passports.document_version where document_id = $1 and sha256 = $2",
        document_id, digest,
    )  # fmt: skip
    if known is not None:
        return Received(version_id=known, is_new=False)
    made = await tx.fetchval(
        "insert into leasehold_passports.document_version"
        " (tenant_id, document_id, number, sha256, media_type, bytes, schema_id, author, valid_until)"
        f" select {TENANT}, $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7"
        " from leasehold_passports.document_version where document_id = $1 returning document_version_id",
        document_id, digest, sent.media_type, sent.raw, sent.schema_id, sent.author, sent.valid_until,
    )  # fmt: skip
    return Received(version_id=made, is_new=True)


async def _check_schema(tx: Transaction, schema_id: UUID) -> None:
    if (await get_document(tx, schema_id))["role"] != "schema":
        raise BadInput("what a document is checked against is a document with the role schema")


async def get_document(tx: Transaction, version_id: UUID) -> Any:
    query = (
        f"select {_DOCUMENT} from leasehold_passports.document_version v"
        " join leasehold_passports.document d using (tenant_id, document_id) where document_version_id = $1"
    )
    return await one(tx, "document", query, version_id)


async def list_documents(tx: Transaction, passport_id: UUID) -> list[Any]:
    return await tx.fetch(
        f"select {_DOCUMENT} from leasehold_passports.document_version v"
        " join leasehold_passports.document d using (tenant_id, document_id)"
        " where d.passport_id = $1 order by d.name, v.number limit 1000",
        passport_id,
    )


async def document_bytes(tx: Transaction, version_id: UUID) -> bytes:
    query = "select bytes from leasehold_passports.document_version where document_version_id = $1"
    return bytes((await one(tx, "document", query, version_id))["bytes"])


async def close_document(tx: Transaction, version_id: UUID, *, encoding: str, facts: int, errors: int) -> None:
    await tx.execute(
        "update leasehold_passports.document_version"
        " set state = 'read', encoding = $2, facts = $3, errors = $4, problem = null where document_version_id = $1",
        version_id, encoding, facts, errors,
    )  # fmt: skip


async def refuse_document(tx: Transaction, version_id: UUID, problem: str) -> None:
    await tx.execute(
        "update leasehold_passports.document_version set state = 'unreadable', problem = $2"
        " where document_version_id = $1",
        version_id, problem,
    )  # fmt: skip


async def set_validity(tx: Transaction, version_id: UUID, valid_until: datetime | None) -> None:
    """Another end for a document that is valid for longer, or not for so long; one that has expired may come back."""
    query = (
        "update leasehold_passports.document_version set valid_until = $2,"
        " expired_at = case when $2::timestamptz <= now() then expired_at end"
        " where document_version_id = $1 returning document_version_id"
    )
    await one(tx, "document", query, version_id, valid_until)


async def expire_documents(tx: Transaction, *, limit: int) -> list[Any]:
    """Documents whose time is over, each once. One that was followed by a newer version is nobody's concern."""
    return await tx.fetch(
        "update leasehold_passports.document_version v set expired_at = now()"
        " from leasehold_passports.document d where d.document_id = v.document_id and v.document_version_id in ("
        "   select o.document_version_id from leasehold_passports.document_version o"
        "   where o.valid_until <= now() and o.expired_at is null and not exists ("
        "     select from leasehold_passports.document_version n"
        "     where n.document_id = o.document_id and n.number > o.number)"
        "   order by o.valid_until limit $1 for update)"
        " returning v.document_version_id, d.passport_id, d.name, v.number, v.valid_until",
        limit,
    )


# -- facts ----------------------------------------------------------------------------------------------------------


async def put_facts(
    tx: Transaction, document: Any, facts: Sequence[Fact], wrong: Sequence[tuple[Fact | None, Finding]]
) -> None:
    """The facts of a version take the place of those of earlier versions, and of others at the same pointers."""
    rows: list[tuple[dict[str, Any], str | None]] = [(fact.as_json(), None) for fact in facts]
    rows += [(_in_error(document, fact, finding), finding.message) for fact, finding in wrong]
    pointers = [row["pointer"] for row, _ in rows]
    await tx.execute(
        "update leasehold_passports.fact set state = 'superseded'"
        " where passport_id = $1 and state in ('ok', 'error')"
        " and (pointer = any($2::text[]) or document_version_id in ("
        "   select document_version_id from leasehold_passports.document_version where document_id = $3))",
        document["passport_id"], [pointer for pointer in pointers if pointer], document["document_id"],
    )  # fmt: skip
    await tx.execute(
        "insert into leasehold_passports.fact (tenant_id, passport_id, pointer, type, text, unit, document_version_id,"
        " document, ref, state, message, author)"
        f" select {TENANT}, $1, pointer, type, text, unit, $2, document, ref,"
        "   case when message is null then 'ok' else 'error' end, message, $3"
        " from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])"
        "   g(pointer, type, text, unit, document, ref, message)",
        document["passport_id"], document["document_version_id"], document["author"], pointers,
        [row["type"] for row, _ in rows], [row["text"] for row, _ in rows], [row["unit"] for row, _ in rows],
        [row["source"]["document"] for row, _ in rows], [row["source"]["ref"] for row, _ in rows],
        [message for _, message in rows],
    )  # fmt: skip


def _in_error(document: Any, fact: Fact | None, finding: Finding) -> dict[str, Any]:
    """A cell that could not be read has no pointer; a place that the schema misses something at has no value."""
    if fact is not None:
        return fact.as_json()
    pointer = f"{document['under']}{finding.at}" if finding.at.startswith("/") or finding.at == "" else None
    source = {"document": document["sha256"], "ref": finding.at}
    return {"pointer": pointer, "type": "absent", "text": "", "unit": None, "source": source}


async def list_facts(tx: Transaction, passport_id: UUID, *, state: str | None, after: int, limit: int) -> list[Any]:
    return await tx.fetch(
        f"select {_FACT} from leasehold_passports.fact where passport_id = $1 and fact_id > $2"
        " and (state = $3 or $3 is null and state in ('ok', 'error')) order by fact_id limit $4",
        passport_id, after, state, limit,
    )  # fmt: skip


async def document_facts(tx: Transaction, version_id: UUID, *, after: int, limit: int) -> list[Any]:
    """All that was read from a version of a document, whatever became of it since."""
    return await tx.fetch(
        f"select {_FACT} from leasehold_passports.fact where document_version_id = $1 and fact_id > $2"
        " order by fact_id limit $3",
        version_id, after, limit,
    )  # fmt: skip


async def put_completeness(tx: Transaction, passport_id: UUID, *, share: int, missing: int, errors: int) -> None:
    await tx.execute(
        "insert into leasehold_passports.completeness (tenant_id, passport_id, share, missing, errors)"
        f" values ({TENANT}, $1, $2, $3, $4) on conflict (tenant_id, passport_id) do update"
        " set share = excluded.share, missing = excluded.missing, errors = excluded.errors, checked_at = now()",
        passport_id, share, missing, errors,
    )  # fmt: skip


async def current_facts(tx: Transaction, passport_id: UUID) -> list[Any]:
    """Those of the battery and, where it has none, those of its model. Facts in error are among them."""
    return await tx.fetch(
        "select distinct on (f.pointer, case when f.pointer is null then f.fact_id end)"
        " f.fact_id, f.passport_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref, f.state, f.message"
        " from leasehold_passports.passport p"
        " join leasehold_passports.fact f"
        "   on f.passport_id in (p.passport_id, p.model_id) and f.state in ('ok', 'error')"
        " where p.passport_id = $1"
        " order by f.pointer, case when f.pointer is null then f.fact_id end, f.passport_id = p.passport_id desc",
        passport_id,
    )


async def state_fact(
    tx: Transaction, passport_id: UUID, *, pointer: str, value: Any, unit: str | None, author: str
) -> int:
    """What a person states takes the place of the fact at this pointer, and names it."""
    await get_passport(tx, passport_id)
    type_, text = stated(value)
    if not pointer.startswith("/"):
        raise BadInput("a fact stands at a JSON pointer", hint="such as /generalProductInformation/batteryMass")
    before = await tx.fetchrow(
        "update leasehold_passports.fact set state = 'superseded'"
        " where passport_id = $1 and pointer = $2 and state in ('ok', 'error') returning fact_id, document, ref",
        passport_id, pointer,
    )  # fmt: skip
    document = before["document"] if before else ""
    ref = f"{before['ref']} corrected by {author}" if before and before["document"] else f"stated by {author}"
    made = await tx.fetchval(
        "insert into leasehold_passports.fact"
        " (tenant_id, passport_id, pointer, type, text, unit, document, ref, state, author, supersedes)"
        f" values ({TENANT}, $1, $2, $3, $4, $5, $6, $7, 'ok', $8, $9) returning fact_id",
        passport_id, pointer, type_, text, unit, document, ref, author, before["fact_id"] if before else None,
    )  # fmt: skip
    return int(made)


async def dismiss_fact(tx: Transaction, passport_id: UUID, fact_id: int) -> None:
    """A finding that does not matter is set aside; so is a fact that shall not be part of the passport."""
    done = await tx.execute(
        "update leasehold_passports.fact set state = 'dismissed'"
        " where passport_id = $1 and fact_id = $2 and state in ('ok', 'error')",
        passport_id, fact_id,
    )  # fmt: skip
    if done == "UPDATE 0":
        raise NotFound("there is no such fact, or it is no current one")
