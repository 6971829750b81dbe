"""Made-up postings, straight into the table, and how long search takes on them.

python -m tests.packs.postings.made --postings 50000
"""

import argparse
import asyncio
import json
import random
import sys
import time
from uuid import UUID

import asyncpg

from leasehold.access import Access
from leasehold.client import Backend
from leasehold.engine import migrate
from leasehold.engine.database import Role
from leasehold.settings import Settings
from leasehold_packs.postings import pack, search
from leasehold_packs.postings.search import Query
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


async def plan_of(cell: Cell, tenant: UUID, question: dict[str, object], *, alike: bool = False) -> str:
    """How PostgreSQL answers a question, by its words or by likeness."""
    connection = await administrator(cell)
    try:
        async with connection.transaction():
            await connection.execute("select set_config('leasehold.tenant', $1, true)", str(tenant))
            call = "alike_statement($1, 50)" if alike else "statement($1, 50, null)"
            statement = await connection.fetchval(f"select leasehold_postings.{call}", json.dumps(question))
            rows = await connection.fetch(f"explain {statement}")
        return "\n".join(row[0] for row in rows)
    finally:
        await connection.close()


async def main(postings: int, times: int) -> int:
    async with apart() as cell:
        await migrate.migrate(cell.cluster.url(cell.name), packs=[pack.files])
        await make_postings(cell, cell.tenant_a, postings)
        scans = 0
        for q in QUESTIONS:
            for alike in (False, True):
                scans += "Seq Scan" in await plan_of(cell, cell.tenant_a, search.asked(Query(q=q)), alike=alike)
        took: list[float] = []
        async with cell.database(Role.API) as db:
            access = Access(Backend(Settings(), db), cell.tenant_a, "made")
            for n in range(times):
                question = search.asked(Query(q=QUESTIONS[n % len(QUESTIONS)]))
                async with access.transaction() as tx:
                    begin = time.perf_counter()
                    found = await search.find(tx, question, limit=50)
                    took.append(time.perf_counter() - begin)
                if n < len(QUESTIONS):
                    how = "by likeness" if found.alike else f"corrected to {found.corrected!r}"
                    shown = f"{len(found.ids)} shown, {how}"
                    print(f"{QUESTIONS[n]!r}: {shown}, {took[-1] * 1000:.1f} ms")
    took.sort()
    median, most = took[len(took) // 2], took[int(len(took) * 0.95)]
    speed = f"median {median * 1000:.1f} ms, p95 {most * 1000:.1f} ms"
    print(f"{postings} postings, {times} questions: {speed}, {scans} sequential scans")
    return 1 if scans else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--postings", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=400)
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.postings, given.times)))
