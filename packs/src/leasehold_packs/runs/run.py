"""A run is one piece of work of a pack that people start, follow and stop: a row, with a flow that does the work.

The schema of a pack with runs has a table ``run`` with the columns of ``Run``, whose ``seq`` rises under the lock of
the row with each change, and a function ``stop_run(run uuid, state text, reason text)`` that ends a run that is
running, with all that the pack knows of its parts, and returns false if the run was over.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal
from uuid import UUID

from leasehold import Access, Flow, Transaction
from leasehold.errors import Conflict, NotFound

RunState = Literal["running", "succeeded", "failed", "canceled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The columns that runs of all packs have."""

    run_id: UUID
    state: RunState
    reason: str | None  # why it ended, unless it succeeded
    flow_id: UUID | None
    seq: int  # number of its newest change
    created_at: datetime
    finished_at: datetime | None

    @property
    def is_running(self) -> bool:
        return self.state == "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs of one pack. ``noun`` and ``hint`` are for messages: "audit", "leasehold audits list"."""

    pack: str
    noun: str
    hint: str

    async def get(self, tx: Transaction, run_id: UUID) -> Run:
        """The run, or NotFound."""
        columns = ", ".join(field.name for field in fields(Run))
        row = await tx.fetchrow(f"select {columns} from leasehold_{self.pack}.run where run_id = $1", run_id)
        if row is None:
            raise NotFound(f"there is no {self.noun} {run_id}", hint=self.hint)
        return Run(**dict(row))

    async def start(self, tx: Transaction, run_id: UUID, flow: Flow) -> None:
        """Let a flow do the work of a run, from the commit on."""
        flow_id = await tx.start(flow)
        await tx.execute(f"update leasehold_{self.pack}.run set flow_id = $2 where run_id = $1", run_id, flow_id)

    async def end(self, tx: Transaction, run_id: UUID, state: RunState, reason: str | None) -> bool:
        """End a run as it is; False if it was over."""
        is_ended: bool = await tx.fetchval(f"select leasehold_{self.pack}.stop_run($1, $2, $3)", run_id, state, reason)
        return is_ended

    async def cancel(self, access: Access, run_id: UUID, *, action: str | None = None) -> None:
        """Stop a run and the jobs of its flow; what it has found stays. ``action`` is noted in the audit log."""
        async with access.transaction() as tx:
            run = await self.get(tx, run_id)
            if not await self.end(tx, run_id, "canceled", "canceled"):
                raise Conflict(f"{self.noun} {run_id} is {run.state} already")
            if action is not None:
                await tx.log(action, str(run_id))
        if run.flow_id is not None:
            await access.client.flows.cancel(run.flow_id, f"the {self.noun} was canceled")
