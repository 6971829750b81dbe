"""``/jobs``: find jobs, and retry or cancel many of them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from starlette.responses import Response

from leasehold.api.problems import Problem
from leasehold.dashboard import search
from leasehold.dashboard.overview import names_of
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.dashboard.words import plural, short
from leasehold.engine import look as engine
from leasehold.engine.look import BOUND, MOST
from leasehold.errors import BadInput
from leasehold.job import Job, State

pages = Pages(NavigationEntry(path="/jobs", title="Jobs", key="j", scopes=frozenset({"jobs:read"})))
_LIMIT = 50
_TABS = ["running", "queued", "scheduled", "blocked", "succeeded", "failed", "dead", "canceled"]
_SAMPLE = 5
#: What can be done to many, and the states it is done to.
_VERBS = {
    "retry": ("Retry", "retried", frozenset({State.FAILED, State.DEAD, State.CANCELED})),
    "cancel": ("Cancel", "canceled", frozenset({State.QUEUED, State.SCHEDULED, State.BLOCKED, State.RUNNING})),
}


@pages.get("/jobs", "jobs:read", "operator", live=True)
async def jobs(look: Look) -> Page | Response:
    viewer = look.viewer
    before = as_id(look.query("before")) if look.query("before") else None
    found, problem = engine.Jobs(jobs=[], looked_to=None), None
    try:
        if (job_id := search.parse(look.query("q")).job_id) is not None:
            return look.go(look.url(f"/jobs/{job_id}"), "") if await _exists(look, job_id) else _unknown(look, job_id)
        found = await engine.find_jobs(viewer.db, viewer.tenant, _filters(look), before=before, limit=_LIMIT)
    except BadInput as wrong:
        problem = wrong
    rows = await engine.see_jobs(viewer.db, viewer.tenant, found.jobs)
    return look.show(
        "jobs.html",
        live=before is None and problem is None,
        q=look.query("q"),
        state=look.query("state"),
        before=before,
        problem=problem,
        rows=rows,
        limit=_LIMIT,
        window=f"{MOST:,}",
        looked_to=found.looked_to,
        looked_since=_made_at(found.looked_to),
        counts=await engine.count_states(viewer.db, viewer.tenant),
        bound=BOUND,
        states=_TABS,
        tenant_names=names_of(look),
        qualifiers=search.QUALIFIERS,
        suggestions=_suggestions(rows),
    )


@pages.get("/jobs/confirm", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    """Ask before anything is done to many: what, and to how many."""
    act = look.query("act").removesuffix("_all")
    if act not in _VERBS:
        raise Problem("bad_parameter", "there is no such action")
    verb, _, states = _VERBS[act]
    ids = await _asked_for(look)
    wanted = [job for job in await engine.see_jobs(look.viewer.db, look.viewer.tenant, ids) if job.state in states]
    words = f"{len(ids) - len(wanted):,} more are in a state in which they cannot be." if len(ids) > len(wanted) else ""
    if len(ids) == MOST:
        words = f"These are the newest {MOST:,} that match; do it again for the rest."
    if not wanted:
        words = "Choose jobs first, or use “all that match”." if not ids else f"None of these can be {_VERBS[act][1]}."
    return look.confirm(
        f"{verb} {plural(len(wanted), 'job')}?",
        words=words,
        sample=[f"{job.kind} {short(job.job_id)}, {job.state}" for job in wanted[:_SAMPLE]]
        + ([f"and {len(wanted) - _SAMPLE:,} more"] if len(wanted) > _SAMPLE else []),
        inputs=[("reason", "Reason, kept with the jobs")] if act == "cancel" and wanted else [],
        action=look.url(f"/jobs/{act}"),
        back=look.url("/jobs", q=look.query("q"), state=look.query("state")),
        fields=[("job", job.job_id) for job in wanted],
        button=f"{verb} {plural(len(wanted), 'job')}",
        danger=act == "cancel",
        nothing=not wanted,
    )


@pages.post("/jobs/retry", "jobs:write", "operator")
async def retry(look: Look) -> Response:
    done = 0
    for tenant, ids in (await _by_tenant(look)).items():
        async with look.viewer.acting(tenant) as scope:
            done += await engine.retry_jobs(scope, tenant, ids)
    look.services.backend.announce()
    return look.go(look.url("/jobs"), f"Retried {plural(done, 'job')}.")


@pages.post("/jobs/cancel", "jobs:write", "operator")
async def cancel(look: Look) -> Response:
    done = 0
    for tenant, ids in (await _by_tenant(look)).items():
        async with look.viewer.acting(tenant) as scope:
            done += await engine.cancel_jobs(scope, tenant, ids, look.said("reason") or None)
    return look.go(look.url("/jobs"), f"Canceled {plural(done, 'job')}.")


def _filters(look: Look) -> dict[str, str]:
    filters = search.parse(look.query("q")).filters
    if state := look.query("state"):
        filters["state"] = state
    return filters


async def _asked_for(look: Look) -> Sequence[UUID]:
    if look.query("act").endswith("_all"):
        viewer = look.viewer
        return (await engine.find_jobs(viewer.db, viewer.tenant, _filters(look), limit=MOST)).jobs
    return [as_id(text) for text in look.request.query_params.getlist("job")][:MOST]


async def _by_tenant(look: Look) -> dict[UUID, list[UUID]]:
    """The jobs of the form that this viewer sees, by their owner."""
    ids = [as_id(text) for text in look.form.getlist("job")][:MOST]
    owned: dict[UUID, list[UUID]] = defaultdict(list)
    for job in await engine.see_jobs(look.viewer.db, look.viewer.tenant, ids):
        owned[job.tenant_id].append(job.job_id)
    return owned


async def _exists(look: Look, job_id: UUID) -> bool:
    return bool(await engine.see_jobs(look.viewer.db, look.viewer.tenant, [job_id]))


def _unknown(look: Look, job_id: UUID) -> Response:
    return look.go(look.url("/jobs"), f"There is no job {job_id}.")


def _made_at(job_id: UUID | None) -> datetime | None:
    """The time in the id."""
    return None if job_id is None else datetime.fromtimestamp((job_id.int >> 80) / 1000, UTC)


def _suggestions(rows: Sequence[Job]) -> list[str]:
    kinds = sorted({f"kind:{job.kind}" for job in rows})
    queues = sorted({f"queue:{job.queue}" for job in rows})
    tags = sorted({f"tag:{tag}" for job in rows for tag in job.tags or ()})
    return [*kinds, *queues, *tags][:30]
