"""One transaction of one tenant: its rows, jobs, flows, events and secrets commit together, or not at all.

Routes get it from ``tenant.transaction()``, commands from ``shell.tenant()``, handlers from ``ctx.transaction()``.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from uuid import UUID

import asyncpg
from pydantic_core import to_jsonable_python

from leasehold import json_codec, tracing
from leasehold.database.actor import ActorTransaction
from leasehold.engine import audit, jobs
from leasehold.errors import LeaseLost
from leasehold.features.flows import store as flows
from leasehold.features.flows.model import Flow, Piece, flow_of
from leasehold.job import AttemptOutcome, ClaimedJob, Enqueued
from leasehold.job_options import plain
from leasehold.redact import redact, scrub
from leasehold.typed_options import JobOptions

if TYPE_CHECKING:
    from leasehold.features.blobs.store import Body
    from leasehold.program.app import Leasehold
    from leasehold.program.context import PendingEvent
    from leasehold.sealing import Keys

R = TypeVar("R")


class Transaction:
    """Your own statements, and what belongs to them: jobs, flows, events, secrets, lines of the audit log.

    The tenant is set, so row security shows and takes only its rows.
    """

    def __init__(self, db: ActorTransaction, tenant_id: UUID, secret_keys: "Callable[[], Keys]") -> None:
        self.db = db
        self.tenant_id = tenant_id
        self.has_made_jobs = False  # events are jobs as well: their deliveries
        self._secret_keys = secret_keys
        self._traceparent: str | None = None
        self._secrets: Sequence[str] = ()  # kept out of what is stored

    async def execute(self, statement: str, *args: Any) -> str:
        """Run a statement; what PostgreSQL says it did, as ``INSERT 0 1``."""
        return str(await self.db.connection.execute(statement, *args))

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        """All rows of a query."""
        return list(await self.db.connection.fetch(query, *args))

    async def fetchrow(self, query: str, *args: Any) -> Any:
        """The first row of a query, or None."""
        return await self.db.connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        """The first value of the first row of a query, or None."""
        return await self.db.connection.fetchval(query, *args)

    async def enqueue(
        self, kind: str, payload: object = None, *, key: str | None = None, **options: Unpack[JobOptions]
    ) -> Enqueued:
        """Ask for one job; it is there when the transaction commits."""
        keys = None if key is None else [key]
        return (await self.enqueue_many(kind, [payload], keys=keys, **options))[0]

    async def enqueue_many(
        self,
        kind: str,
        payloads: Sequence[object],
        *,
        keys: Sequence[str | None] | None = None,
        **options: Unpack[JobOptions],
    ) -> list[Enqueued]:
        """Ask for one job for each payload."""
        self.has_made_jobs = True
        texts, given = self._prepare(kind, payloads, options)
        return await jobs.enqueue(self.db, self.tenant_id, kind, texts, given, keys=keys)

    async def emit(self, type_: str, subject_type: str, subject_id: str, data: Any = None) -> UUID:
        """Tell the tenant's endpoints when this commits; the event's id, which receivers see too."""
        from leasehold.features.webhooks import store as webhooks  # here: it can be removed

        self.has_made_jobs = True
        about = {"subject_type": subject_type, "subject_id": subject_id}
        data = self._masked(data, what="data")
        return await webhooks.emit_event(self.db, self.tenant_id, type_, **about, data=data)

    async def start(self, flow: Flow | Piece, *, name: str = "flow") -> UUID:
        """Start a flow when the transaction commits; the flow's id."""
        self.has_made_jobs = True
        made = flow_of(flow, name)
        return await flows.start_flow(self.db, self.tenant_id, made, self._prepare_step)

    async def put_secret(self, name: str, value: str) -> None:
        """Keep a secret that only attempts can open, by ``ctx.secret(name)``."""
        from leasehold.features.secrets import (
            store as secrets,
        )  # here: it loads a library of ciphers

        await secrets.put_secret(self.db, self.tenant_id, name, value, self._secret_keys())

    async def log(self, action: str, target: str, detail: Any = None) -> None:
        """Write the tenant's audit log: who did this, called ``<pack>.<verb>``, and to what."""
        target = redact(target, secrets=self._secrets) if self._secrets else target
        detail = self._masked(detail, what="detail")
        await audit.log_own_action(self.db, self.tenant_id, action, target, detail)

    def _prepare(
        self, kind: str, values: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[list[str], dict[str, Any]]:
        """Payloads as JSON text and options under SQL's names, of the trace of whoever asks for the jobs."""
        payloads, given = self._encode(kind, values, options)
        trace = tracing.traceparent() or self._traceparent
        return payloads, {"traceparent": trace, **given} if trace else given

    def _encode(self, kind: str, values: Sequence[Any], options: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
        """Of kinds whose handlers are not known here."""
        payloads = ({} if value is None else to_jsonable_python(value, inf_nan_mode="constants") for value in values)
        return [json_codec.encode(payload) for payload in payloads], plain(options)

    def _prepare_step(self, kind: str, value: Any, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        [payload], given = self._prepare(kind, [value], options)
        return payload, given

    def _masked(self, data: Any, *, what: str) -> Any:
        """Without the secrets that the attempt has used."""
        if not self._secrets:
            return data
        return scrub(json_codec.decode(json_codec.encode(data, what=what)), secrets=self._secrets)


class AttemptTransaction(Transaction):
    """A handler's transaction, under its token: when the lease was lost meanwhile, the end of the block raises
    LeaseLost and nothing was written."""

    def __init__(
        self,
        db: ActorTransaction,
        app: "Leasehold",
        job: ClaimedJob,
        *,
        encode_result: Callable[[Any], str | None],
        on_complete: Callable[[], None],
        events: "Sequence[PendingEvent]" = (),
        secrets: Sequence[str] = (),
    ) -> None:
        super().__init__(db, job.tenant_id, lambda: app.secret_keys)
        self.is_complete = False
        self._app = app
        self._job = job
        self._encode_result = encode_result
        self._on_complete = on_complete
        self._events = events
        self._secrets = secrets
        self._traceparent = job.traceparent

    async def add(self, part: Flow | Piece) -> None:
        """Add steps to the flow that this job is a step of; whatever waits for this job waits for them too.

        Complete the job in the same transaction: otherwise a second attempt would add them again.
        """
        self.has_made_jobs = True
        await flows.add_steps(self.db, self._job.token, part, self._prepare_step)

    async def complete(self, result: R) -> R:
        """End the job as succeeded with this result, in this transaction; give the result back to be returned."""
        await self.succeed(self._encode_result(result))
        return result

    async def succeed(self, result: str | None) -> None:
        """End the job with a result that is JSON text, and tell what its attempt has emitted."""
        for event in self._events:
            await self.emit(event.type, event.subject_type, event.subject_id, json_codec.decode(event.data))
        outcome = AttemptOutcome(token=self._job.token, outcome="succeeded", result=result)
        if self._job.token not in await jobs.finish(self.db, [outcome]):
            raise LeaseLost(f"the lease with token {self._job.token} is gone")
        self.is_complete = True
        self._on_complete()

    async def hold_body(self, name: str, digest: str, *, days: float) -> None:
        """Keep a body as long as this name stands for it; the body that it stood for before is let go."""
        from leasehold.features.blobs import store as blobs  # here: few handlers need it

        await blobs.hold_blob(self.db, self.tenant_id, name, digest, days=days)

    async def keep_body(self, digest: str, *, days: float) -> bool:
        """Keep a body for at least so many days from now; False if it is gone."""
        from leasehold.features.blobs import store as blobs

        return await blobs.extend_blob_retention(self.db, self.tenant_id, digest, days=days)

    async def put_report(
        self, name: str, title: str, *, file_format: str, body: "Body", lines: int, days: float
    ) -> datetime:
        """Note a body as the report that this job has made; until when it can be read."""
        from leasehold.features.reports import store as reports

        return await reports.put_report(
            self.db, self.tenant_id, self._job.job_id,
            name=name, title=title, format_=file_format, body=body, lines=lines, days=days,
        )  # fmt: skip

    def _encode(self, kind: str, values: Sequence[Any], options: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
        if kind in self._app.handlers:
            return self._app.prepare(kind, values, options)
        return super()._encode(kind, values, options)


class ReadOnlyTransaction:
    """What an anonymous request gets: no tenant is set, and nothing can be written."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        """All rows of a query."""
        return list(await self._connection.fetch(query, *args))

    async def fetchrow(self, query: str, *args: Any) -> Any:
        """The first row of a query, or None."""
        return await self._connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        """The first value of the first row of a query, or None."""
        return await self._connection.fetchval(query, *args)
