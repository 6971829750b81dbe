"""``/jobs/{id}``: one job, from its request to now."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from uuid import UUID

from starlette.responses import Response

from leasehold.dashboard.filters import changes, pretty, short
from leasehold.dashboard.page import Look, Page, Pages
from leasehold.engine import jobs, progress
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.features.flows.store import flow_of_job
from leasehold.features.jobs import store as engine
from leasehold.http.problems import Problem
from leasehold.job import Attempt, Event, Job, Reason, State

pages = Pages()
_EVENTS = 200
#: Attempts whose errors are compared, the newest.
_COMPARED = 20
_WAITING = {State.QUEUED, State.SCHEDULED, State.BLOCKED}


@pages.get("/jobs/{job_id}", "jobs:read", "operator", live=True)
async def job(look: Look) -> Page:
    viewer = look.viewer
    found = await _job(look)
    db, owner, job_id = look.services.db, found.tenant_id, found.job_id
    events = await _newest_events(look, found)
    attempts = await jobs.list_attempts(db, owner, job_id)
    return look.show(
        "job.html",
        live=not found.state.is_outcome,
        own_tenant=True,
        job=found,
        tenant_name=_name_of(look, owner),
        events=events,
        attempts=attempts,
        differs=_differences(attempts),
        reasons=await _reasons(look, found) if found.state in _WAITING else [],
        may_retry=found.state.is_outcome and found.state is not State.SUCCEEDED and viewer.may("jobs:write"),
        may_cancel=not found.state.is_outcome and not found.cancel_requested and viewer.may("jobs:write"),
        may_copy=viewer.may("jobs:write"),
        shows_payload=viewer.caller.sees_payloads,
        curl=f"curl -H 'Authorization: Bearer '$KEY {look.request.base_url}v1/jobs/{job_id}",
        command=look.command(f"leasehold jobs get {job_id}", owner),
        again=_command(look, found),
        original=found.copied_from,
        flow_id=await flow_of_job(db, owner, job_id),
    )


@pages.get("/jobs/{job_id}/confirm/{act}", "jobs:write", "operator")
async def confirm(look: Look) -> Page:
    found = await _job(look)
    act = look.request.path_params["act"]
    if act not in ("retry", "cancel"):
        raise Problem("not_found", "there is no such page")
    runs = found.state is State.RUNNING
    words = {
        "retry": f"It gets {found.max_attempts} new attempts and starts as soon as a worker is free.",
        "cancel": "It runs: its worker is told to stop." if runs else "It has not started, and never will.",
    }[act]
    return look.confirm(
        f"{act.capitalize()} {found.kind}?",
        words=words,
        inputs=[("reason", "Reason, kept with the job")] if act == "cancel" else [],
        action=look.url(f"/jobs/{found.job_id}/{act}"),
        back=look.url(f"/jobs/{found.job_id}"),
        button="Cancel the job" if act == "cancel" else "Retry the job",
        danger=act == "cancel",
    )


@pages.post("/jobs/{job_id}/retry", "jobs:write", "operator")
async def retry(look: Look) -> Response:
    found = await _job(look)
    async with look.viewer.acting(found.tenant_id) as scope:
        await jobs.retry(scope, found.tenant_id, found.job_id)
    look.services.backend.announce()
    return look.go(look.url(f"/jobs/{found.job_id}"), "It runs again.")


@pages.post("/jobs/{job_id}/cancel", "jobs:write", "operator")
async def cancel(look: Look) -> Response:
    found = await _job(look)
    async with look.viewer.acting(found.tenant_id) as scope:
        became = await jobs.cancel(scope, found.tenant_id, found.job_id, look.said("reason") or None)
    words = {"canceled": "Canceled.", "requested": "Its worker is told to stop."}
    return look.go(look.url(f"/jobs/{found.job_id}"), words.get(became, f"It had {became} already."))


@pages.get("/jobs/{job_id}/copy", "jobs:write", "operator")
async def copy(look: Look) -> Page:
    found = await _job(look)
    return _copy_form(look, found, json.dumps(found.payload, ensure_ascii=False, indent=2))


@pages.post("/jobs/{job_id}/copy", "jobs:write", "operator")
async def make_copy(look: Look) -> Response | Page:
    """A new job like this one, with its payload as edited. It keeps where it came from."""
    found = await _job(look)
    text = look.said("payload")
    try:
        payload = json.loads(text)
        async with look.viewer.acting(found.tenant_id) as scope:
            copied = await engine.copy_job(scope, found.tenant_id, found.job_id, payload)
    except (ValueError, BadInput, Conflict) as problem:
        return _copy_form(look, found, text, problem=str(problem))
    look.services.backend.announce(found.queue)
    return look.go(look.url(f"/jobs/{copied}"), f"A copy of {short(found.job_id)}.")


async def _job(look: Look) -> Job:
    job_id = look.path_id("job_id")
    found = await engine.see_jobs(look.viewer.db, look.viewer.tenant, [job_id])
    if not found:
        raise NotFound(f"there is no job {job_id}")
    return found[0]


def _copy_form(look: Look, found: Job, text: str, problem: str | None = None) -> Page:
    return look.show("copy_job.html", own_tenant=True, job=found, text=text, problem=problem)


def _differences(attempts: Sequence[Attempt]) -> dict[int, list[tuple[str, str]]]:
    """By token: how the error of an attempt differs from that of the one before it."""
    return {
        now.token: changes(_error_text(before), _error_text(now))
        for before, now in pairwise(attempts[-_COMPARED:])
        if before.error and now.error
    }


def _error_text(attempt: Attempt) -> str:
    error = attempt.error or {}
    return error.get("traceback") or pretty(error)


async def _newest_events(look: Look, found: Job) -> list[Event]:
    heads = await progress.job_heads(look.services.db, [found.job_id])
    after = max(0, heads[found.job_id].seq - _EVENTS) if found.job_id in heads else 0
    return await jobs.events_since(look.services.db, found.tenant_id, found.job_id, after, _EVENTS)


async def _reasons(look: Look, found: Job) -> list[Reason]:
    """Some end with the command that helps."""
    reasons = await jobs.explain(look.services.db, found.tenant_id, found.job_id)
    return [
        replace(one, detail=look.command(one.detail, found.tenant_id)) if ": leasehold " in one.detail else one
        for one in reasons
    ]


def _name_of(look: Look, tenant: UUID) -> str | None:
    return next((one.name for one in look.viewer.tenants if one.tenant_id == tenant), None)


def _command(look: Look, found: Job) -> str | None:
    """The same again, on a command line; None where its arguments cannot say the payload."""
    if not isinstance(found.payload, dict):
        return None
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in found.payload.items()]
    line = shlex.join(["leasehold", "run", found.kind, *given, "--queue", found.queue])
    return look.command(line, found.tenant_id)
