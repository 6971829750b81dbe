"""How runs begin: when they are asked for, by the clock, again after a stop, or over pages that were kept."""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from leasehold import Flow, Transaction
from leasehold.errors import BadInput, Conflict
from leasehold_packs.audits.model import Options, fingerprint
from leasehold_packs.audits.recipe import VERSION
from leasehold_packs.audits.run import RUNS
from leasehold_packs.webfacts.url_key import url_key

QUEUE = "audits"
#: The same request within this time gives the run that is there.
WINDOW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Asked:
    run_id: UUID
    created: bool


async def ask(tx: Transaction, tenant: UUID, url: str, options: Options, *, force: bool = False) -> Asked:
    """Start a run, unless the same one runs already or has just ended."""
    key = url_key(url)
    if not options.covers(url, url):
        raise BadInput("the patterns leave out the address to begin with", hint="change include or exclude")
    plain = asdict(options)
    print_ = fingerprint(key, plain)
    site_id = await tx.fetchval(
        "insert into leasehold_audits.site (tenant_id, url, url_key) values ($1, $2, $3)"
        " on conflict (tenant_id, url_key) do update set url = excluded.url returning site_id",
        tenant, url, key,
    )  # fmt: skip
    if not force and (found := await _same(tx, print_)):
        return Asked(found, created=False)
    run_id: UUID = await tx.fetchval(
        "insert into leasehold_audits.run (tenant_id, site_id, recipe, fingerprint, options)"
        " values ($1, $2, $3, $4, $5) returning run_id",
        tenant, site_id, VERSION, print_, json.dumps(plain),
    )  # fmt: skip
    await _start(tx, run_id, crawl(run_id, part=1), "the audit has begun")
    return Asked(run_id, created=True)


async def resume(tx: Transaction, run_id: UUID) -> None:
    """Let a run that was stopped go on: what it has read it does not read again."""
    run = await RUNS.get(tx, run_id)
    part = await tx.fetchval("select leasehold_audits.resume_run($1)", run_id)
    if part is None:
        raise Conflict(f"audit {run_id} is {run.state}", hint="only one that was stopped can go on")
    is_reread = await tx.fetchval("select reread_of is not null from leasehold_audits.run where run_id = $1", run_id)
    await RUNS.start(tx, run_id, reread(run_id, part=part) if is_reread else crawl(run_id, part=part))


async def judge_again(tx: Transaction, run_id: UUID, *, settle: bool = False) -> UUID:
    """A new run over the pages that this one kept, by the recipe of today; nothing is fetched. Its id."""
    run = await RUNS.get(tx, run_id)
    if run.is_running:
        raise Conflict(f"audit {run_id} is running", hint="judge it again when it has ended")
    new: UUID = await tx.fetchval(
        "insert into leasehold_audits.run (tenant_id, site_id, recipe, fingerprint, options, reread_of, settles, told)"
        " select tenant_id, site_id, $2, 'again ' || run_id, options, coalesce(reread_of, run_id), $3, told"
        " from leasehold_audits.run where run_id = $1 returning run_id",
        run_id, VERSION, settle,
    )  # fmt: skip
    await _start(tx, new, reread(new, part=1), "the pages that were kept are judged again")
    return new


def crawl(run_id: UUID, *, part: int) -> Flow:
    """The steps of a run. Pages that fail do not keep it from ending: what is known of them is in their rows."""
    return _flow("audit", "audits.start", run_id, part)


def reread(run_id: UUID, *, part: int) -> Flow:
    return _flow("audit-again", "audits.again", run_id, part)


def _flow(name: str, first: str, run_id: UUID, part: int) -> Flow:
    order = {"run_id": str(run_id), "part": part}
    flow = Flow(name)
    begun = flow.add(first, order, name="start", queue=QUEUE)
    flow.add("audits.relate", order, name="relate", after=begun, on_failure="continue", queue=QUEUE)
    return flow


async def _start(tx: Transaction, run_id: UUID, flow: Flow, words: str) -> None:
    await RUNS.start(tx, run_id, flow)
    await tx.execute(
        "select leasehold_audits.tell($1, 'status_changed', 'running', $2, $3)",
        run_id, words, json.dumps({"state": "running"}),
    )  # fmt: skip


async def _same(tx: Transaction, print_: str) -> UUID | None:
    # The upsert of the site has locked its row: two requests at once come one after the other.
    found: UUID | None = await tx.fetchval(
        "select run_id from leasehold_audits.run"
        " where fingerprint = $1"
        " and (state = 'running' or state = 'succeeded' and created_at > leasehold.now() - $2::interval)"
        " order by created_at desc limit 1",
        print_, WINDOW,
    )  # fmt: skip
    return found
