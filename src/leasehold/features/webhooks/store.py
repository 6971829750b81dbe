"""Endpoints, events and deliveries."""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.features.webhooks.model import Delivery, DeliveryAttempt, Endpoint, Letter, Sending
from leasehold.redact import redact
from leasehold.settings import Settings

if TYPE_CHECKING:
    from leasehold.sealing import Keys, Sealed

#: Seconds that old secrets go on signing.
OVERLAP_S = 24 * 3600.0


# -- endpoints ------------------------------------------------------------------------------------------------------


async def create_endpoint(
    scope: ActorTransaction,
    tenant: UUID,
    keys: "Keys",
    settings: Settings,
    *,
    url: str,
    events: Sequence[str],
    format_: str = "standard",
    header_names: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_in_flight: int = 10,
    timeout_s: float = 15.0,
    disable_after: timedelta = timedelta(days=5),
    max_per_minute: int | None = None,
    ordered: bool = False,
) -> tuple[UUID, str]:
    """A new endpoint and its secret, which nobody is told again; with Ed25519, its public key."""
    from leasehold.features.webhooks.rules import (
        check_headers,
        checked_url,
        scheme_of,
    )  # here: events need no rules of URLs

    checked = checked_url(url, settings)
    check_headers(checked, scheme_of(format_, header_names or {}), headers or {})
    names = json.dumps(dict(header_names or {}))
    limits = max_in_flight, timeout_s, disable_after.total_seconds()
    endpoint: UUID = await scope.value("create_endpoint", str(checked), events, format_, names, *limits, tenant=tenant)
    if headers:
        sealed = keys.seal(json.dumps(dict(headers)), tenant=tenant, name=f"endpoint/{endpoint}/headers")
        await scope.call("put_endpoint_headers", endpoint, sorted(headers), sealed.key_id, sealed.wrapped, sealed.box)
    if max_per_minute is not None or ordered:
        await scope.call("set_endpoint_limits", endpoint, max_per_minute, ordered)
    return endpoint, await rotate_secret(scope, tenant, endpoint, keys)


async def rotate_secret(
    scope: ActorTransaction, tenant: UUID, endpoint: UUID, keys: "Keys", *, overlap_s: float = OVERLAP_S
) -> str:
    """A new secret for an endpoint, as its receiver needs it. Those before it go on signing for a while."""
    from leasehold.features.webhooks.signature import new_pair, new_secret

    [found] = await list_endpoints(scope, tenant, endpoint)
    signing, verifying = new_pair() if found.format == "ed25519" else [new_secret()] * 2
    sealed = keys.seal(signing, tenant=tenant, name=f"endpoint/{endpoint}/{secrets.token_hex(8)}")
    await scope.call("put_endpoint_secret", endpoint, sealed.name, sealed.key_id, sealed.wrapped, sealed.box, overlap_s)
    return verifying


async def list_endpoints(db: Database, tenant: UUID, endpoint: UUID | None = None) -> list[Endpoint]:
    return [_endpoint(row) for row in await db.call("list_endpoints", endpoint, tenant=tenant)]


def _endpoint(row: Any) -> Endpoint:
    columns = dict(row)
    seconds = columns.pop("disable_after").total_seconds()
    told = {"header_names": json_codec.decode(row["header_names"]), "url": redact(row["url"])}
    return Endpoint(**columns | told, disable_after_s=seconds)


async def set_endpoint_state(db: Database, tenant: UUID, endpoint: UUID, state: str, reason: str | None = None) -> None:
    await db.call("set_endpoint_state", endpoint, state, reason, tenant=tenant)


async def remove_endpoint(db: Database, tenant: UUID, endpoint: UUID) -> None:
    await db.call("remove_endpoint", endpoint, tenant=tenant)


async def test_endpoint(db: Database, tenant: UUID, endpoint: UUID) -> UUID:
    delivery: UUID = await db.value("test_endpoint", endpoint, tenant=tenant)
    return delivery


