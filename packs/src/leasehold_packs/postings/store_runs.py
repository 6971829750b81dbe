"""Runs, what they find at their sources, and what their steps have to say, in the pack's own tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID, uuid4

from leasehold.errors import NotFound
from leasehold_packs.postings.boards import Address
from leasehold_packs.postings.model import (
    COUNTED,
    Counts,
    ItemState,
    Level,
    Options,
    Part,
    Run,
    RunChanges,
    RunLine,
    RunSource,
    RunSummary,
    SourceRun,
)
from leasehold_packs.postings.posting import Facts, Posting
from leasehold_packs.postings.store import masked
from leasehold_packs.rows.values import adapter, json_of, value_of
from leasehold_packs.runs.run import Runs

if TYPE_CHECKING:
    from leasehold import Transaction

Details = Literal["due", "all"]
RUNS = Runs(pack="postings", noun="run", hint="leasehold postings runs")


# -- runs as people see them ----------------------------------------------------------------------


async def choose_sources(tx: "Transaction", sources: Sequence[UUID] | None, owner: str) -> dict[UUID, str]:
    """The named sources, or all enabled ones of the companies that this person wants, with their hosts."""
    chosen = None if sources is None else list(sources)
    rows = await tx.fetch("select * from leasehold_postings.choose_sources($1, $2)", chosen, owner)
    return {row["source_id"]: row["host"] for row in rows}


async def add_run(tx: "Transaction", actor: str, details: Details, sources: Sequence[UUID]) -> tuple[UUID, set[UUID]]:
    """A run over those of these sources that no other run asks now."""
    run_id = uuid4()
    rows = await tx.fetch(
        "select leasehold_postings.add_run($1, $2, $3, $4, $5)", tx.tenant_id, run_id, actor, details, list(sources)
    )
    return run_id, {row[0] for row in rows}


async def get_run(tx: "Transaction", run_id: UUID) -> Run:
    row = await tx.fetchrow("select * from leasehold_postings.get_run($1)", run_id)
    if row is None:
        raise NotFound(f"there is no run {run_id}", hint=RUNS.hint)
    rows = await tx.fetch("select * from leasehold_postings.list_run_sources($1)", run_id)
    sources = [value_of(RunSource, masked(one), counts=_in_order(one["counts"])) for one in rows]
    counts = {name: sum(one.counts.get(name, 0) for one in sources) for name in COUNTED}
    return value_of(Run, row, counts=counts, sources=sources)


def _in_order(text: str) -> Counts:
    """Counts as they are told; PostgreSQL keeps another order."""
    counts = adapter(Counts).validate_json(text)
    return {name: counts[name] for name in COUNTED if name in counts}


async def list_runs(tx: "Transaction", *, limit: int = 50) -> list[RunSummary]:
    rows = await tx.fetch("select * from leasehold_postings.list_runs($1)", limit)
    return [value_of(RunSummary, row) for row in rows]


async def list_source_runs(tx: "Transaction", source_id: UUID, *, limit: int) -> list[SourceRun]:
    """What the newest runs found at one source; one that goes on first."""
    rows = await tx.fetch("select * from leasehold_postings.list_source_runs($1, $2)", source_id, limit)
    return [value_of(SourceRun, masked(row), counts=_in_order(row["counts"])) for row in rows]


async def run_changes(tx: "Transaction", run_id: UUID, *, after: int = 0) -> RunChanges:
    """The run and its items that have changed after a number."""
    row = await tx.fetchrow("select * from leasehold_postings.run_changes($1, $2)", run_id, after)
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    sources, items = (json.loads(row[name]) for name in ("sources", "items"))
    return value_of(RunChanges, row, sources=[masked(one) for one in sources], items=[masked(one) for one in items])


# -- what its steps have to say -------------------------------------------------------------------


async def write_line(
    tx: "Transaction", run_id: UUID, source_id: UUID | None, part: Part, message: str, *, level: Level = "info"
) -> None:
    """Add a line to the log of a run, in the transaction of its step."""
    await tx.execute(
        "insert into leasehold_postings.run_log (tenant_id, run_id, source_id, part, level, message)"
        " values ($1, $2, $3, $4, $5, $6)",
        tx.tenant_id, run_id, source_id, part, level, message,
    )  # fmt: skip


async def list_lines(
    tx: "Transaction", run_id: UUID, *, parts: Sequence[Part] = (), after: int = 0, limit: int
) -> list[RunLine]:
    """The oldest first; all parts unless some are named."""
    rows = await tx.fetch(
        "select * from leasehold_postings.list_run_lines($1, $2, $3, $4)", run_id, after, list(parts) or None, limit
    )
    return [value_of(RunLine, row) for row in rows]


# -- what its steps read and write ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSource:
    """A source as the requests of a run need it."""

    run_id: UUID
    source_id: UUID
    address: Address
    host: str
    options: Options
    details: Details
    created_at: datetime  # of its run: a robots.txt from before is read again


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A posting as a list has it. ``listed`` is kept until its text is read; ``list_mark`` is a digest of it."""

    external_id: str
    state: ItemState
    title: str
    list_mark: str
    listed: Posting | None
    facts: Facts | None
    digest: str | None


