"""Passports, what happened to them, and who may see more of them, in the pack's own tables.

Row security does the rest: a transaction sees and writes the rows of its tenant only.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold_packs.passports.attributes import Category
from leasehold_packs.passports.model import Event, Invitation, Passport, PassportSummary
from leasehold_packs.passports.qr import checked_serial, gtin14
from leasehold_packs.rows.values import value_of

_PASSPORT = "passport_id, name, category, gtin, serial, model_id, created_at"


async def require_row(tx: Transaction, noun: str, query: str, *args: object) -> Mapping[str, Any]:
    """The row, or NotFound: for a row of another tenant, too."""
    row = await tx.fetchrow(query, *args)
    if row is None:
        raise NotFound(f"there is no such {noun}")
    return {**row}


# -- passports ------------------------------------------------------------------------------------


async def add_passport(
    tx: Transaction, *, name: str, category: Category, gtin: str | None, serial: str, model_id: UUID | None
) -> UUID:
    if serial and not gtin:
        raise BadInput("a serial number needs a GTIN")
    if model_id is not None and (await get_passport(tx, model_id)).model_id is not None:
        raise BadInput("the model of a battery is no single battery itself")
    made: UUID | None = await tx.fetchval(
        "select leasehold_passports.add_passport($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, name, category, gtin14(gtin) if gtin else None, checked_serial(serial) if serial else "",
        model_id,
    )  # fmt: skip
    if made is None:
        raise Conflict("there is a passport with this GTIN and serial number already")
    return made


async def add_batteries(tx: Transaction, model_id: UUID, serials: Sequence[str]) -> dict[str, UUID]:
    """Passports for single batteries, by their serial numbers; those that have one are left out."""
    rows = await tx.fetch("select * from leasehold_passports.add_batteries($1, $2)", model_id, list(serials))
    return {row["serial"]: row["passport_id"] for row in rows}


async def get_passport(tx: Transaction, passport_id: UUID) -> Passport:
    query = f"select {_PASSPORT} from leasehold_passports.passport where passport_id = $1"
    return value_of(Passport, await require_row(tx, "passport", query, passport_id))


async def get_passports(tx: Transaction, passports: Sequence[UUID]) -> dict[UUID, Passport]:
    query = f"select {_PASSPORT} from leasehold_passports.passport where passport_id = any($1::uuid[])"
    return {row["passport_id"]: value_of(Passport, row) for row in await tx.fetch(query, list(passports))}


async def list_passports(
    tx: Transaction, *, model_id: UUID | None, after: UUID | None, limit: int
) -> list[PassportSummary]:
    rows = await tx.fetch("select * from leasehold_passports.list_passports($1, $2, $3)", model_id, after, limit)
    return [value_of(PassportSummary, row) for row in rows]


async def list_active(tx: Transaction, passport_id: UUID | None, after: UUID | None, *, limit: int) -> list[UUID]:
    """Passports that have an active version: this one and the batteries of its model, or all."""
    rows = await tx.fetch("select leasehold_passports.list_active($1, $2, $3)", passport_id, after, limit)
    return [row[0] for row in rows]


# -- events ---------------------------------------------------------------------------------------


async def emit(tx: Transaction, type_: str, *, passport: UUID, version: UUID | None, **data: object) -> None:
    """An event of a passport: for webhooks, and for the passport's own history, in this transaction."""
    about = {"passport_id": str(passport), "version_id": str(version) if version else None, **data}
    event = await tx.emit(type_, "passport", str(passport), about)
    await tx.execute(
        "select leasehold_passports.add_event($1, $2, $3, $4, $5)", tx.tenant_id, event, passport, version, type_
    )


async def emit_all(tx: Transaction, type_: str, about: Sequence[tuple[UUID, UUID, Mapping[str, object]]]) -> None:
    """The same for many versions (passport, version, data) in one statement."""
    if len(about) == 1:
        [(passport, version, data)] = about
        await emit(tx, type_, passport=passport, version=version, **data)
        return
    texts = [
        json.dumps({"passport_id": str(passport), "version_id": str(version), **data}, default=str)
        for passport, version, data in about
    ]
    await tx.execute(
        "select leasehold_passports.emit_events($1, $2, $3, $4)",
        type_, [passport for passport, _, _ in about], [version for _, version, _ in about], texts,
    )  # fmt: skip


async def list_events(tx: Transaction, passport_id: UUID, version_id: UUID | None = None) -> list[Event]:
    """What happened to a passport, or to one of its versions, oldest first."""
    rows = await tx.fetch("select * from leasehold_passports.list_events($1, $2)", passport_id, version_id)
    return [value_of(Event, row) for row in rows]


# -- who may see more -----------------------------------------------------------------------------


async def add_invitation(
    tx: Transaction, passport_id: UUID, *, reader: str, party: str, token: str, ends_at: datetime, author: str
) -> UUID:
    made: UUID = await tx.fetchval(
        "select leasehold_passports.add_invitation($1, $2, $3, $4, $5, $6, $7)",
        tx.tenant_id, passport_id, reader, party, token_hash(token), ends_at, author,
    )  # fmt: skip
    return made


def token_hash(token: str) -> bytes:
    """As invitations keep their tokens."""
    return sha256(token.encode()).digest()


async def list_invitations(tx: Transaction, passport_id: UUID) -> list[Invitation]:
    rows = await tx.fetch(
        "select invitation_id, passport_id, reader, party, ends_at, author from leasehold_passports.invitation"
        " where passport_id = $1 order by created_at",
        passport_id,
    )
    return [value_of(Invitation, row) for row in rows]


async def delete_invitation(tx: Transaction, passport_id: UUID, invitation_id: UUID) -> None:
    query = "delete from leasehold_passports.invitation where passport_id = $1 and invitation_id = $2 returning 1"
    await require_row(tx, "invitation", query, passport_id, invitation_id)
