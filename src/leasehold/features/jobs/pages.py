"""``/jobs``: find jobs, and retry or cancel many of them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.filters import plural, short
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages, as_id
from leasehold.errors import BadInput
from leasehold.features.jobs import search_syntax, store_bulk
from leasehold.features.jobs import store as engine
from leasehold.features.jobs.model import Jobs
from leasehold.features.jobs.store import BOUND, MOST
from leasehold.http.problems import Problem
from leasehold.job import Job, State

pages = Pages(NavigationEntry(path="/jobs", title="Jobs", key="j", scopes=frozenset({"jobs:read"})))
_LIMIT = 50
_TABS = ["running", "queued", "scheduled", "blocked", "succeeded", "failed", "dead", "canceled"]
_SAMPLE = 5
#: Names within payloads that are suggested: so many, so deep, and such as a search can say.
_NAMES = 40
_DEPTH = 3
_NAME = re.compile(r"[^.:\s]{1,40}")
#: Before all that match are acted on, there is so much time to think again.
UNDO_SECONDS = 10
#: What can be done to many, and the states it is done to.
_VERBS = {
    "retry": ("Retry", "retried", frozenset({State.FAILED, State.DEAD, State.CANCELED})),
    "cancel": ("Cancel", "canceled", frozenset({State.QUEUED, State.SCHEDULED, State.BLOCKED, State.RUNNING})),
}


@pages.get("/jobs", "jobs:read", "operator", live=True)
async def jobs(look: Look) -> Page | Response:
    viewer = look.viewer
    before = as_id(look.query("before")) if look.query("before") else None
    found, problem = Jobs(jobs=[], looked_to=None), None
    try:
        if (job_id := search_syntax.parse(look.query("q")).job_id) is not None:
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
        tenant_names=look.viewer.tenant_names,
        qualifiers=search_syntax.QUALIFIERS,
        suggestions=_suggestions(rows, payloads=viewer.caller.sees_payloads),
    )


@pages.get("/jobs/confirm", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    """Ask before anything is done to many: what, and to how many."""
    act = look.query("act").removesuffix("_all")
    if act not in _VERBS:
        raise Problem("bad_parameter", "there is no such action")
    return await (_confirm_all if look.query("act").endswith("_all") else _confirm_chosen)(look, act)


async def _confirm_chosen(look: Look, act: str) -> Page:
    verb, done, states = _VERBS[act]
    ids = [as_id(text) for text in look.request.query_params.getlist("job")][:MOST]
    wanted = [job for job in await engine.see_jobs(look.viewer.db, look.viewer.tenant, ids) if job.state in states]
    words = f"{len(ids) - len(wanted):,} more are in a state in which they cannot be." if len(ids) > len(wanted) else ""
    if not wanted:
        words = "Choose jobs first, or use “all that match”." if not ids else f"None of these can be {done}."
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


async def _confirm_all(look: Look, act: str) -> Page:
    """The jobs are selected now, and what is confirmed is that selection, whatever matches later."""
    verb, done, _ = _VERBS[act]
    viewer, filters = look.viewer, _filters(look)
    if not filters:
        raise Problem("invalid", "everything is too much", hint="search for something, or choose a state, first")
    if "payload" in filters:
        raise Problem("invalid", "all that have something in their payload is too much", hint="choose jobs instead")
    db = look.services.db if viewer.tenant else viewer.db
    found = await store_bulk.select_jobs(db, viewer.tenant, act, filters)
    n = sum(one.count for one in found)
    many = plural(n, "job")
    words = f"A job does it, piece by piece, and shows how far it is. It begins after {UNDO_SECONDS} seconds."
    if len(found) > 1:
        words = f"They belong to {len(found)} tenants. For each of them a job does it, piece by piece."
    return look.confirm(
        f"{verb} {many}?",
        words=words if n else f"No job that matches can be {done}.",
        inputs=[("reason", "Reason, kept with the jobs")] if act == "cancel" and n else [],
        action=look.url("/jobs/act"),
        back=look.url("/jobs", q=look.query("q"), state=look.query("state")),
        fields=[("selection", f"{one.tenant_id}/{one.selection_id}") for one in found],
        button=f"{verb} {many}",
        danger=act == "cancel",
        nothing=not n,
    )


@pages.post("/jobs/retry", "jobs:write", "operator")
async def retry(look: Look) -> Response:
    said = await _act_on_chosen(look, "retry")
    look.services.backend.announce()
    return look.go(look.url("/jobs"), said)


@pages.post("/jobs/cancel", "jobs:write", "operator")
async def cancel(look: Look) -> Response:
    return look.go(look.url("/jobs"), await _act_on_chosen(look, "cancel"))


@pages.post("/jobs/act", "jobs:write", "operator")
async def act_on_all(look: Look) -> Response:
    """What was confirmed, by a job of its own for each tenant, whose page shows how far it is."""
    made = []
    for name in look.form.getlist("selection"):
        tenant, _, selection = name.partition("/")
        async with look.viewer.acting(as_id(tenant)) as scope:
            reason = look.said("reason") or None
            begun, _ = await store_bulk.begin(scope, as_id(tenant), as_id(selection), reason, delay_s=UNDO_SECONDS)
            made.append(begun)
    look.services.backend.announce()
    if len(made) == 1:
        return look.go(
            look.url(f"/jobs/{made[0].job_id}"),
            f"This job does it, in {UNDO_SECONDS} seconds: until then, cancel it to undo.",
        )
    return look.go(
        look.url("/jobs", q="kind:jobs.act"), f"{plural(len(made), 'job')} do it." if made else "Nothing to do."
    )


async def _act_on_chosen(look: Look, act: str) -> str:
    """What was done, in words: to how many of those that were confirmed."""
    done, confirmed = 0, len(set(look.form.getlist("job")))
    for tenant, ids in (await _by_tenant(look)).items():
        async with look.viewer.acting(tenant) as scope:
            done += await engine.act_on_chosen(scope, tenant, act, ids, look.said("reason") or None)
    said = f"{_VERBS[act][1].capitalize()} {plural(done, 'job')}."
    if done == confirmed:
        return said
    flows = ", or belong to a flow, which is retried as a whole" if act == "retry" else ""
    return f"{said} {plural(confirmed - done, 'other')} had changed since{flows}."


def _filters(look: Look) -> dict[str, Any]:
    filters = _filters_of(look.query("q"), look.query("state"))
    if "payload" in filters and not look.viewer.caller.sees_payloads:
        raise BadInput("your role does not show payloads, and does not search in them")
    return filters


def _filters_of(q: str, state: str) -> dict[str, Any]:
    return search_syntax.parse(q).filters | ({"state": state} if state else {})


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


def _suggestions(rows: Sequence[Job], *, payloads: bool) -> list[str]:
    """What is on the page, as qualifiers; names within payloads for whoever sees them."""
    kinds = sorted({f"kind:{job.kind}" for job in rows})
    queues = sorted({f"queue:{job.queue}" for job in rows})
    tags = sorted({f"tag:{tag}" for job in rows for tag in job.tags or ()})
    states = [f"state:{name}" for name in _TABS]
    names = sorted({f"payload.{name}:" for job in rows for name in _names(job.payload)}) if payloads else []
    rest = ["error:", "key:", "created_after:", "created_before:"]
    return [*kinds[:20], *queues[:20], *tags[:20], *states, *names[:_NAMES], *rest]


def _names(value: Any, before: str = "", depth: int = 0) -> Iterator[str]:
    """Where values are in a payload: ``amount.cents``."""
    if not isinstance(value, dict) or depth == _DEPTH:
        return
    for name, inner in value.items():
        if _NAME.fullmatch(name):
            if isinstance(inner, dict):
                yield from _names(inner, f"{before}{name}.", depth + 1)
            else:
                yield f"{before}{name}"
