"""A server with pages and living data: three tenants, jobs in every state, an hour of history."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from leasehold.dashboard import app
from leasehold.database import migrate
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases, maintenance, tenants
from leasehold.features.flows.model import approval, chain, group, step
from leasehold.features.flows.store import Flows
from leasehold.features.limits import store as limits_store
from leasehold.features.limits.store import Gates
from leasehold.features.schedules.store import Schedules
from leasehold.features.webhooks import store as webhooks
from leasehold.http.server import serving
from leasehold.installation_keys import secret_keys
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.plugins.discovery import discover, files_of_all
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.people.signed_in import invite, member, signed_in
from tests.http.conftest import settings_of

TRACE = """Traceback (most recent call last):
  File "/srv/shop/handlers.py", line 41, in refund
    receipt = await bank.refund(order.payment, amount=order.amount)
  File "/srv/shop/bank.py", line 88, in refund
    raise BankTimeout(f"no answer from the bank after {seconds} s")
"""
PACKS = "audits,monitors,passports,postings"
#: Attempts in a minute, how many of them fail while the bank is down, and how long they take.
KINDS = [
    ("shop.refund", 9, 2, 740),
    ("mail.send", 31, 0, 180),
    ("shop.invoice", 6, 0, 1900),
    ("feeds.import", 2, 1, 5200),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    cell: Cell
    url: str
    acme: UUID
    globex: UUID
    made: dict[str, UUID]  # jobs by what they are an example of
    tokens: dict[str, int]  # of the leases of those that run, and of a step by its kind
    cookie: str  # its name
    sessions: dict[str, str]  # cookies of people: operator, admin, member, viewer (of acme) and stranger (of globex)

    async def say(self, name: str, progress: float, message: str) -> None:
        """As the handler of a job that runs."""
        async with self.cell.database(Role.WORKER, connections=1) as db:
            await jobs.append_event(db, self.tokens[name], "progress", message=message, progress=progress)

    async def finish_step(self, kind: str) -> None:
        """As the handler of the step that runs."""
        async with self.cell.database(Role.WORKER, connections=1) as db:
            await jobs.finish(
                db, [AttemptOutcome(token=self.tokens[kind], outcome="succeeded", result="{}", error="null")]
            )


@asynccontextmanager
async def world(cell: Cell) -> AsyncIterator[World]:
    settings = settings_of(cell, port=0, host="127.0.0.1", ip_requests=1_000_000, key_requests=1_000_000)
    packs = discover(PACKS)
    await migrate.migrate(cell.cluster.url(cell.name), packs=files_of_all(packs))
    async with cell.database(Role.OPERATOR, connections=1) as db:
        ids = [await tenants.create_tenant(db, name) for name in ("acme", "globex", "initech")]
    await cell.pass_time(-3600)
    sent = await hooks(cell, ids[0], settings)
    orders, under_way = await orders_of(cell, ids)
    made, tokens = await fill(cell, ids)
    made, tokens = made | sent | orders, tokens | under_way
    await invite(cell, None, "olga@leasehold.example")
    olga, _ = await signed_in(cell, "olga@leasehold.example")
    sessions = {"operator": olga.text}
    for who, tenant, role, email in (
        ("admin", ids[0], "admin", "ada@acme.example"),
        ("member", ids[0], "member", "max@acme.example"),
        ("viewer", ids[0], "viewer", "vera@acme.example"),
        ("stranger", ids[1], "owner", "gus@globex.example"),
    ):
        token, _ = await member(cell, tenant, role, email)
        sessions[who] = token.text
    async with serving(settings, packs=packs, mount=app.mount) as url:
        cookie = f"leasehold_session_{url.rpartition(':')[2]}"
        yield World(
            cell=cell, url=url, acme=ids[0], globex=ids[1], made=made, tokens=tokens, cookie=cookie, sessions=sessions
        )


async def fill(cell: Cell, ids: Sequence[UUID]) -> tuple[dict[str, UUID], dict[str, int]]:
    """Jobs of the last hour: the engine's clock was put back, and moves on while they are made."""
    acme, globex, initech = ids
    made: dict[str, UUID] = {}
    tokens: dict[str, int] = {}
    async with (
        cell.database(Role.WORKER, connections=1) as db,
        cell.database(Role.OPERATOR, connections=1) as operator,
        cell.database(Role.API, connections=1) as api,
    ):
        for queue in ("money", "mail", "feeds"):
            await tenants.create_queue(operator, queue)
        hand = Hand(cell, db, await _register(db, "web-03:4117", ["default", "money", "mail"]))
        slow = Hand(cell, db, await _register(db, "feeds-01:902", ["feeds"]))
        for n in range(14):
            await cell.pass_time(47)
            mail = {"to": f"customer{n}@example.com", "template": "receipt"}
            job = await hand.ask(acme, "mail.send", mail, queue="mail")
            await hand.run(job, "succeeded", result={"message_id": f"<{n}.receipt@mail.example.com>"})
        made["succeeded"] = job
        for n in range(7):
            await cell.pass_time(61)
            order = {"order": 4710 + n, "payment": f"pay_{n}81c", "amount": {"cents": 2990 + n, "currency": "EUR"}}
            tags = ["vip"] if n % 3 == 0 else None
            job = await hand.ask(acme, "shop.refund", order, queue="money", priority=1, tags=tags, attempts=3)
            for attempt in range(1 if n < 2 else 3):
                message = f"no answer from the bank after {28 + n + attempt} s"
                error = {
                    "type": "BankTimeout",
                    "message": message,
                    "traceback": f"{TRACE}shop.bank.BankTimeout: {message}",
                }
                await hand.run(job, "failed" if n < 2 else "errored", error=error, seconds=28 + n + attempt)
        made["dead"] = job
        for n in range(3):
            await cell.pass_time(140)
            job = await hand.ask(globex, "feeds.import", {"url": f"https://feeds.example.com/{n}.xml"}, queue="default")
            error = {"type": "BadFeed", "message": f"line {90 + n}: not well-formed", "traceback": TRACE}
            await hand.run(job, "failed", error=error)
        made["of_globex"] = job
        await cell.change("update leasehold_test.clock set offset_s = -420")
        for n, tenant in enumerate((acme, globex, initech)):
            await cell.pass_time(40)
            job = await slow.ask(tenant, "feeds.import", {"url": "https://feeds.example.com/all.xml"}, queue="feeds")
            grant = await slow.claim(job)
            for step in range(1, 4 + n):
                message = f"{step * 1200:,} of 9,600 rows"
                await cell.pass_time(11)
                await jobs.append_event(db, grant.token, "progress", message=message, progress=12.5 * step)
            made.setdefault("running", job)
            tokens.setdefault("running", grant.token)
        for n in range(5):
            await cell.pass_time(9)
            made["queued"] = await hand.ask(acme, "reports.monthly", {"month": f"2026-0{n + 1}"}, queue="default")
        made["scheduled"] = await hand.ask(acme, "mail.digest", {"list": "weekly"}, queue="mail", delay_s=5400)
        for final in (False, True):
            invoice = {"order": 4720, "final": final}
            made["blocked"] = await hand.ask(acme, "shop.invoice", invoice, queue="money", group="order-4720")
        made["canceled"] = await hand.ask(globex, "mail.send", {"to": "nobody@example.com"}, queue="mail")
        await jobs.cancel(api, globex, made["canceled"], "the order was withdrawn")
        await cell.change("update leasehold_test.clock set offset_s = 0")
        for one in (hand, slow):
            await leases.heartbeat(db, one.worker)
        schedules = Schedules(api, acme, lambda _: None)
        await schedules.put("nightly-report", "reports.nightly", {}, cron="30 2 * * *", zone="Europe/Berlin")
        await schedules.put("poll-feeds", "feeds.import", {"url": "https://feeds.example.com"}, every=900, jitter=60)
        await schedules.put("weekly-digest", "mail.digest", {"list": "weekly"}, cron="0 9 * * 1", zone="Europe/Paris")
        await schedules.pause("weekly-digest")
        await limits_store.pause_queue(operator, "feeds", paused=True)
    await history(cell, ids, KINDS)
    return made, tokens


