"""Whole runs: a real worker, and boards on loopback."""

import random
import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from leasehold.database.database import Database
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.program.access import Access
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.postings import search, service, store, store_people, store_postings, store_runs
from leasehold_packs.postings.model import GAP, NewSource, Options
from leasehold_packs.postings.model_postings import Ghost, HiringWeek
from leasehold_packs.postings.service import BREAKER, GATES
from tests.cell import Cell
from tests.corpora.data import needs_corpora
from tests.features.webhooks.hooks import Hooks, Receiver, settings_for
from tests.fetch.world import page, serving
from tests.packs.postings.conftest import Opened, Tracker, uber
from tests.packs.postings.replay import SHAPES, Board, Boards, Job
from tests.waiting import eventually

AMOUNT = re.compile(r"(\$)(\d{2,3}),(\d{3})")


def spread(jobs: list[Job]) -> list[Board]:
    """One tenth at Workday, where each posting is a request of its own; the others by turns."""
    *whole, paged = boards = [Board(shape) for shape in SHAPES]
    for n, job in enumerate(jobs):
        board = paged if n % 10 == 0 else whole[n % len(whole)]
        board.jobs[job.id] = job
    return boards


def job(id_: int, title: str = "Engineer", *places: str, text: str = "") -> Job:
    words = " ".join(f"{word}{id_ % 7}" for word in ("build", "ship", "measure", "mend") for _ in range(20))
    return Job(id=id_, title=title, locations=places or ("Berlin, Germany",), text=text or f"{title} {words}")


def board(shape: str, *jobs: Job) -> Board:
    return Board(shape, {one.id: one for one in jobs})


def raised(text: str) -> str:
    """The same text with one salary changed."""
    return AMOUNT.sub(lambda found: f"{found[1]}{int(found[2]) + 1},{found[3]}", text, count=1)


@needs_corpora
@pytest.mark.long
async def test_real_postings_open_change_and_close_as_their_boards_say(tracking: Opened) -> None:
    dice = random.Random(7)
    boards = Boards(spread(uber()))
    where = {id_: board for board in boards.boards for id_ in board.jobs}
    async with tracking(boards) as tracker:
        for board in boards.boards:
            await tracker.add(board)
        first = await tracker.run()
        assert (first.state, first.counts["opened"], first.counts["failed"]) == ("succeeded", 370, 0)
        assert await tracker.states() == {"open": 370}

        paid = [id_ for id_, board in where.items() if AMOUNT.search(board.jobs[id_].text)]
        salaries = dice.sample(paid, 25)
        left = [id_ for id_ in where if id_ not in salaries]
        dice.shuffle(left)
        assert {where[id_].shape for id_ in salaries} == set(SHAPES)
        moved, gone, noisy = left[:10], left[10:25], left[25:125]
        for id_ in salaries:
            where[id_].change(id_, text=raised(where[id_].jobs[id_].text))
        for id_ in moved:
            where[id_].change(id_, locations=("Reykjavik, Iceland",))
        for n, id_ in enumerate(noisy):  # half of it in the markup, half as two words that a reader sees
            job = where[id_].jobs[id_]
            noise = {"noise": f"b{n}"} if n % 2 else {"text": f"{job.text}\n\nref b{n}"}
            where[id_].change(id_, **noise)
        for id_ in gone:
            del where[id_].jobs[id_]

        second = await tracker.run(details="all")
        assert second.counts | {"touched": 0} == {
            "listed": 355, "skipped": 0, "failed": 0, "same": 270, "opened": 0, "changed": 35, "touched": 0,
            "suspect": 15, "closed": 0, "reopened": 0, "reposted": 0, "held": 0,
        }  # fmt: skip
        assert second.counts["touched"] == 50
        third = await tracker.run(details="all")
        assert (third.counts["closed"], third.counts["changed"], third.counts["same"]) == (15, 0, 355)
        assert {source.rung for source in third.sources} == {"same_list"}
        assert await tracker.states() == {"open": 355, "closed": 15}


async def kinds(tracker: Tracker, posting_id: UUID) -> list[str]:
    async with tracker.access.transaction() as tx:
        return [event.kind for event in reversed((await store_postings.get_posting(tx, posting_id)).events)]


