"""Enqueues that commit late, among many that do not, while an old snapshot keeps every dead row alive.

    python -m tests.attacks.late_commits --jobs 500000 --cover leader
    python -m tests.attacks.late_commits --jobs 20000 --cover none       # must lose jobs: the checker's own test
    python -m tests.attacks.late_commits --jobs 1800000 --rate 500 --hold 3600       # one caller takes an hour

Callers hold their transactions open for 0.1 to 30 s, some roll back; claimers roll back or lose their connections.
Every acknowledged job must be started once. Cover: leader, two (leaders at once), killed (the leader is replaced every
few seconds and starts from nothing), none (floors are moved without watching open transactions).
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from uuid import UUID

import asyncpg

from leasehold.database.database import Database, Role
from leasehold.engine.leases import register_worker
from leasehold.worker.leader import TICK_SECONDS, Leader
from tests.cell import Cell, apart

HOLDS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Attack:
    def __init__(self, cell: Cell, *, jobs: int, cover: str, seed: int, rate: float | None, hold: float | None) -> None:
        self.cell, self.jobs, self.cover, self.seed, self.rate, self.hold = cell, jobs, cover, seed, rate, hold
        self.claim_seconds: list[float] = []
        self.acknowledged: dict[UUID, float] = {}
        self.late: set[UUID] = set()
        self.started: Counter[UUID] = Counter()
        self.started_at: dict[UUID, float] = {}
        self.enough = asyncio.Event()
        self.rolled_back = self.cut = 0

    def done(self) -> bool:
        return self.enough.is_set() and len(self.started) >= len(self.acknowledged)

    async def connect(self, role: Role) -> asyncpg.Connection:
        return await asyncpg.connect(self.cell.url(role))

    async def enqueue(self, connection: asyncpg.Connection, n: int) -> list[UUID]:
        await connection.execute("select set_config('leasehold.tenant', $1, true)", str(self.cell.tenant_a))
        made: list[UUID] = await connection.fetchval("select job_ids from leasehold.enqueue('t.work', $1)", ["{}"] * n)
        return made

    async def hurry(self, number: int) -> None:
        """Many jobs that commit at once."""
        dice, connection = random.Random(self.seed * 100 + number), await self.connect(Role.API)
        began = time.monotonic()
        while len(self.acknowledged) < self.jobs:
            ahead = self.rate and len(self.acknowledged) > self.rate * (time.monotonic() - began)
            if ahead or len(self.acknowledged) - len(self.started) > 2000:
                await asyncio.sleep(0.005)
                continue
            async with connection.transaction():
                ids = await self.enqueue(connection, dice.choice((1, 10, 200, 200)))
            self.acknowledged.update(dict.fromkeys(ids, time.monotonic()))
        self.enough.set()

    async def dawdle(self, number: int) -> None:
        """A few jobs whose transaction stays open for a while."""
        dice, connection = random.Random(self.seed * 1000 + number), await self.connect(Role.API)
        while not self.enough.is_set():
            transaction = connection.transaction()
            await transaction.start()
            ids = await self.enqueue(connection, dice.choice((1, 3)))
            with suppress(TimeoutError):
                hold = self.hold if self.hold and number == 0 else dice.choice(HOLDS)
                await asyncio.wait_for(self.enough.wait(), hold)
            if dice.random() < 0.2:
                await transaction.rollback()
                continue
            await transaction.commit()
            self.acknowledged.update(dict.fromkeys(ids, time.monotonic()))
            self.late.update(ids)

    async def work(self, number: int, worker: UUID) -> None:
        dice, connection = random.Random(self.seed * 10000 + number), await self.connect(Role.WORKER)
        while not self.done():
            transaction = connection.transaction()
            await transaction.start()
            asked = time.monotonic()
            rows = await connection.fetch(
                "select token, job_id from leasehold.claim($1, array['default'], 100)", worker
            )
            self.claim_seconds.append(time.monotonic() - asked)
            fate = dice.random()
            if fate < 0.02:
                await asyncio.sleep(dice.random() * 0.2)
                await transaction.rollback()
                self.rolled_back += 1
                continue
            if fate < 0.022:
                connection.terminate()
                connection = await self.connect(Role.WORKER)
                self.cut += 1
                continue
            await transaction.commit()
            now = time.monotonic()
            for row in rows:
                self.started[row["job_id"]] += 1
                self.started_at.setdefault(row["job_id"], now)
            if rows:
                tokens = [row["token"] for row in rows]
                await connection.fetchval(
                    "select leasehold.finish($1, $2, null, null, null)", tokens, ["succeeded"] * len(tokens)
                )
            if len(rows) < 100:
                await asyncio.sleep(0.1 if self.rate else 0.01)

    async def lead(self, db: Database, *, life: float | None = None) -> None:
        leader, born = Leader(db), time.monotonic()
        while not self.done():
            if life and time.monotonic() - born > life:
                leader, born = Leader(db), time.monotonic()
            await leader.tick()
            await asyncio.sleep(TICK_SECONDS)

    async def push_floors_blindly(self) -> None:
        while not self.done():
            await self.cell.change("select setval(floor, pg_sequence_last_value(clock)) from leasehold.lane")
            await asyncio.sleep(TICK_SECONDS)

    def covers(self, db: Database) -> list[Coroutine[None, None, None]]:
        match self.cover:
            case "leader":
                return [self.lead(db)]
            case "two":
                return [self.lead(db), self.lead(db)]
            case "killed":
                return [self.lead(db, life=3.0)]
            case _:
                return [self.push_floors_blindly()]

    async def run(self) -> dict[str, object]:
        holder = await self.connect(Role.READONLY)
        await holder.execute("begin isolation level repeatable read; select count(*) from leasehold.job")
        async with self.cell.database(Role.WORKER, connections=4) as db:
            worker = await register_worker(
                db, name="attack", version="0", queues=["default"], kinds={}, slots=100, lease_s=1e6
            )
            cover = self.covers(db)
            tasks = [
                *(self.hurry(n) for n in range(2)), *(self.dawdle(n) for n in range(12)),
                *(self.work(n, worker) for n in range(4)), *cover,
            ]  # fmt: skip
            began = time.monotonic()
            running = [asyncio.create_task(task) for task in tasks]
            await self.enough.wait()
            await asyncio.wait(running, timeout=20)
            for task in running:
                task.cancel()
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                if isinstance(outcome, Exception):
                    raise outcome
        await holder.close()
        return self.report(time.monotonic() - began)

    def report(self, seconds: float) -> dict[str, object]:
        delays = sorted(self.started_at[job] - self.acknowledged[job] for job in self.late if job in self.started_at)

        def at(share: float) -> float | None:
            return round(delays[int(share * (len(delays) - 1))], 3) if delays else None

        def claim_ms(claims: list[float]) -> float:
            return round(sorted(claims)[len(claims) // 2] * 1000, 2)

        return {
            "cover": self.cover,
            "seed": self.seed,
            "jobs": len(self.acknowledged),
            "late": len(self.late),
            "lost": len(self.acknowledged.keys() - self.started.keys()),
            "started_twice": sum(count > 1 for count in self.started.values()),
            "claims_rolled_back": self.rolled_back,
            "connections_cut": self.cut,
            "delay_after_commit_s": {"p50": at(0.5), "p95": at(0.95), "max": at(1.0)},
            "claim_p50_ms": {
                "first": claim_ms(self.claim_seconds[:1000]),
                "last": claim_ms(self.claim_seconds[-1000:]),
            },
            "jobs_per_second": round(len(self.started) / seconds),
        }


async def main(arguments: argparse.Namespace) -> dict[str, object]:
    async with apart() as cell:
        return await Attack(cell, **vars(arguments)).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--cover", choices=("leader", "two", "killed", "none"), default="leader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, help="jobs a second instead of as many as it takes")
    parser.add_argument("--hold", type=float, help="one caller holds its transactions open for this many seconds")
    arguments = parser.parse_args()
    found = asyncio.run(main(arguments))
    print(json.dumps(found))
    sys.exit(found["lost"] != 0 or found["started_twice"] != 0)