# -- events and deliveries ------------------------------------------------------------------------------------------


async def emit_event(
    db: Database,
    tenant: UUID,
    type_: str,
    *,
    subject_type: str,
    subject_id: str,
    data: Any,
) -> UUID:
    """Tell the tenant's endpoints; the event's id."""
    text = json_codec.encode(data, what="data")
    rows = await db.call("emit_event", type_, subject_type, subject_id, text, tenant=tenant)
    event: UUID = rows[0][0]
    return event


async def list_deliveries(
    db: Database,
    tenant: UUID,
    *,
    endpoint: UUID | None = None,
    state: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[Delivery]:
    rows = await db.call("list_deliveries", endpoint, state, before, limit, tenant=tenant)
    return [Delivery(**row) for row in rows]


async def list_delivery_attempts(db: Database, tenant: UUID, delivery: UUID) -> list[DeliveryAttempt]:
    names = DeliveryAttempt.__slots__
    rows = [dict(row) for row in await db.call("list_delivery_attempts", delivery, tenant=tenant)]
    for row in rows:
        row["request_headers"] = json_codec.decode(row["request_headers"])
    return [DeliveryAttempt(**{name: row[name] for name in names}) for row in rows]


async def resend_delivery(db: Database, tenant: UUID, delivery: UUID) -> None:
    await db.call("resend_delivery", delivery, tenant=tenant)


async def recover_deliveries(db: Database, tenant: UUID, endpoint: UUID, since: datetime) -> int:
    return int(await db.value("recover_deliveries", endpoint, since, tenant=tenant))


# -- attempts -------------------------------------------------------------------------------------------------------


async def begin_delivery(db: Database, tenant: UUID, delivery: UUID, job: UUID) -> Sending | None:
    """What this job is to do about it; None when the delivery is over, or another job's."""
    rows = await db.call("start_delivery_attempt", delivery, job, tenant=tenant)
    if not rows:
        return None
    row = rows[0]
    letter = _letter(tenant, row) if row["verdict"] == "send" else None
    return Sending(verdict=row["verdict"], delay_s=row["delay_s"], reason=row["reason"], letter=letter)


def _letter(tenant: UUID, row: Any) -> Letter:
    sealed = _sealed(tenant, row)
    return Letter(
        **{name: row[name] for name in ("event_id", "url", "format", "timeout_s")},
        header_names=json_codec.decode(row["header_names"]),
        body=row["event"].encode(),
        secrets=[one for one in sealed if not one.name.endswith("/headers")],
        headers=next((one for one in sealed if one.name.endswith("/headers")), None),
    )


def _sealed(tenant: UUID, row: Any) -> "list[Sealed]":
    from leasehold.sealing import Sealed  # here: it loads a library of ciphers

    columns = [row[name] or [] for name in ("names", "key_ids", "wrapped", "boxes")]
    return [
        Sealed(tenant_id=tenant, name=name, key_id=key_id, wrapped=wrapped, box=box)
        for name, key_id, wrapped, box in zip(*columns, strict=True)
    ]


async def end_delivery(
    db: Database,
    tenant: UUID,
    delivery: UUID,
    job: UUID,
    *,
    status: int | None,
    error: str | None,
    request_headers: Mapping[str, str],
    response_body: str | None,
    duration_ms: int,
    is_last: bool,
    rest_s: float | None,
) -> str:
    """What the delivery is now: delivered, pending, failed or disabled."""
    headers = json.dumps(dict(request_headers))
    verdict = await db.value(
        "finish_delivery_attempt", delivery, job, status, error, headers, response_body, duration_ms, is_last, rest_s,
        tenant=tenant,
    )  # fmt: skip
    return str(verdict)


# -- upkeep ---------------------------------------------------------------------------------------------------------


async def collect_job_events(db: Database) -> int:
    """How many deliveries were sent on their way."""
    return int(await db.value_long("collect_job_events"))


async def purge_events(db: Database, *, history_days: int) -> int:
    return int(await db.value_long("purge_events", history_days))