async def hooks(cell: Cell, tenant: UUID, settings: Settings) -> dict[str, UUID]:
    """An endpoint with a delivery that arrived and one that the receiver refused."""
    async with cell.database(Role.API, connections=1) as db, cell.database(Role.WORKER, connections=1) as worker:
        async with ActorTransaction.open(db, tenant=tenant, actor="person:ada") as scope:
            endpoint, _ = await webhooks.create_endpoint(
                scope,
                tenant,
                secret_keys(settings),
                settings,
                url="https://shop.example.com/hooks/leasehold",
                events=["job.*"],
                format_="standard",
                header_names={},
                headers={},
                max_in_flight=10,
                timeout_s=15.0,
                disable_after=timedelta(days=5),
            )
        for status, body in ((200, "ok"), (503, "the shop is closed")):
            await webhooks.test_endpoint(db, tenant, endpoint)
            [newest, *_] = await webhooks.list_deliveries(db, tenant)
            assert newest.job_id
            await webhooks.begin_delivery(worker, tenant, newest.delivery_id, newest.job_id)
            await webhooks.end_delivery(
                worker,
                tenant,
                newest.delivery_id,
                newest.job_id,
                status=status,
                error=None,
                request_headers={"webhook-id": str(newest.event_id), "content-type": "application/json"},
                response_body=body,
                duration_ms=84,
                is_last=True,
                rest_s=None,
            )
            await jobs.cancel(db, tenant, newest.job_id)
    return {"endpoint": endpoint, "delivery": newest.delivery_id}


