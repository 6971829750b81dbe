"""Search: what is found, what is put right, and by which index."""

import json
import re
from uuid import uuid4

import pytest

from leasehold.database.database import Database
from leasehold.errors import BadInput
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.postings import search, spelling
from leasehold_packs.postings.search import Query
from tests.cell import Cell
from tests.corpora.data import CORPORA, needs_corpora
from tests.packs.postings.conftest import Opened, uber
from tests.packs.postings.made import make_postings, plans_of
from tests.packs.postings.replay import Board, Boards, Job

TEXTS = {
    1: ("Platform Engineer", "You run Kubernetes clusters and write Python services behind a GraphQL gateway."),
    2: ("C++ Engineer", "Modern C++17, some C#/.NET. Five years with engines."),
    3: ("Embedded C Engineer", "Firmware in C for small devices."),
    4: ("Backend Engineer", "ASP.NET and C# on the server, Node.js tools."),
    5: ("Python Developer (Remote)", "Django and Python/Flask, from home. Salary: $100,000 - $120,000 per year."),
    6: ("Barista", 'Coffee, and nothing but coffee. "Quoted phrase" work.'),
}


def small_board() -> Board:
    return Board(
        "lever", {n: Job(id=n, title=title, locations=("Berlin",), text=text) for n, (title, text) in TEXTS.items()}
    )


def naughty() -> list[str]:
    """Strings that break programs."""
    known: list[str] = json.loads((CORPORA / "naughty" / "blns.json").read_text()) if CORPORA.exists() else []
    return [*known, "a\x00b", "'" * 400, "-" * 400, "c++" * 100, "\\", "!&|<->", '"', "- -", "or or"]


async def test_words_are_found_as_people_write_them(tracking: Opened) -> None:
    async with tracking(Boards([board := small_board()])) as tracker:
        await tracker.add(board)
        await tracker.run()

        async def ids(q: str | None, **query: object) -> tuple[set[int], str | None]:
            rows, found = await tracker.find(q, **query)
            return {int(row.url.rpartition("/")[2]) for row in rows}, found.corrected

        for q, wanted, corrected in [
            ("kuberntes", {1}, "kubernetes"),
            ("pyhton", {1, 5}, "python"),
            ("grapql", {1}, "graphql"),
            ("pyhton -djagno", {1}, "python -django"),
            ("c++", {2}, None),
            ("C#", {2, 4}, None),
            (".net", {2}, None),
            ("asp.net", {4}, None),
            ("node.js", {4}, None),
            ("-c++ engineer", {1, 3, 4}, None),
            ('"quoted phrase"', {6}, None),
            ("barista or firmware", {3, 6}, None),
            ("flask", {5}, None),
            ("coffees", {6}, None),
            ("qqqqzzzz", set(), None),
            ("the", set(), None),
            ("", set(TEXTS), None),
        ]:  # fmt: skip
            assert await ids(q) == (wanted, corrected), q
        assert await ids("pyhton", exact=True) == (set(), None)
        for q, wanted in [("platformengineer", {1}), ('"platformengineer"', set()), ("plat", {1})]:
            assert await ids(q) == (wanted, None), f"{q} is like a title, or is not meant to be"
            assert (await ids(q, exact=True))[0] == set()
        assert await ids(None, remote=["remote"]) == ({5}, None)
        assert await ids(None, salary_min=110_000, currency="USD") == ({5}, None)
        assert await ids(None, salary_min=110_000, currency="EUR") == (set(), None)
        assert await ids(None, place="berl") == (set(TEXTS), None)
        rows, _ = await tracker.find("engineer")
        assert rows[-1].title != "Barista"
        async with tracker.access.transaction() as tx:
            facets = await search.count(tx, search.question_of(Query(q="engineer")))
        assert facets.total == 4
        assert [one.n for one in facets.facets["company_id"]] == [4]
        async with tracker.access.transaction() as tx:
            for text in naughty():
                await search.find(
                    tx, search.question_of(Query(q=text[: search.MOST_LETTERS], place=text[:100] or None))
                )
            for cursor in ("x", "WzAsIng", "é", "W10"):
                with pytest.raises(BadInput, match="none of ours"):
                    await search.find(tx, search.question_of(Query()), cursor=cursor)
    with pytest.raises(BadInput, match="belong together"):
        Query(salary_min=5)


@needs_corpora
async def test_real_postings_are_found_by_each_of_their_words(tracking: Opened) -> None:
    jobs = {job.id: job for job in uber()[:60]}
    async with tracking(Boards([board := Board("ashby", jobs)])) as tracker:
        await tracker.add(board)
        await tracker.run()
        for q, pattern in [
            ("c++", r"(?i)(?<!\w)c\+\+"), ("kubernetes", r"(?i)\bkubernetes\b"), ("kuberntes", r"(?i)\bkubernetes\b"),
            ("pyhton", r"(?i)\bpython\b"), ("tableau", r"(?i)\btableau\b"),
        ]:  # fmt: skip
            rows, _ = await tracker.find(q, duplicates=True)
            told = {job.title for job in jobs.values() if re.search(pattern, f"{job.title} {job.text}")}
            assert {row.title for row in rows} == told, q


async def test_pages_follow_each_other_without_gaps_and_plans_use_the_index(
    cell: Cell, api_db: Database, tracking: Opened
) -> None:
    await make_postings(cell, cell.tenant_a, 1200)
    await make_postings(cell, cell.tenant_b, 100)
    access = Access(Backend(Settings(), api_db), cell.tenant_a, "test")
    for question in (Query(q="kubernetes"), Query()):
        seen: list[object] = []
        cursor = None
        async with access.transaction() as tx:
            everything = await search.find(tx, search.question_of(question), limit=5000)
            while True:
                page = await search.find(tx, search.question_of(question), limit=97, cursor=cursor)
                seen += page.ids
                if (cursor := page.next_cursor) is None:
                    break
        assert seen == everything.ids
        assert len(set(seen)) == len(seen) > 100
    for question in (
        Query(q="kubernetes python"), Query(), Query(q="rare7"), Query(q="engineer -python", remote=["remote"]),
        Query(company=[uuid4()]), Query(state=["closed"], seniority=["senior"]),
    ):  # fmt: skip
        for plan in await plans_of(cell, cell.tenant_a, search.question_of(question)):
            assert "Seq Scan" not in plan, plan


def test_the_nearest_word_is_the_one_that_was_meant() -> None:
    assert spelling.distance("pyhton", "python") == 1
    assert spelling.distance("", "abc") == 3
    assert spelling.nearest("grapql", [("graph", 90), ("graphql", 2), ("grape", 5)]) == "graphql"
    assert spelling.nearest("abcd", [("wxyz", 5)]) is None
    assert spelling.nearest("word", [("word", 5)]) is None, "it is no correction of itself"
