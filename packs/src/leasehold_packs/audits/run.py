"""A run as its jobs need it: what was asked for, and whether it goes on."""

import json
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from leasehold import Cancel, Context, Transaction
from leasehold_packs.audits.model import Options
from leasehold_packs.runs.run import Runs

RUNS = Runs(pack="audits", noun="audit", hint="leasehold audits list")

#: Seconds for which a process believes what it knows of a run. What a page writes is refused at once when it is over.
_BELIEVED_S = 1.0
_MOST = 100
_Key = tuple[UUID, UUID, int]
_known: dict[_Key, tuple[float, "AuditRun"]] = {}


class Order(Protocol):
    """What every job of a run is told. A run that was stopped and goes on has another part."""

    @property
    def run_id(self) -> UUID: ...

    @property
    def part(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRun:
    """``spent`` says which of its limits is used up. Of older rules than ``begun_at`` robots.txt is read again."""

    run_id: UUID
    part: int
    url: str
    begun_at: datetime
    options: Options
    reread_of: UUID | None
    spent: str | None

    @classmethod
    async def known(cls, ctx: Context, order: Order) -> "AuditRun":
        """Much the same for all pages of a run: it is not looked up for each of them."""
        key = (ctx.tenant_id, order.run_id, order.part)
        until, run = _known.get(key, (0.0, None))
        if run is None or time.monotonic() >= until:
            async with ctx.transaction() as tx:
                run = await cls.load(tx, order)
            _believe(key, run)
        return run

    @classmethod
    async def load(cls, tx: Transaction, order: Order) -> "AuditRun":
        row = await tx.fetchrow("select * from leasehold_audits.load_run($1)", order.run_id)
        if row is None or row["state"] != "running" or row["part"] != order.part:
            raise Cancel("the run is over")
        options = Options(**json.loads(row["options"]))
        return cls(
            run_id=order.run_id,
            part=order.part,
            url=row["url"],
            begun_at=row["begun_at"],
            options=options,
            reread_of=row["reread_of"],
            spent=options.spent(seconds=float(row["age"]), size=row["bytes"] or 0),
        )

    def note_age(self, ctx: Context, seconds: float) -> None:
        """When its time is over, believe nothing of it any more."""
        if self.options.spent(seconds=seconds, size=0):
            _known.pop((ctx.tenant_id, self.run_id, self.part), None)


def _believe(key: _Key, run: AuditRun) -> None:
    if run.options.max_megabytes or run.spent:
        return  # each page counts
    while len(_known) >= _MOST:
        del _known[next(iter(_known))]
    _known[key] = (time.monotonic() + _BELIEVED_S, run)
