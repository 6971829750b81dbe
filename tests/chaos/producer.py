"""``python -m tests.chaos.producer NAME SEED LOG``: clients that use every feature until SIGTERM, and write it down."""

import asyncio
import random
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from leasehold import approval, chain, group, sleep, step, wait_for
from leasehold.errors import LeaseholdError
from leasehold.program.client import Client
from tests.chaos.app import app
from tests.chaos.database import GATES, TENANTS
from tests.chaos.oplog import OpLog
from tests.chaos.remote_worker import KIND, QUEUE

CLIENTS = 3
PATIENCE_SECONDS = 10.0
#: Groups, so many at once.
GROUPS = {"g1": 1, "g2": 1, "g3": 1, "g4": 2, "g5": 3}


class Rolled(Exception):
    """A caller that changes its mind."""


class Producer:
    """One client: one operation after the other, chosen by its dice."""

    def __init__(self, log: OpLog, dice: random.Random, stop: asyncio.Event) -> None:
        self._log, self._dice, self._stop = log, dice, stop
        self._seen: dict[str, list[UUID]] = {tenant: [] for tenant in TENANTS}
        self._read: dict[UUID, int] = {}

    async def run(self) -> None:
        ways = self._ways()
        while not self._stop.is_set():
            [way] = self._dice.choices(list(ways), list(ways.values()))
            with suppress(Exception):  # it is in the log
                await way(self._dice.choice(TENANTS))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self._dice.uniform(0, 0.3))

    def _ways(self) -> dict[Callable[[str], Awaitable[None]], int]:
        return {
            self._plain: 16, self._delayed: 6, self._flaky: 6, self._keyed: 10, self._bulk: 3, self._doomed: 4,
            self._slow: 12, self._pack: 8, self._grouped: 12, self._gated: 6, self._limited: 5, self._unique: 6,
            self._flow: 3, self._batch: 3, self._asked: 10, self._secret: 2, self._sync: 4, self._snooze: 3,
            self._isolated: 1, self._remote: 8, self._signal: 2, self._cancel: 7, self._reschedule: 4, self._retry: 4,
            self._get: 6, self._follow: 5, self._peek: 4, self._list: 3,
        }  # fmt: skip

    # -- asking for work --------------------------------------------------------------------------------------------

    async def _plain(self, tenant: str) -> None:
        order = {"seconds": self._dice.uniform(0, 0.05)}
        await self._enqueue(tenant, "c.plain", [order], priority=self._dice.randint(0, 3))

    async def _delayed(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.plain", [{}], delay=self._dice.uniform(0.1, 4))

    async def _flaky(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.plain", [{"errors": self._dice.randint(1, 3)}])

    async def _slow(self, tenant: str) -> None:
        order = self._dice.choice(({"seconds": self._dice.uniform(0.5, 5)}, {"words": self._dice.randint(5, 40)}))
        await self._enqueue(tenant, "c.plain", [order])

    async def _keyed(self, tenant: str) -> None:
        """Few keys and two payloads: most of these ask again, or for something else."""
        key, value = f"k{self._dice.randint(1, 400)}", self._dice.choice((1, 1, 1, 2))
        await self._enqueue(tenant, "c.plain", [{"value": value}], keys=[key])

    async def _bulk(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.plain", [{"n": n} for n in range(self._dice.choice((5, 20, 60)))])

    async def _doomed(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.doomed", [{"permanent": self._dice.random() < 0.5}])

    async def _pack(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.pack", [{"seconds": self._dice.choice((0, 0, 0, 0.05, 1, 4))}])

    async def _grouped(self, tenant: str) -> None:
        name = self._dice.choice(list(GROUPS))
        orders = [{"seconds": self._dice.uniform(0, 0.05)}] * self._dice.choice((1, 1, 1, 4))
        await self._enqueue(tenant, "c.plain", orders, group=name, group_limit=GROUPS[name])

    async def _gated(self, tenant: str) -> None:
        orders: list[dict[str, Any]] = [{}] * self._dice.choice((1, 1, 5))
        await self._enqueue(tenant, "c.plain", orders, gate=self._dice.choice(list(GATES)))

    async def _limited(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.limited", [{"seconds": self._dice.uniform(0, 0.1)}])

    async def _unique(self, tenant: str) -> None:
        policy = self._dice.choice(("keep", "replace", "push"))
        more = {"delay": 0.5} if policy == "push" else {}
        order = {"seconds": self._dice.uniform(0, 0.3)}
        await self._enqueue(tenant, "c.unique", [order], unique=f"{policy}-u", on_duplicate=policy, **more)

    async def _batch(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.batch", [{}] * self._dice.choice((1, 10)))

    async def _secret(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.secret", [{}])

    async def _sync(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.sync", [{"seconds": self._dice.uniform(0, 0.2)}])

    async def _snooze(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.snooze", [{}])

    async def _isolated(self, tenant: str) -> None:
        await self._enqueue(tenant, "c.isolated", [{}])

    async def _remote(self, tenant: str) -> None:
        """For whoever works over HTTP."""
        order = self._dice.choice(({}, {"errors": self._dice.randint(1, 2)}, {"words": self._dice.randint(5, 30)}))
        await self._enqueue(tenant, KIND, [order], queue=QUEUE, attempts=30, retry_base_s=0.1, retry_cap_s=0.5)

    async def _enqueue(self, tenant: str, kind: str, values: list[Any], **options: Any) -> None:
        op = self._log.invoke("enqueue", tenant, kind=kind, values=values, **options)

        async def ask() -> dict[str, Any]:
            made = await app.enqueue_many(kind, values, tenant=tenant, **options)
            self._seen[tenant] = [*self._seen[tenant][-200:], *(job.job_id for job in made)]
            return {"jobs": [job.job_id for job in made], "created": [job.created for job in made]}

        await self._told(op, ask)

    async def _flow(self, tenant: str) -> None:
        shapes = [
            chain(step("c.fan", {"width": self._dice.randint(1, 12)}), step("c.sum", {})),
            chain(group(step("c.leaf", {"n": n}) for n in range(5)), step("c.sum", {})),
            chain(step("c.leaf", {"n": 1}), step("c.doomed", {"permanent": True}), step("c.sum", {})),
            chain(sleep(0.5), wait_for("go", f"s{self._dice.randint(1, 9)}", timeout=4.0), step("c.sum", {})),
            chain(approval("go on?", expires=2.0, default="approve"), step("c.leaf", {"n": 2})),
        ]
        op = self._log.invoke("start flow", tenant)

        async def ask() -> dict[str, Any]:
            return {"flow": await app.start(self._dice.choice(shapes), name="chaos", tenant=tenant)}

        await self._told(op, ask)

    async def _asked(self, tenant: str) -> None:
        """In a transaction of the caller's own, which may take its time, and may be rolled back."""
        hold, changes_mind = self._dice.choice((0, 0.05, 0.5, 3.0)), self._dice.random() < 0.25
        op = self._log.invoke("enqueue in transaction", tenant, hold=hold, rolled_back=changes_mind)

        async def ask() -> dict[str, Any]:
            try:
                connection = await asyncpg.connect(app.settings.api_url)
                try:
                    return await self._ask_within(connection, tenant, hold, changes_mind)
                finally:
                    connection.terminate()
            except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as problem:
                raise ConnectionError(str(problem)) from problem  # of the caller's own connection

        await self._told(op, ask)

    async def _ask_within(
        self, connection: asyncpg.Connection, tenant: str, hold: float, changes_mind: bool
    ) -> dict[str, Any]:
        with suppress(Rolled):
            async with connection.transaction():
                made = await app.enqueue("c.asked", {}, tenant=tenant, conn=connection)
                await connection.execute("insert into chaos.asked values ($1)", made.job_id)
                await asyncio.sleep(hold)
                if changes_mind:
                    raise Rolled
        return {"jobs": [made.job_id]}

    async def _signal(self, tenant: str) -> None:
        op = self._log.invoke("signal", tenant)

        async def ask() -> dict[str, Any]:
            flows = (await app.client(tenant)).flows
            return {"taken": await flows.send_signal("go", f"s{self._dice.randint(1, 9)}", {})}

        await self._told(op, ask)

    # -- acting on jobs ---------------------------------------------------------------------------------------------

    async def _cancel(self, tenant: str) -> None:
        await self._act("cancel", tenant, lambda client, job: client.cancel(job))

    async def _reschedule(self, tenant: str) -> None:
        later = datetime.now(UTC) + timedelta(seconds=self._dice.uniform(0, 3))
        await self._act("reschedule", tenant, lambda client, job: client.reschedule(job, later), run_at=later)

    async def _retry(self, tenant: str) -> None:
        ended = await (await app.client(tenant)).list_jobs(
            state=self._dice.choice(("dead", "failed", "canceled")), limit=5
        )
        if ended:
            job_id = self._dice.choice(ended).job_id
            await self._act("retry", tenant, lambda client, job: client.retry(job), job_id=job_id)

    async def _get(self, tenant: str) -> None:
        async def state(client: Client, job: UUID) -> Any:
            return (await client.get(job)).state

        await self._act("get", tenant, state)

    async def _act(
        self,
        what: str,
        tenant: str,
        act: Callable[[Client, UUID], Awaitable[Any]],
        *,
        job_id: UUID | None = None,
        **more: Any,
    ) -> None:
        job_id = job_id or self._one_of(tenant)
        if job_id is None:
            return
        op = self._log.invoke(what, tenant, job=job_id, **more)

        async def ask() -> dict[str, Any]:
            return {"said": str(await act(await app.client(tenant), job_id))}

        await self._told(op, ask)

    # -- looking ----------------------------------------------------------------------------------------------------

    async def _follow(self, tenant: str) -> None:
        """The events after the last one that was seen: none may be missing."""
        job_id = self._one_of(tenant)
        if job_id is None:
            return
        after = self._read.get(job_id, 0)
        op = self._log.invoke("follow", tenant, job=job_id, after=after)

        async def ask() -> dict[str, Any]:
            seen = [event.seq for event in await (await app.client(tenant)).events(job_id, after=after)]
            self._read[job_id] = seen[-1] if seen else after
            return {"seen": seen}

        await self._told(op, ask)

    async def _peek(self, tenant: str) -> None:
        """At a job of the other tenant: it must not be there."""
        job_id = self._one_of(tenant)
        if job_id is None:
            return
        [other] = set(TENANTS) - {tenant}
        act = self._dice.choice(("get", "cancel", "retry", "attempts"))
        op = self._log.invoke("peek", other, job=job_id, act=act)

        async def ask() -> dict[str, Any]:
            return {"said": str(await getattr(await app.client(other), act)(job_id))}

        await self._told(op, ask)

    async def _list(self, tenant: str) -> None:
        op = self._log.invoke("list", tenant)

        async def ask() -> dict[str, Any]:
            return {"jobs": [job.job_id for job in await (await app.client(tenant)).list_jobs(limit=50)]}

        await self._told(op, ask)

    def _one_of(self, tenant: str) -> UUID | None:
        """Every other time one of the newest: it may not have started yet."""
        seen = self._seen[tenant][-6:] if self._dice.random() < 0.5 else self._seen[tenant]
        return self._dice.choice(seen) if seen else None

    async def _told(self, op: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                result = await ask()
        except Exception as problem:
            self._log.failed(op, problem)
        else:
            self._log.ok(op, **result)


async def main(name: str, seed: str, log: Path) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    while not stop.is_set():
        try:
            await app.client(TENANTS[0])
            break
        except LeaseholdError:
            await asyncio.sleep(0.2)
    clients = [Producer(OpLog(log, f"{name}.{n}"), random.Random(f"{seed} {name} {n}"), stop) for n in range(CLIENTS)]
    await asyncio.gather(*(client.run() for client in clients))
    with suppress(LeaseholdError):
        await app.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
