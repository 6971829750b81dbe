"""The stream of a run, and the wait for its end."""

from typing import Any

import pytest

from leasehold_packs.runs import stream
from leasehold_packs.runs.snapshot import Snapshot, wait


class Replay:
    """A run that has one change more at each look, and ends with the last."""

    def __init__(self, *changes: str) -> None:
        self.changes = changes
        self.looks = 0

    async def read(self, after: int | None) -> Snapshot:
        self.looks += 1
        seq = min(self.looks, len(self.changes))
        is_running = seq < len(self.changes)
        known = [] if after is None else list(enumerate(self.changes[:seq], 1))[after:]
        return Snapshot(seq=seq, is_running=is_running, state={"seq": seq}, end={"seq": seq}, patches=known)


async def messages(replay: Replay, last: str | None = None) -> list[tuple[str, str, Any]]:
    found = stream.follow(replay.read, last, noun="run", every_s=0)
    return [(one.event, str(one.id), one.data) async for one in found]


async def test_whoever_waits_is_told_of_each_change_once() -> None:
    told: list[str] = []
    await wait(Replay("a", "b", "c").read, every_s=0, on_patch=told.append)
    assert told == ["a", "b", "c"]


async def test_a_reader_gets_the_state_then_each_change_then_the_end() -> None:
    assert await messages(Replay("a", "b", "c")) == [
        ("state", "1", {"seq": 1}), ("patch", "2", "b"), ("patch", "3", "c"), ("end", "3-end", {"seq": 3}),
    ]  # fmt: skip


async def test_a_reader_that_comes_back_gets_what_it_has_not_seen() -> None:
    replay = Replay("a", "b", "c")
    replay.looks = 3
    assert await messages(replay, last="2") == [("patch", "3", "c"), ("end", "3-end", {"seq": 3})]


async def test_a_reader_of_another_run_begins_anew() -> None:
    replay = Replay("a")
    reset, state, *_ = await messages(replay, last="7")
    assert reset == ("reset", "1", {"reason": "the last message is not one of this run"})
    assert state == ("state", "1", {"seq": 1})


async def test_a_stream_ends_after_a_while_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LONGEST_SECONDS", 0.0)
    assert [event for event, _, _ in await messages(Replay("a", "b", "c", "d"))] == ["state", "patch"]
