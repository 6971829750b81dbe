"""Made-up postings, straight into the table, and how long search takes on them.

python -m tests.packs.postings.made --postings 50000
"""

import argparse
import asyncio
import json
import random
import sys
import time
from pathlib import Path
from uuid import UUID

import asyncpg

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.plugins.discovery import files_of
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.postings import feature, search
from leasehold_packs.postings.search import Query, Question
from tests.cell import Cell, apart

SKILLS = (
    "python", "kubernetes", "graphql", "django", "react", "terraform", "kafka", "postgresql", "golang", "rust", "java",
    "scala", "spark", "airflow", "tableau",
)  # fmt: skip
TITLES = (
    "Engineer",
    "Senior Engineer",
    "Data Scientist",
    "Product Manager",
    "Designer",
    "Sales Manager",
    "C++ Developer",
)
QUESTIONS = (
    "kubernetes",
    "kuberntes",
    "python -java",
    "c++",
    '"senior engineer"',
    "rare17",
    "data scientist spark",
    "grapql or rust",
    "pythonengineer",
    "berlin",
)


async def make_postings(cell: Cell, tenant: UUID, n: int, *, seed: int = 1) -> None:
    """So many postings of one source, with some 120 words each."""
    dice = random.Random(seed)
    words = [f"word{i}" for i in range(5000)]
    rows = [
        {
            "external_id": str(i),
            "title": f"{dice.choice(TITLES)} {dice.choice(SKILLS) if i % 3 == 0 else ''}".strip(),
            "description": " ".join([*dice.choices(SKILLS, k=3), *dice.choices(words, k=115), f"rare{i % 2000}"]),
            "remote": dice.choice(("remote", "hybrid", "onsite", None)),
            "seniority": dice.choice(("senior", "junior", None)),
            "age": i,
        }
        for i in range(n)
    ]
    connection = await administrator(cell)
    try:
        company = await connection.fetchval(
            "insert into leasehold_postings.company (tenant_id, name, name_key) values ($1, 'Made', 'made')"
            " returning company_id",
            tenant,
        )
        source = await connection.fetchval(
            "insert into leasehold_postings.source (tenant_id, company_id, board, slug, base, host, url, options)"
            " values ($1, $2, 'lever', 'made', 'http://127.0.0.1', '127.0.0.1', 'http://127.0.0.1', '{}')"
            " returning source_id",
            tenant, company,
        )  # fmt: skip
        for start in range(0, n, 5000):
            await connection.execute(
                "insert into leasehold_postings.posting (tenant_id, source_id, company_id, posting_id, cluster_id,"
                " external_id, url, title, locations, place, remote, seniority, description, digest, list_mark,"
                " first_seen)"
                " select $2, $3, $4, i.id, i.id, external_id, 'http://127.0.0.1', title, array['Berlin'], 'Berlin',"
                " remote, seniority, description, '', '', leasehold.now() - make_interval(mins => age)"
                " from jsonb_to_recordset($1::jsonb) r(external_id text, title text, description text, remote text,"
                " seniority text, age integer) cross join lateral (select gen_random_uuid() as id, r.age as unused) i",
                json.dumps(rows[start : start + 5000]), tenant, source, company,
            )  # fmt: skip
        known = sorted({*SKILLS, *words, "senior", "engineer", "data", "scientist"})
        await connection.execute(
            "insert into leasehold_postings.word (tenant_id, word, n) select $1, w, 10 from unnest($2::text[]) w",
            tenant,
            known,
        )
        await connection.execute("vacuum analyze leasehold_postings.posting")
        await connection.execute("analyze leasehold_postings.word")
    finally:
        await connection.close()


async def administrator(cell: Cell) -> asyncpg.Connection:
    """Row security stands in the way of making so many rows, and of looking at the plan of a function's statement."""
    return await asyncpg.connect(cell.cluster.url(cell.name), server_settings={"application_name": "leasehold-migrate"})


#: The statements of a question: titles that say it, others that do, and titles that look like it.
STATEMENTS = ("statement($1, true, 50, null)", "statement($1, false, 50, null)", "alike_statement($1, 50)")


async def plans_of(cell: Cell, tenant: UUID, question: Question) -> list[str]:
    """How PostgreSQL answers a question."""
    connection = await administrator(cell)
    try:
        async with connection.transaction():
            await connection.execute("select set_config('leasehold.tenant', $1, true)", str(tenant))
            await connection.execute("set local enable_seqscan = off")  # as the functions say that call them
            return [
                await _plan(connection, call, question)
                for call in STATEMENTS
                if question.q is not None or "false" in call
            ]
    finally:
        await connection.close()


async def _plan(connection: asyncpg.Connection, call: str, question: Question) -> str:
    statement = await connection.fetchval(f"select leasehold_postings.{call}", question.as_json())
    rows = await connection.fetch(f"explain {statement}")
    return "\n".join(row[0] for row in rows)


async def main(postings: int, times: int) -> int:
    async with apart() as cell:
        await migrate.migrate(cell.cluster.url(cell.name), packs=[files_of(feature)])
        await make_postings(cell, cell.tenant_a, postings)
        scans = 0
        for q in QUESTIONS:
            plans = await plans_of(cell, cell.tenant_a, search.question_of(Query(q=q)))
            scans += sum("Seq Scan" in plan for plan in plans)
        took: list[float] = []
        counted: list[float] = []
        cpu: list[float] = []
        async with cell.database(Role.API) as db:
            access = Access(Backend(Settings(), db), cell.tenant_a, "made")
            for n in range(times):
                question = search.question_of(Query(q=QUESTIONS[n % len(QUESTIONS)]))
                async with access.transaction() as tx:
                    backend = await tx.fetchval("select pg_backend_pid()")
                    begin, used = time.perf_counter(), _cpu_seconds(backend)
                    found = await search.find(tx, question, limit=50)
                    took.append(time.perf_counter() - begin)
                    cpu.append(_cpu_seconds(backend) - used)
                    await search.count(tx, question)
                    counted.append(time.perf_counter() - begin - took[-1])
                if n < len(QUESTIONS):
                    how = "by likeness" if found.alike else f"corrected to {found.corrected!r}"
                    shown = f"{len(found.ids)} shown, {how}"
                    print(f"{QUESTIONS[n]!r}: {shown}, {took[-1] * 1000:.1f} ms, facets {counted[-1] * 1000:.1f} ms")
    print(f"{postings} postings, {times} questions: {_speed(took)}, {scans} sequential scans")
    print(f"CPU of it: {_speed(cpu)}; facets beside it: {_speed(counted)}")
    return 1 if scans else 0


def _cpu_seconds(backend: int) -> float:
    """What this process and its backend have used so far; on a busy machine the clock tells of others."""
    return time.process_time() + int(Path(f"/proc/{backend}/schedstat").read_text().split()[0]) / 1e9


def _speed(took: list[float]) -> str:
    took = sorted(took)
    median, most = took[len(took) // 2], took[int(len(took) * 0.95)]
    return f"median {median * 1000:.1f} ms, p95 {most * 1000:.1f} ms"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--postings", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=400)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.postings, given.times)))
