"""Upkeep: what a worker that leads begins with, and when it does what."""

import time
from typing import Any

from leasehold.engine.upkeep import Look
from leasehold.settings import Settings
from leasehold.worker.leader import Lead
from leasehold.worker.maintain import Chore, _begin_apart, prompt_chores, slow_chores


def lead_that_saw(*due: str, at: float = 0.0) -> Lead:
    def nothing(*_: Any) -> None: ...

    db: Any = None
    lead = Lead(db, Settings(), lambda: None, wake=nothing, tell=nothing, hears=lambda: True)
    lead.look, lead.looked_at = Look(leads=True, due=frozenset(due)), at
    return lead


async def nothing(db: Any) -> int:
    return 0


def test_a_busy_worker_comes_to_what_can_wait_one_by_one() -> None:
    todo = slow_chores(Settings())
    now = time.monotonic()
    _begin_apart(todo, 1.0)
    lead = lead_that_saw()
    assert [round(chore.due_at(lead) - now) for chore in todo] == list(range(len(todo))), "a second apart"
    assert [chore.name for chore in todo[:3]] == ["make partitions", "collect", "count waiting"]


def test_what_jobs_wait_for_is_done_when_a_look_says_so_and_once_for_each_look() -> None:
    now = time.monotonic()
    todo = {chore.name: chore for chore in prompt_chores(Settings())}
    lead = lead_that_saw("promote", at=now)
    assert [name for name, chore in todo.items() if chore.due_at(lead) <= now] == ["promote", "reap strays"], (
        "one was never done"
    )
    todo["promote"].done_at = now + 0.001
    assert todo["promote"].due_at(lead) > now + 1e9, "the look was before"


def test_what_follows_from_what_was_done_is_done_while_something_is_and_now_and_then() -> None:
    now = time.monotonic()
    chore = Chore(name="count", work=nothing, at_least_s=1.0, every_s=60.0, follows=True, done_at=now)
    lead = lead_that_saw()
    assert chore.due_at(lead) == now + 60
    lead.stir()
    assert chore.due_at(lead) == now + 1
