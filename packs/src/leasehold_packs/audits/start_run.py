"""How runs begin: when somebody requests one, by the clock, again after a stop, or over pages that were kept."""

import json
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from leasehold import Flow, Transaction
from leasehold.errors import BadInput, Conflict
from leasehold_packs.audits import store
from leasehold_packs.audits.model import Options, fingerprint
from leasehold_packs.audits.recipe import VERSION
from leasehold_packs.audits.run import RUNS
from leasehold_packs.webfacts.url_key import url_key

QUEUE = "audits"
#: The same request within this time gives the run that is there.
WINDOW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RequestedRun:
    run_id: UUID
    created: bool


async def request_run(tx: Transaction, url: str, options: Options, *, force: bool = False) -> RequestedRun:
    """Start a run, unless the same one runs already or has just ended."""
    key = url_key(url)
    if not options.covers(url, url):
        raise BadInput("the patterns leave out the address to begin with", hint="change include or exclude")
    plain = asdict(options)
    print_ = fingerprint(key, plain)
    site_id = await store.put_site(tx, url)
    if not force and (found := await _find_same(tx, print_)):
        return RequestedRun(found, created=False)
    run_id: UUID = await tx.fetchval(
        "select leasehold_audits.add_run($1, $2, $3, $4, $5)",
        tx.tenant_id, site_id, VERSION, print_, json.dumps(plain),
    )  # fmt: skip
    await _start(tx, run_id, crawl(run_id, part=1), "the audit has begun")
    return RequestedRun(run_id, created=True)


async def resume(tx: Transaction, run_id: UUID) -> None:
    """Let a run that was stopped go on: what it has read it does not read again."""
    run = await RUNS.get(tx, run_id)
    part = await tx.fetchval("select leasehold_audits.resume_run($1)", run_id)
    if part is None:
        raise Conflict(f"audit {run_id} is {run.state}", hint="only one that was stopped can go on")
    is_reread = await tx.fetchval("select reread_of is not null from leasehold_audits.run where run_id = $1", run_id)
    await RUNS.start(tx, run_id, reread(run_id, part=part) if is_reread else crawl(run_id, part=part))


async def reevaluate_run(tx: Transaction, run_id: UUID, *, settle: bool = False) -> UUID:
    """A new run over the pages that this one kept, by the recipe of today; nothing is fetched. Its id."""
    run = await RUNS.get(tx, run_id)
    if run.is_running:
        raise Conflict(f"audit {run_id} is running", hint="judge it again when it has ended")
    new: UUID = await tx.fetchval("select leasehold_audits.add_reevaluation($1, $2, $3)", run_id, VERSION, settle)
    await _start(tx, new, reread(new, part=1), "the pages that were kept are judged again")
    return new


def crawl(run_id: UUID, *, part: int) -> Flow:
    """The steps of a run. Pages that fail do not keep it from ending: what is known of them is in their rows."""
    return _flow("audit", "audits.start", run_id, part)


def reread(run_id: UUID, *, part: int) -> Flow:
    return _flow("audit-again", "audits.again", run_id, part)


def _flow(name: str, first: str, run_id: UUID, part: int) -> Flow:
    payload = {"run_id": str(run_id), "part": part}
    flow = Flow(name)
    started = flow.add(first, payload, name="start", queue=QUEUE)
    flow.add("audits.relate", payload, name="relate", after=started, on_failure="continue", queue=QUEUE)
    return flow


async def _start(tx: Transaction, run_id: UUID, flow: Flow, message: str) -> None:
    await RUNS.start(tx, run_id, flow)
    await store.add_event(tx, run_id, "status_changed", "running", message, data={"state": "running"})


async def _find_same(tx: Transaction, print_: str) -> UUID | None:
    # put_site has locked the row of the site: two requests at once come one after the other.
    found: UUID | None = await tx.fetchval("select leasehold_audits.find_same_run($1, $2)", print_, WINDOW)
    return found