async def test_a_posting_comes_back_is_posted_again_and_shows_what_it_was(tracking: Opened) -> None:
    jobs = board("lever", job(1, "Baker"), job(2, "Cook"), job(3, "Clerk"), *(job(n) for n in range(4, 9)))
    async with tracking(Boards([jobs])) as tracker:
        source = await tracker.add(jobs)
        await tracker.run()
        [[baker], _] = await tracker.find("baker")
        then = datetime.now(UTC)
        kept = jobs.jobs.pop(1)
        cook = jobs.jobs.pop(2)
        jobs.change(3, title="Senior Clerk", text=f"{jobs.jobs[3].text} Salary: $50,000 - $60,000 per year")
        await tracker.run(source)
        [[one], _] = await tracker.find("baker")
        assert one.state == "suspect", "one list without it is not the end"
        jobs.jobs[2] = cook
        assert (await tracker.run(source)).counts["closed"] == 1
        assert (await tracker.find("baker"))[0] == []
        assert [one.state for one in (await tracker.find("cook"))[0]] == ["open"], "it was suspect, and is there again"
        jobs.jobs[1] = kept
        assert (await tracker.run(source)).counts["reopened"] == 1
        assert await kinds(tracker, baker.posting_id) == ["opened", "suspect", "closed", "reopened"]
        again = jobs.jobs.pop(1)
        jobs.jobs[99] = Job(id=99, title=again.title, locations=again.locations, text=again.text)
        counts = (await tracker.run(source)).counts
        assert (counts["reposted"], counts["opened"], counts["suspect"]) == (1, 0, 1)

        [[clerk], _] = await tracker.find("clerk")
        async with tracker.access.transaction() as tx:
            versions = await store_postings.list_versions(tx, clerk.posting_id)
            diff = await store_postings.compare_versions(tx, clerk.posting_id, 1, 2)
        assert [(one.n, one.facts.title) for one in versions] == [(2, "Senior Clerk"), (1, "Clerk")]
        assert diff["fields"]["title"] == ["Clerk", "Senior Clerk"]
        assert "'max': '60000'" in str(diff["fields"]["salary"])
        assert (clerk.seniority, clerk.yearly_max, clerk.currency) == ("senior", 60000.0, "USD")
        assert len((await tracker.find(as_of=then, duplicates=True))[0]) == 8
        assert (await tracker.find("salary", as_of=then))[0] == [], "the text of then did not say it"
        assert len((await tracker.find("baker", as_of=then))[0]) == 1


@pytest.mark.parametrize("shape", ["ashby", "workday"])
async def test_an_empty_list_and_a_mass_of_missing_postings_close_nothing(tracking: Opened, shape: str) -> None:
    jobs = board(shape, *(job(n) for n in range(12)))
    async with tracking(Boards([jobs])) as tracker:
        source = await tracker.add(jobs)
        await tracker.run()
        jobs.empty = True
        for _ in range(3):
            run = await tracker.run()
            assert (run.sources[0].state, run.counts["closed"], run.counts["held"]) == ("held", 0, 12)
        assert (await tracker.source(source)).health == "suspicious"
        jobs.empty = False
        for n in range(7):
            del jobs.jobs[n]
        await tracker.run()
        told = await tracker.source(source)
        assert (told.health, told.held and told.held.missing, await tracker.states()) == ("suspicious", 7, {"open": 12})
        async with tracker.access.transaction() as tx:
            assert (await service.decide_closings(tx, source, close=True)).closed == 7
            with pytest.raises(Conflict, match="no closings"):
                await service.decide_closings(tx, source, close=False)
        assert await tracker.states() == {"open": 5, "closed": 7}
        assert (await tracker.run()).counts["same"] == 5
        assert (await tracker.source(source)).health == "good"


async def test_a_board_that_fails_loses_no_posting_and_a_shaky_one_is_asked_again(tracking: Opened) -> None:
    shaky, broken = board("greenhouse", job(1), job(2)), board("lever", job(3))
    async with tracking(Boards([shaky, broken])) as tracker:
        good, bad = await tracker.add(shaky), await tracker.add(broken)
        await tracker.run()
        shaky.down, broken.down = 2, 100
        run = await tracker.run()
        assert {one.source_id: one.state for one in run.sources} == {good: "succeeded", bad: "failed"}
        assert await tracker.states() == {"open": 3}
        told = await tracker.source(bad)
        assert (told.health, told.failures, "503" in str(told.problem)) == ("failing", 1, True)
        assert broken.down == 97, "three attempts"
        broken.down = 0
        await tracker.run()
        assert (await tracker.source(bad)).failures == 0