async def orders_of(cell: Cell, ids: Sequence[UUID]) -> tuple[dict[str, UUID], dict[str, int]]:
    """Flows that wait for a person, one that failed, one with a step that runs; and a gate whose breaker opened."""
    acme, globex, _ = ids
    made: dict[str, UUID] = {}
    tokens: dict[str, int] = {}
    async with (
        cell.database(Role.WORKER, connections=1) as db,
        cell.database(Role.OPERATOR, connections=1) as operator,
        cell.database(Role.API, connections=1) as api,
    ):
        await tenants.create_queue(operator, "orders")
        worker = await _register(db, "orders-01:77", ["orders"])

        def ordered(kind: str, name: str) -> Any:
            return step(kind, {"order": 4711}, name=name, queue="orders", attempts=1)

        async def start(tenant: UUID, name: str, *, fails: str = "", stays: str = "") -> UUID:
            parcels = group(step("shop.label", {"parcel": n}, queue="orders") for n in range(8))
            asked = approval("May order 4711 leave the house?", name="release", expires=86_400, total="1,290.00 EUR")
            steps = chain(
                ordered("shop.reserve", "reserve"),
                group(ordered("shop.charge", "charge"), ordered("mail.send", "confirm")),
                asked,
                parcels,
                ordered("shop.ship", "ship"),
            )
            flows = Flows(api, tenant, lambda: None)
            flow_id = await flows.start(steps, name=name)
            while grants := await jobs.claim(db, worker, ["orders"], 10):
                for grant in grants:
                    if grant.kind == stays:
                        tokens[stays] = grant.token
                        continue
                    outcome = "failed" if grant.kind == fails else "succeeded"
                    error = {"type": "OutOfStock", "message": "only 2 of 3 are left"} if grant.kind == fails else {}
                    ended = AttemptOutcome(token=grant.token, outcome=outcome, result="{}", error=json.dumps(error))
                    await jobs.finish(db, [ended])
                await cell.pass_time(2)
            return flow_id

        made["flow_failed"] = await start(acme, "restock", fails="shop.reserve")
        made["flow"] = await start(acme, "order")
        await start(globex, "order")
        made["flow_running"] = await start(acme, "order", stays="shop.charge")
        made["approval"] = next(iter(await Flows(api, acme, lambda: None).approvals())).job_id
        bank = "host:bank.example.com"
        await Gates(api, acme).set(bank, rate=100, per_s=60, failures=1, ratio=0.1, cooldown_s=7200)
        await jobs.enqueue(api, acme, "shop.pay", ["{}"] * 3, {"queue": "orders", "gate": bank, "max_attempts": 1})
        [grant] = await jobs.claim(db, worker, ["orders"], 1)
        error = json.dumps({"type": "ConnectError", "message": "the bank does not answer"})
        await jobs.finish(db, [AttemptOutcome(token=grant.token, outcome="errored", result="null", error=error)])
        assert await jobs.claim(db, worker, ["orders"], 5) == []
    return made, tokens


