"""`leasehold schedules …` as a shell sees it, and a real worker that fires."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cell import Cell
from tests.cli.program import leasehold, started
from tests.waiting import until

APP = """
from leasehold import Leasehold

app = Leasehold()

@app.handler("shop.report")
async def report(ctx, payload):
    return payload

app.schedule("often", report, {"n": 1}, every=1, tick_as="tick")
"""


@pytest.fixture
def here(cell: Cell) -> dict[str, str]:
    return cell.environment() | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_POLL_SECONDS": "0.05"}


@pytest.mark.long
def test_a_schedule_is_added_shown_edited_paused_run_and_removed(here: dict[str, str]) -> None:
    def say(*words: str) -> Any:
        said = leasehold("schedules", *words, "--json", env=here)
        assert said.code == 0, said.err
        return said.json

    made = say(
        "add", "nightly", "shop.report", "--cron", "0 3 * * *", "--zone", "Europe/Berlin", "--payload", '{"n": 1}'
    )
    assert (made["words"], made["origin"]) == ("At 03:00 every day (Europe/Berlin)", "api")
    assert len(made["next_runs"]) == 5
    assert [one["name"] for one in say("list")] == ["nightly"]
    changed = say("edit", "nightly", "--every", "300", "--option", "priority=1", "--option", 'tags=["x"]')
    assert (changed["cron"], changed["every_s"], changed["words"]) == (None, 300, "Every 5 minutes")
    assert (changed["options"], changed["payload"]) == ({"priority": 1, "tags": ["x"]}, {"n": 1})
    ticks = [datetime.fromisoformat(text) for text in say("next", "nightly", "--count", "3")]
    assert [tick.minute % 5 for tick in ticks] == [0, 0, 0]
    assert say("pause", "nightly")["paused"] is True
    assert say("resume", "nightly")["paused"] is False
    job_id = say("run", "nightly")["job_id"]
    assert say("get", "nightly")["last_job"] == job_id
    once = say("add", "once", "shop.report", "--at", "2099-12-24T18:00", "--zone", "Europe/Berlin")
    assert datetime.fromisoformat(once["at"]) == datetime(2099, 12, 24, 17, tzinfo=UTC)
    assert say("edit", "once", "--ends-at", "2100-01-01")["ends_at"] == "2099-12-31T23:00:00+00:00"
    assert say("edit", "once", "--ends-at", "none", "--kind", "shop.other")["ends_at"] is None
    assert say("remove", "nightly") == {"name": "nightly", "removed": True}
    assert [one["name"] for one in say("list")] == ["once"]


def test_people_get_sentences_and_tables(here: dict[str, str]) -> None:
    made = leasehold("schedules", "add", "nightly", "shop.report", "--cron", "@daily", env=here)
    assert (made.code, made.out) == (0, "")
    assert "nightly: At 00:00 every day (UTC); next at 2" in made.err
    shown = leasehold("schedules", "list", env=here)
    assert shown.out.startswith("nightly\tshop.report\tAt 00:00 every day (UTC)\t")
    comes = leasehold("schedules", "next", "nightly", env=here)
    assert len(comes.out.splitlines()) == 5
    assert "At 00:00 every day (UTC)" in comes.err
    assert "words\tAt 00:00 every day (UTC)" in leasehold("schedules", "get", "nightly", env=here).out
    assert "is paused" in leasehold("schedules", "pause", "nightly", env=here).err


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["add", "s", "t.work", "--cron", "0 0 31 2 *"], 2, "cron line '0 0 31 2 *': bad day-of-month"),
        (["add", "s", "t.work", "--cron", "@daily", "--zone", "Mars"], 2, "there is no time zone 'Mars'"),
        (["add", "s", "t.work"], 2, "a schedule has one of cron, every and at"),
        (["add", "s", "t.work", "--at", "tomorrow"], 2, "--at 'tomorrow' is not a moment"),
        (["add", "s", "t.work", "--every", "60", "--payload", "{"], 2, "the payload is not JSON"),
        (["add", "s", "t.work", "--every", "60", "--option", "queue"], 2, "is not name=value"),
        (["add", "s", "t.work", "--every", "60", "--option", "queue=no"], 3, "there is no queue 'no'"),
        (["add", "s", "t.work", "--every", "60", "--jitter", "61"], 2, "jitter of 61 seconds"),
        (["get", "nobody"], 3, "there is no schedule 'nobody'"),
        (["edit", "nobody", "--every", "60"], 3, "there is no schedule 'nobody'"),
        (["run", "nobody"], 3, "there is no schedule 'nobody'"),
        (["remove", "nobody"], 3, "there is no schedule 'nobody'"),
    ],
)
def test_a_mistake_is_said_with_the_way_out_and_its_exit_code(
    here: dict[str, str], words: list[str], code: int, problem: str
) -> None:
    said = leasehold("schedules", *words, env=here)
    assert said.code == code, said.err
    assert problem in said.err
    assert "Traceback" not in said.err


def test_two_real_workers_declare_a_schedule_and_fire_each_tick_once(here: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(APP)
    with (
        started("worker", "shop:app", "--name", "one", env=here, cwd=str(tmp_path)) as one,
        started("worker", "shop:app", "--name", "two", env=here, cwd=str(tmp_path)) as two,
    ):

        def ended() -> list[Any]:
            said = leasehold("jobs", "list", "--kind", "shop.report", "--state", "succeeded", "--json", env=here)
            return list(said.json) if len(said.json) >= 3 else []

        jobs = until(ended, what="three jobs of the schedule")
        assert [worker.stopped().code for worker in (one, two)] == [0, 0]
    ticks = [job["result"]["tick"] for job in jobs]
    assert len(ticks) == len(set(ticks))
    assert {job["result"]["n"] for job in jobs} == {1}
    [info] = leasehold("schedules", "list", "--json", env=here).json
    assert (info["name"], info["origin"]) == ("often", "code")
