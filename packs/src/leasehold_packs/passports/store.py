"""What the stores of this pack ask of a transaction, in a handler as in a route."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import UUID

from leasehold import Transaction
from leasehold.errors import NotFound
from leasehold_packs.passports.errors import invalid
from leasehold_packs.passports.facts import Fact, Source
from leasehold_packs.passports.pointers import Leaf
from leasehold_packs.passports.quantities import number

QUEUE = "passports"
#: Row security does the rest: a transaction sees and writes the rows of its tenant only.
TENANT = "nullif(current_setting('leasehold.tenant', true), '')::uuid"


async def one(tx: Transaction, what: str, query: str, *args: Any) -> Any:
    """The row, or NotFound: for a row of another tenant, too."""
    row = await tx.fetchrow(query, *args)
    if row is None:
        raise NotFound(f"there is no such {what}")
    return row


async def tell(tx: Transaction, type_: str, *, passport: UUID, version: UUID | None, **data: Any) -> UUID:
    """An event of a passport: for webhooks, and for the passport's own history, in this transaction."""
    about = {"passport_id": str(passport), "version_id": str(version) if version else None, **data}
    event = await tx.emit(type_, "passport", str(passport), about)
    await tx.execute(
        "insert into leasehold_passports.event (tenant_id, event_id, passport_id, version_id, type)"
        f" values ({TENANT}, $1, $2, $3, $4)",
        event, passport, version, type_,
    )  # fmt: skip
    return event


async def tell_all(tx: Transaction, type_: str, about: Sequence[tuple[UUID, UUID, dict[str, Any]]]) -> None:
    """The same for many versions (passport, version, data) in one statement."""
    if len(about) == 1:
        [(passport, version, data)] = about
        await tell(tx, type_, passport=passport, version=version, **data)
        return
    said = [
        json.dumps({"passport_id": str(passport), "version_id": str(version), **data}, default=str)
        for passport, version, data in about
    ]
    await tx.execute(
        "select leasehold_passports.emit_events($1, $2, $3, $4)",
        type_, [passport for passport, _, _ in about], [version for _, version, _ in about], said,
    )  # fmt: skip


def whole_second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)


def fact_of(row: Any) -> Fact:
    source = Source(document=row["document"], ref=row["ref"])
    return Fact(pointer=row["pointer"], value=leaf(row["type"], row["text"]), unit=row["unit"], source=source)


def leaf(type_: str, text: str) -> Leaf:
    """What ``Fact.as_json`` took apart, put together again."""
    match type_:
        case "null":
            return None
        case "boolean":
            return text == "true"
        case "number":
            return number(text)
        case "text":
            return text
        case "object":
            return {}
        case "list":
            return []
    raise invalid("a fact in error has no value")


def stated(value: Any) -> tuple[str, str]:
    """The type and the text of a value that a person states. Numbers come as JSON has them."""
    if isinstance(value, float):
        if not isfinite(value):
            raise invalid("this is no number that can be kept", hint="write it as text")
        value = Decimal(repr(value))
    made = Fact(pointer="/", value=value, source=Source(document="", ref="")).as_json()
    return made["type"], made["text"]
