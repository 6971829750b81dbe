"""Jobs in any state, brought there by the functions that bring them there in life."""

from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.engine import jobs, leases, tenants
from leasehold.errors import BadInput, Conflict
from leasehold.job import AttemptOutcome, ClaimedJob, Job, State
from leasehold.program.client import Client
from leasehold.program.outcomes import describe
from leasehold.testing import selection

_LATER_SECONDS = 3600.0
#: The worker of the factory says nothing after it has begun; its leases shall stay.
_SILENCE_SECONDS = 10 * 365 * 86400.0


class Factory:
    """Makes jobs for one tenant."""

    def __init__(self, client: Client, db: Database) -> None:
        self._client = client
        self._db = db

    async def job(
        self, state: State, kind: str, value: Any, *, result: Any, error: str, options: dict[str, Any]
    ) -> Job:
        if state is State.BLOCKED:
            raise BadInput("no job can be made blocked yet", hint="groups, flows and approvals will block jobs")
        if state is State.SCHEDULED and not options.keys() & {"run_at", "delay_s", "delay"}:
            options = options | {"delay": _LATER_SECONDS}
        job_id = await self._enqueue(kind, value, options)
        ends: dict[State, Callable[[], Coroutine[Any, Any, object]]] = {
            State.RUNNING: lambda: self._claim(job_id),
            State.SUCCEEDED: lambda: self._finish(
                job_id, "succeeded", result=json_codec.encode(selection.plain(result))
            ),
            State.FAILED: lambda: self._finish(job_id, "failed", error=describe(RuntimeError(error))),
            State.DEAD: lambda: self._use_up(job_id, error),
            State.CANCELED: lambda: self._client.cancel(job_id, error),
        }
        if state in ends:
            await ends[state]()
        made = await self._client.get(job_id)
        if made.state is not state:
            raise Conflict(f"a job cannot be made {state} like this: it is {made.state}")
        return made

    async def _enqueue(self, kind: str, value: Any, options: dict[str, Any]) -> UUID:
        if "queue" in options:
            await tenants.create_queue(self._db, options["queue"])
        made = await self._client.enqueue(kind, selection.plain(value), **options)
        if not made.created:
            raise BadInput(f"there is a job with the key {options.get('key')!r} already")
        return made.job_id

    async def _use_up(self, job_id: UUID, error: str) -> None:
        """Every attempt fails, with no time in between."""
        while not (await self._client.get(job_id)).state.is_outcome:
            await self._finish(job_id, "errored", error=describe(RuntimeError(error)), delay_s=0.0)

    async def _finish(self, job_id: UUID, outcome: str, **end: Any) -> None:
        grant = await self._claim(job_id)
        await jobs.finish(self._db, [AttemptOutcome(token=grant.token, outcome=outcome, **end)])

    async def _claim(self, job_id: UUID) -> ClaimedJob:
        """Take this very job. Nobody can choose, so what comes before it in its queue is taken too, and given back."""
        job = await self._client.get(job_id)
        worker = await leases.register_worker(
            self._db, name="factory", version="0", queues=[job.queue], kinds={}, slots=1, lease_s=_SILENCE_SECONDS
        )
        taken: list[ClaimedJob] = []
        while not taken or taken[-1].job_id != job_id:
            claimed = await jobs.claim(self._db, worker, [job.queue], 1)
            if not claimed:
                raise Conflict(f"{job_id} cannot be claimed", hint="is its queue paused, or is it for later?")
            taken += claimed
        await jobs.finish(
            self._db, [AttemptOutcome(token=one.token, outcome="released", delay_s=0.0) for one in taken[:-1]]
        )
        return taken[-1]
