"""Upkeep: what a worker begins with."""

import time

from leasehold.settings import Settings
from leasehold.worker.maintain import _begin_apart, chores


def test_a_busy_worker_begins_with_what_jobs_wait_for_and_comes_to_the_rest_one_by_one() -> None:
    todo = chores(Settings())
    now = time.monotonic()
    _begin_apart(todo, 1.0)
    at_once = [chore.name for chore in todo if chore.due_at < now]
    others = [chore for chore in todo if chore.due_at >= now]
    assert at_once == ["promote", "fire schedules", "tend flows", "unpark", "reap", "reap strays"]
    assert [round(chore.due_at - now) for chore in others] == list(range(len(others))), "a second apart"
    assert [chore.name for chore in others[:3]] == ["make partitions", "collect", "count waiting"]