async def get_running_source(tx: "Transaction", run_id: UUID, source_id: UUID) -> RunningSource | None:
    """None when the run is over."""
    row = await tx.fetchrow("select * from leasehold_postings.get_running_source($1, $2)", run_id, source_id)
    if row is None:
        return None
    return RunningSource(
        run_id=run_id,
        source_id=source_id,
        address=Address(board=row["board"], slug=row["slug"], base=row["base"]),
        host=row["host"],
        options=adapter(Options).validate_json(row["options"]),
        details=row["details"],
        created_at=row["created_at"],
    )


async def list_marks(tx: "Transaction", source: RunningSource, ids: Sequence[str]) -> dict[str, str]:
    """Of known postings, the mark of the list at which their text is still good; empty where it is to be read again."""
    rows = await tx.fetch(
        "select * from leasehold_postings.list_marks($1, $2, $3, $4)",
        source.source_id, list(ids), source.options.detail_hours * 3600.0, source.details == "all",
    )  # fmt: skip
    return {row["external_id"]: row["mark"] for row in rows}


async def write_list(tx: "Transaction", source: RunningSource, items: list[Item], *, is_last: bool) -> bool:
    """False when the run is over."""
    return bool(
        await tx.fetchval(
            "select leasehold_postings.write_list($1, $2, $3, $4, $5)",
            source.run_id, source.source_id, tx.tenant_id, json_of(items, list[Item]), is_last,
        )
    )  # fmt: skip


async def get_listed(tx: "Transaction", source: RunningSource, external_id: str) -> Posting | None:
    """What the list said of a posting, while its text is to be read."""
    text = await tx.fetchval(
        "select listed from leasehold_postings.run_item where run_id = $1 and source_id = $2 and external_id = $3",
        source.run_id, source.source_id, external_id,
    )  # fmt: skip
    return None if text is None else adapter(Posting).validate_json(text)


async def write_detail(
    tx: "Transaction", source: RunningSource, external_id: str, facts: Facts | None, digest: str | None,
    problem: str | None,
) -> bool:  # fmt: skip
    """False when the run is over."""
    return bool(
        await tx.fetchval(
            "select leasehold_postings.write_detail($1, $2, $3, $4, $5, $6)",
            source.run_id, source.source_id, external_id, json_of(facts) if facts else None, digest, problem,
        )
    )  # fmt: skip


async def note_problem(tx: "Transaction", source: RunningSource, problem: str) -> None:
    await tx.execute("select leasehold_postings.note_problem($1, $2, $3)", source.run_id, source.source_id, problem)


async def list_states(tx: "Transaction", run_id: UUID) -> list[tuple[str, Counts]]:
    """How each source of a run has ended, and what was found there."""
    rows = await tx.fetch("select state, counts from leasehold_postings.run_source where run_id = $1", run_id)
    return [(row["state"], adapter(Counts).validate_json(row["counts"])) for row in rows]


async def finish_run(tx: "Transaction", run_id: UUID, state: str, problem: str | None) -> bool:
    """False when the run is over. Runs of a month ago are forgotten."""
    return bool(await tx.fetchval("select leasehold_postings.finish_run($1, $2, $3)", run_id, state, problem))