class Hand:
    """A worker by hand, which runs the job that it is told to."""

    def __init__(self, cell: Cell, db: Database, worker: UUID) -> None:
        self.worker = worker
        self._cell = cell
        self._db = db

    async def ask(self, tenant: UUID, kind: str, payload: Any, *, attempts: int = 1, **options: Any) -> UUID:
        given = {name: value for name, value in options.items() if value is not None} | {"max_attempts": attempts}
        [made] = await jobs.enqueue(self._db, tenant, kind, [json.dumps(payload)], given)
        return made.job_id

    async def claim(self, job: UUID) -> ClaimedJob:
        [grant] = await jobs.claim(self._db, self.worker, ["default", "money", "mail", "feeds"], 1)
        assert grant.job_id == job
        return grant

    async def run(
        self, job: UUID, outcome: str, *, result: Any = None, error: Any = None, seconds: float = 0.4
    ) -> None:
        grant = await self.claim(job)
        await self._cell.pass_time(seconds)
        ended = AttemptOutcome(
            token=grant.token, outcome=outcome, result=json.dumps(result), error=json.dumps(error or {})
        )
        assert await jobs.finish(self._db, [ended]) == {grant.token}
        await self._cell.pass_time(3)  # longer than any back-off of these
        await maintenance.dispatch_due_jobs(self._db)


async def _register(db: Database, name: str, queues: list[str]) -> UUID:
    kinds: dict[str, dict[str, Any]] = {
        kind: {} for kind in ("mail.send", "mail.digest", "shop.refund", "shop.invoice", "feeds.import")
    }
    return await leases.register_worker(
        db, name=name, version="1.4.2", queues=queues, kinds=kinds, slots=10, lease_s=3600.0
    )


async def history(cell: Cell, ids: Sequence[UUID], kinds: Sequence[tuple[str, int, int, int]]) -> None:
    """An hour as roll_up would have kept it."""
    dice = random.Random(7)
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    rows = []
    for back in range(1, 61):
        at = now - timedelta(minutes=back)
        for number, tenant in enumerate(ids):
            for kind, usual, failing, run_ms in kinds:
                swing = 1 + 0.5 * ((back % 23) / 23) - 0.3 * (number / 3)
                n = max(1, round(dice.gauss(usual, usual / 5) * swing))
                bad = round(n * failing / usual) if 18 < back < 27 else int(dice.random() < 0.04)
                for outcome, count in (("succeeded", n - bad), ("errored", bad)):
                    if count > 0:
                        wait, run = (max(0, int(dice.gauss(ms, ms / 5) * count)) for ms in (90, run_ms))
                        values = f"'{at}', '{tenant}', 'default', '{kind}', '{outcome}', {count}, {wait}, {run}"
                        rows.append(f"({values})")
    await cell.change(
        "insert into leasehold.stat (minute, tenant_id, queue, kind, outcome, n, wait_ms, run_ms) values "
        + ", ".join(rows)
        + " on conflict do nothing"
    )