@pytest.mark.long
async def test_after_five_failures_a_host_is_left_alone_until_one_has_tried(tracking: Opened, cell: Cell) -> None:
    async with tracking(Boards([jobs := board("lever", job(1))])) as tracker:
        await tracker.access.client.gates.set(GATES, **BREAKER)
        source = await tracker.add(jobs)
        gate = f"{GATES}{tracker.base.removeprefix('http://')}"

        async def opened() -> bool:
            return bool((await tracker.access.client.gates.get(gate)).state == "open")

        jobs.down = 100
        await tracker.run()
        run_id = await tracker.start()
        await eventually(opened, what="the breaker to open")
        assert jobs.down == 95, "three attempts of the first run, two of the second"

        await cell.pass_time(BREAKER["cooldown_s"] + 1)
        assert (await tracker.ended(run_id)).sources[0].state == "failed"
        assert (jobs.down, await opened()) == (94, True), "one has tried, in vain"

        run_id = await tracker.start()
        jobs.down = 0
        await cell.pass_time(BREAKER["cooldown_s"] + 1)
        assert (await tracker.ended(run_id)).counts["opened"] == 1
        assert (await tracker.access.client.gates.get(gate)).state == "closed"
        assert (await tracker.source(source)).health == "good"


async def test_requests_to_one_host_are_two_seconds_apart(
    tracking: Opened, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(GAP)
    async with tracking(
        Boards([paged := board("workday", job(1), job(2)), other := board("lever", job(3))])
    ) as tracker:
        for one in (paged, other):
            await tracker.add(one)
        run_id = await tracker.start()

        async def over() -> bool:
            await cell.pass_time(0.5)
            async with tracker.access.transaction() as tx:
                return bool((await store_runs.get_run(tx, run_id)).state != "running")

        await eventually(over, what="the end of the run")
        rows = await cell.look(
            "select extract(epoch from a.started_at)::float8 as at"
            " from leasehold.attempt a join leasehold.job j using (job_id)"
            " where j.kind in ('postings.list', 'postings.detail') order by 1"
        )
        begun = [row["at"] for row in rows]
        assert len(begun) == 4
        assert all(later - one >= 2 for one, later in pairwise(begun)), begun


async def test_a_saved_search_reaches_a_receiver_signed_and_once_a_run(
    tracking: Opened, cell: Cell, api_db: Database
) -> None:
    receiver = Receiver(answer=lambda n: page(b"", status="500 Oh" if n == 1 else "204 No Content"))
    async with serving(receiver) as receiver.port:
        jobs = board("lever", job(1, "Rust Engineer"), job(2, "Cook"))
        async with tracking(Boards([jobs]), allow=f"127.0.0.1:{receiver.port}") as tracker:
            hooks = Hooks(cell, api_db, settings_for(receiver))
            await hooks.add(receiver, "postings.search_matched")
            async with tracker.access.transaction() as tx:
                await store_people.add_search(tx, "test", "Rust", {"q": "rust"})
            await tracker.add(jobs)
            await tracker.run()
            await tracker.run()
            jobs.change(1, title="Senior Rust Engineer")
            await tracker.run()
            await hooks.settled(hurry=True)
    told = {event["id"]: event["data"] for event in receiver.events}
    titles = [[one["title"] for one in data["postings"]] for data in told.values()]
    assert sorted(titles) == [["Rust Engineer"], ["Senior Rust Engineer"]]
    assert sorted(receiver.accepted) == sorted(told), "each once by its id"
    assert len(receiver.got) == 3, "one was sent again"
    assert all("webhook-signature" in headers for headers, _ in receiver.got)


async def test_hiring_is_told_by_the_week_and_postings_for_show_by_their_signals(tracking: Opened, cell: Cell) -> None:
    week = 7 * 86400
    jobs = board("lever", job(1, "Cook"), job(2, "Clerk"), job(3, "Baker"))
    async with tracking(Boards([jobs])) as tracker:

        async def look(**wanted: Any) -> tuple[list[HiringWeek], list[Ghost]]:
            async with tracker.access.transaction() as tx:
                weeks = await store_postings.hiring_by_week(tx, weeks=16, **wanted)
                return weeks, await store_postings.list_ghosts(tx, **wanted)

        await tracker.add(jobs)
        await tracker.run()
        weeks, ghosts = await look()
        assert (weeks[-1].opened, weeks[-1].closed, weeks[-1].changed, weeks[-1].open) == (3, 0, 0, 3)
        assert {tuple(one.signals) for one in ghosts} == {("old", "unchanged")}, "the board says how old they are"
        del jobs.jobs[2]
        jobs.change(3, title="Master Baker")
        await cell.pass_time(2 * week)
        await tracker.run()
        await tracker.run()
        await cell.pass_time(12 * week)
        weeks, ghosts = await look()
        happened = [(n, one.opened, one.closed, one.changed, one.open) for n, one in enumerate(weeks)]
        assert happened[1:4] == [(1, 3, 0, 0, 3), (2, 0, 0, 0, 3), (3, 0, 1, 1, 2)]
        assert happened[-1] == (15, 0, 0, 0, 2)
        assert [(one.title, one.signals) for one in ghosts] == [
            ("Cook", ["old", "unchanged"]),
            ("Master Baker", ["old"]),
        ]
        weeks, ghosts = await look(company=uuid4())
        assert ([one.open for one in weeks], ghosts) == ([0] * 16, [])


async def test_one_job_on_two_boards_is_one_cluster_and_two_cities_never(tracking: Opened) -> None:
    text = " ".join(f"word{n}" for n in range(300))
    here = board("greenhouse", job(1, "Engineer", "Berlin", text=text), job(2, "Engineer", "Paris", text=text))
    there = board("ashby", job(1, "Engineer", "Berlin, Germany", text=text), job(3, "Engineer", "Lyon", text=text))
    async with tracking(Boards([here, there])) as tracker:
        first = await tracker.add(here)
        await tracker.add(there)
        await tracker.run()
        found, _ = await tracker.find()
        assert sorted(one.locations[0].partition(",")[0] for one in found) == ["Berlin", "Lyon", "Paris"]
        assert len((await tracker.find(duplicates=True))[0]) == 4
        berlin = next(one for one in found if one.locations[0].startswith("Berlin"))
        async with tracker.access.transaction() as tx:
            assert len((await store_postings.get_posting(tx, berlin.posting_id)).also) == 1
        del here.jobs[1]
        await tracker.run(first)
        await tracker.run(first)
        assert len((await tracker.find("engineer"))[0]) == 3, "the other one stands for the job now"


async def test_filters_choose_what_is_taken_in_and_details_are_asked_when_due(tracking: Opened) -> None:
    jobs = board("workday", job(1, "Senior Engineer"), job(2, "Engineer"), job(3, "Sales Engineer"), job(4, "Cook"))
    jobs.hidden = {2}
    boards = Boards([jobs])
    async with tracking(boards) as tracker:
        await tracker.add(jobs, title_include=["engineer"], title_exclude=["sales"])
        run = await tracker.run()
        assert (run.counts["skipped"], run.counts["opened"], run.counts["failed"]) == (2, 1, 1)
        details = [one for one in boards.asked if one.startswith("GET /wday")]
        assert len(details) == 2, "what is not wanted is not asked for, what is gone is asked once"
        jobs.hidden = set()
        jobs.change(1, title="Staff Engineer")
        boards.asked.clear()
        run = await tracker.run()
        assert (run.counts["changed"], run.counts["opened"]) == (1, 1)
        assert len(boards.asked) == 4, "robots.txt, the list, and two details"
        boards.asked.clear()
        await tracker.run()
        assert len(boards.asked) == 2, "the list says the same: nothing after it"


async def test_a_run_that_is_aborted_stops_and_leaves_what_was_known(tracking: Opened) -> None:
    jobs = board("workday", *(job(n) for n in range(60)))
    async with tracking(Boards([jobs])) as tracker:
        await tracker.add(jobs)
        run_id = await tracker.start()

        async def some_are_read() -> bool:
            async with tracker.access.transaction() as tx:
                items = (await store_runs.run_changes(tx, run_id)).items
            return any(item.state == "ready" for item in items)

        await eventually(some_are_read, what="a detail")
        with pytest.raises(Conflict, match="in a run already"):
            await tracker.start()
        await store_runs.RUNS.cancel(tracker.access, run_id)
        ended = await tracker.ended(run_id)
        assert (ended.state, ended.reason, ended.sources[0].state) == ("canceled", "canceled", "canceled")
        assert await tracker.states() == {}
        with pytest.raises(Conflict, match="canceled already"):
            await store_runs.RUNS.cancel(tracker.access, run_id)
        assert (await tracker.run()).counts["opened"] == 60


async def test_another_tenant_sees_nothing_of_it(tracking: Opened, cell: Cell, api_db: Database) -> None:
    async with tracking(Boards([jobs := board("lever", job(1, "Kubernetes engineer"))])) as tracker:
        source = await tracker.add(jobs)
        run = await tracker.run()
        [[posting], _] = await tracker.find("kubernetes")
    other = Access(Backend(Settings(), api_db), cell.tenant_b, "test")
    async with other.transaction() as tx:
        for nothing in (store.list_sources(tx), store_runs.list_runs(tx), store.list_companies(tx)):
            assert await nothing == []
        for question in (search.Query(), search.Query(q="kubernetes"), search.Query(as_of=datetime.now(UTC))):
            assert (await search.find(tx, search.question_of(question))).ids == []
        assert await search.correct(tx, "kuberntes") is None
        assert (await search.count(tx, search.question_of(search.Query()))).total == 0
        for look in (
            store.get_source(tx, source), store_runs.get_run(tx, run.run_id),
            store_postings.get_posting(tx, posting.posting_id), store_postings.list_versions(tx, posting.posting_id),
        ):  # fmt: skip
            with pytest.raises(NotFound):
                await look


async def test_a_source_is_there_once_and_says_what_it_lacks(tracking: Opened) -> None:
    async with tracking(Boards([])) as tracker, tracker.access.transaction() as tx:
        added = await service.add_source(tx, NewSource(url="https://jobs.lever.co/acme/1"), Options())
        assert (added.board, added.slug, added.company, added.health) == (
            "lever",
            "acme",
            "acme",
            "new",
        )
        wrong: list[tuple[NewSource, type[Exception], str]] = [
            (NewSource(url="https://jobs.lever.co/ACME"), Conflict, "already"),
            (NewSource(url="https://ats.rippling.com/acme/jobs"), BadInput, "Rippling"),
            (NewSource(board="taleo", slug="x"), BadInput, "no board"),
            (NewSource(board="lever"), BadInput, "slug"),
            (NewSource(board="recruitee", slug="x"), BadInput, "base"),
            (NewSource(), BadInput, "needs a url"),
            (NewSource(url="ftp://acme.example/jobs"), BadInput, "whole http"),
        ]
        for new, error, words in wrong:
            with pytest.raises(error, match=words):
                await service.add_source(tx, new, Options())
        changed = await store.change_source(tx, added.source_id, enabled=False, options=None)
        assert changed.enabled is False
        with pytest.raises(Conflict, match="no enabled source"):
            await service.request_run(tx, "test")
        await service.delete_source(tx, added.source_id)
        assert await store.list_sources(tx) == []


async def test_each_run_obeys_the_robots_txt_that_it_finds(tracking: Opened) -> None:
    jobs = board("lever", job(1, "Rust Engineer"))
    async with tracking(boards := Boards([jobs])) as tracker:
        boards.pages["/robots.txt"] = page(b"User-agent: *\nDisallow:\n")
        source = await tracker.add(jobs)
        assert (await tracker.run(source)).state == "succeeded"
        boards.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /\n")
        boards.asked.clear()
        run = await tracker.run(source)
        assert (run.state, boards.asked) == ("failed", ["GET /robots.txt"])
        assert "robots.txt forbids it" in str(run.sources[0].problem)
        assert await tracker.states() == {"open": 1}, "what nobody may look at is not closed"
