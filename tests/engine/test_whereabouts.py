"""One job in every situation, and every reader: all of them must give the same state."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from typer.testing import CliRunner

from leasehold.dashboard import app
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases, maintenance, tenants
from leasehold.features.flows.model import approval, chain, group, sleep, step, wait_for
from leasehold.features.flows.store import Flows
from leasehold.features.jobs.commands import app as commands
from leasehold.features.limits import store as limits_store
from leasehold.features.limits.store import Gates
from leasehold.http.server import serving
from leasehold.job import AttemptOutcome, ClaimedJob
from tests.cell import Cell
from tests.features.people.signed_in import member
from tests.http.conftest import Hand, Keys, bearer, settings_of
from tests.http.test_streams import LIVE, ask, following, messages, rest, served

OUTCOMES = {"succeeded", "failed", "dead", "canceled"}


class Situations:
    """Makes the jobs: each is in a situation of its own, and stays there."""

    def __init__(self, cell: Cell, db: Database, operator: Database, worker: UUID) -> None:
        self.cell = cell
        self.db = db
        self.operator = operator
        self.worker = worker
        self.states: dict[str, tuple[UUID, str]] = {}  # situation → job, and the state that all must give

    async def ask(self, kind: str = "t.work", n: int = 1, **options: Any) -> list[UUID]:
        return [job.job_id for job in await jobs.enqueue(self.db, self.cell.tenant_a, kind, ["{}"] * n, options)]

    async def claim(self) -> list[ClaimedJob]:
        return await jobs.claim(self.db, self.worker, ["default"], 10)

    async def end(self, grant: ClaimedJob, outcome: str, delay_s: float | None = None) -> None:
        error = '{"type": "E", "message": "no"}'
        ended = AttemptOutcome(token=grant.token, outcome=outcome, result="1", error=error, delay_s=delay_s)
        assert await jobs.finish(self.db, [ended]) == {grant.token}

    async def make(self) -> dict[str, tuple[UUID, str]]:
        await self._ended()
        await self._waiting_for_a_time()
        await self._steps_of_a_flow()
        await self._running_and_held_back()
        return self.states

    async def _ended(self) -> None:
        for name, outcome, attempts in (
            ("succeeded", "succeeded", 1), ("failed", "failed", 1), ("dead", "errored", 1), ("canceled", "canceled", 1)
        ):  # fmt: skip
            [job] = await self.ask(max_attempts=attempts)
            [grant] = await self.claim()
            await self.end(grant, outcome)
            self.states[name] = job, name
        [job] = await self.ask()
        assert await jobs.cancel(self.db, self.cell.tenant_a, job) == "canceled"
        self.states["canceled before it ran"] = job, "canceled"

    async def _waiting_for_a_time(self) -> None:
        [job] = await self.ask(delay_s=3600)
        self.states["scheduled"] = job, "scheduled"
        for name, delay_s in (("errored", None), ("snoozed", 3600.0), ("released", 3600.0)):
            [job] = await self.ask(max_attempts=5, retry_base_s=3600, retry_cap_s=3600)
            [grant] = await self.claim()
            await self.end(grant, name, delay_s)
            self.states[name] = job, "scheduled"
        [job] = await self.ask(max_attempts=1)
        [grant] = await self.claim()
        await self.end(grant, "failed")
        await jobs.retry(self.db, self.cell.tenant_a, job, datetime.now(UTC) + timedelta(hours=1))
        self.states["retried"] = job, "scheduled"

    async def _steps_of_a_flow(self) -> None:
        """Steps that wait for a parent, a person, a signal and a time."""
        waiting = group(
            chain(approval("May it?", name="approval"), step("t.work", name="child")),
            wait_for("paid", key="1", name="signal"),
            sleep(3600, name="sleep"),
        )
        flows = Flows(self.db, self.cell.tenant_a, lambda: None)
        found = await flows.steps(await flows.start(waiting))
        for one in found:
            if one.name:
                self.states[f"step: {one.name}"] = one.job_id, "blocked"
        assert len([name for name in self.states if name.startswith("step")]) == 4

    async def _running_and_held_back(self) -> None:
        [running] = await self.ask()
        [stopping] = await self.ask()
        [lost] = await self.ask()
        [first, second] = await self.ask(n=2, group="g")
        grants = {grant.job_id: grant for grant in await self.claim()}
        assert grants.keys() == {running, stopping, lost, first}
        assert await jobs.cancel(self.db, self.cell.tenant_a, stopping) == "requested"
        self.states |= {
            "running": (running, "running"),
            "asked to stop": (stopping, "running"),
            "first of a group": (first, "running"),
            "behind it in the group": (second, "blocked"),
        }
        await Gates(self.db, self.cell.tenant_a).hold("host:example.com", 3600)
        [gated] = await self.ask(gate="host:example.com")
        await limits_store.pause_kind(self.operator, "t.limited", paused=True)
        [of_kind] = await self.ask("t.limited")
        assert await self.claim() == []
        await tenants.set_tenant(self.operator, self.cell.tenant_a, max_running=len(grants))
        [of_tenant] = await self.ask()
        assert await self.claim() == []
        places = await self.cell.look(
            "select job_id, 'gated' as at from leasehold.gated union all select job_id, 'parked' from leasehold.parked"
        )
        assert {row["job_id"]: row["at"] for row in places} == {
            str(gated): "gated", str(of_kind): "parked", str(of_tenant): "parked"
        }  # fmt: skip
        await self.end(grants[lost], "lost")
        [ready] = await self.ask()
        [in_line] = await self.ask(group="alone")
        self.states |= {
            "at a gate": (gated, "blocked"),
            "over the limit of its kind": (of_kind, "queued"),
            "over the limit of its tenant": (of_tenant, "queued"),
            "lost with its worker": (lost, "queued"),
            "ready": (ready, "queued"),
            "first in the line of its group": (in_line, "blocked"),
        }


@asynccontextmanager
async def situations(cell: Cell) -> AsyncIterator[dict[str, tuple[UUID, str]]]:
    async with cell.database(Role.WORKER, connections=2) as db, cell.database(Role.OPERATOR, connections=1) as operator:
        kinds: dict[str, dict[str, Any]] = {"t.work": {}, "t.limited": {}}
        worker = await leases.register_worker(
            db, name="w", version="0", queues=["default"], kinds=kinds, slots=100, lease_s=3600.0
        )
        yield await Situations(cell, db, operator, worker).make()


async def streamed(api: httpx.AsyncClient, job: UUID) -> str:
    """What the first message of its stream says; of a job that has ended, what the end says."""
    async with api.stream("GET", f"/v1/jobs/{job}/events", headers=LIVE) as response:
        if response.status_code != 200:
            return str(response.status_code)
        found = messages(response)
        first = await anext(found)
        assert first.event == "state"
        if first.data["state"] in OUTCOMES:
            [end] = await rest(found)
            assert (end.event, end.data["state"]) == ("end", first.data["state"])
        return str(first.data["state"])


async def test_every_reader_gives_the_same_state(cell: Cell, key: Keys) -> None:
    session, _ = await member(cell, cell.tenant_a, "owner")
    async with situations(cell) as made, serving(settings_of(cell, port=0), mount=app.mount) as url:
        wanted = {name: state for name, (_, state) in made.items()}
        by_job = {str(job): name for name, (job, _) in made.items()}
        cookies = {f"leasehold_session_{url.rpartition(':')[2]}": session.text}
        async with (
            httpx.AsyncClient(base_url=url, headers=bearer(key.a), timeout=60) as api,
            httpx.AsyncClient(base_url=url, cookies=cookies, timeout=60) as browser,
        ):
            found: dict[str, dict[str, str]] = {reader: {} for reader in ("get", "stream", "explain", "page", "cli")}
            for name, (job, state) in made.items():
                found["get"][name] = (await api.get(f"/v1/jobs/{job}")).json()["state"]
                found["stream"][name] = await streamed(api, job)
                why = (await api.get(f"/v1/jobs/{job}/explain")).json()
                assert why["reasons"] == [] or why["state"] in ("queued", "scheduled", "blocked"), name
                assert why["reasons"] or state not in ("scheduled", "blocked"), f"{name}: nothing says why it waits"
                found["explain"][name] = why["state"]
                pill = re.search(r'<span class="state (\w+) pill">', (await browser.get(f"/jobs/{job}")).text)
                found["page"][name] = pill[1] if pill else "none"
            listed = (await api.get("/v1/jobs?limit=200")).json()["data"]
            found["list"] = {by_job[one["job_id"]]: one["state"] for one in listed if one["job_id"] in by_job}
            found["list of one state"] = await each_state(made, lambda state: list_of(api, state))
            found["search of one state"] = await each_state(made, lambda state: search_for(browser, state))
            found["cli"] = await asyncio.to_thread(told_by_cli, cell, made)
            counts = await counted(browser)
        for reader, states in found.items():
            assert states == wanted, reader
        expected = Counter(state for state in wanted.values() if state != "succeeded")  # which are not counted
        assert counts == expected


async def each_state(made: dict[str, tuple[UUID, str]], ask: Any) -> dict[str, str]:
    """What is found when one state after another is asked for."""
    found: dict[str, str] = {}
    names = {str(job): name for name, (job, _) in made.items()}
    for state in sorted({state for _, state in made.values()}):
        for job in await ask(state):
            if job in names:
                assert names[job] not in found, f"{names[job]}: in two states"
                found[names[job]] = state
    return found


async def list_of(api: httpx.AsyncClient, state: str) -> list[str]:
    return [one["job_id"] for one in (await api.get(f"/v1/jobs?limit=200&state={state}")).json()["data"]]


async def search_for(browser: httpx.AsyncClient, state: str) -> list[str]:
    return re.findall(r'href="/jobs/([0-9a-f-]{36})"', (await browser.get(f"/jobs?q=queue:default&state={state}")).text)


async def counted(browser: httpx.AsyncClient) -> dict[str, int]:
    """The numbers on the tabs of the page of jobs."""
    tabs = re.findall(r'state=(\w+)"[^>]*>\w+<span class="n">(\d+)</span>', (await browser.get("/jobs")).text)
    return {state: int(n) for state, n in tabs}


def told_by_cli(cell: Cell, made: dict[str, tuple[UUID, str]]) -> dict[str, str]:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a"}
    found = {}
    for name, (job, _) in made.items():
        said = CliRunner().invoke(commands, ["get", str(job), "--json"], env=env)
        found[name] = json.loads(said.stdout)["state"]
    return found


async def test_a_stream_stays_open_while_its_job_waits_at_a_gate(cell: Cell, key: Keys, hand: Hand) -> None:
    gates = Gates(hand.db, cell.tenant_a)
    await gates.hold("host:example.com", 3600)
    async with served(settings_of(cell, port=0), key) as live:
        job, other = await ask(live, gate="host:example.com"), await ask(live)
        async with following(live, job) as found, following(live, other) as others:
            assert (await anext(found)).data["state"] == "queued"
            await anext(others)
            grant = await hand.claim()
            assert str(grant.job_id) == other
            assert (await live.get(f"/v1/jobs/{job}")).json()["state"] == "blocked"
            for percent in (10, 50):
                await hand.say(grant, percent)
                await anext(others)  # so the server has looked at both
            waiting = asyncio.create_task(rest(found))
            await hand.end(grant)
            assert [one.event for one in await rest(others)][-1] == "end"
            assert not waiting.done(), "the server let go of the reader"
            await gates.reset("host:example.com")
            await maintenance.ring_gates(hand.db, ["default"])
            await hand.end(await hand.claim_soon())
            told = await waiting
    assert [one.event for one in told] == ["patch", "patch", "end"]
