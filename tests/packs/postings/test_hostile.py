"""Texts that people have broken programs with, wherever a board says something of a posting."""

import pytest

from tests.corpora.data import needs_corpora
from tests.corpora.test_hostile_input import naughty
from tests.packs.audits.test_hostile import CASTS
from tests.packs.postings.conftest import Opened
from tests.packs.postings.replay import SHAPES, Board, Boards, Job

LONG = "".join(chr(0x4E00 + n % 20_000) for n in range(0, 140_000, 7))


async def listed(tracking: Opened, texts: list[str], *shapes: str) -> None:
    """Every posting of every board is known after two runs, the second with other texts."""
    boards = [Board(shape) for shape in shapes]
    async with tracking(Boards(boards)) as tracker:
        sources = [await tracker.add(board) for board in boards]
        for more in ("", " and more"):
            for board in boards:
                board.jobs = {n: job(n, f"{text}{more}") for n, text in enumerate(texts, 1)}
            run = await tracker.run(*sources)
            assert run.state == "succeeded", run
        for source in sources:
            assert await tracker.states(source) == {"open": len(texts)}


def job(n: int, text: str) -> Job:
    return Job(id=n, title=f"Job {text}", locations=(text, "Berlin"), text=text, department=text, noise=text)


@pytest.mark.parametrize("shape", SHAPES)
async def test_no_text_of_a_board_is_taken_for_another_type(tracking: Opened, shape: str) -> None:
    await listed(tracking, [*CASTS, LONG, "a\0b", "\ud800"], shape)


@pytest.mark.long
@needs_corpora
async def test_no_text_of_a_board_ends_a_run(tracking: Opened) -> None:
    await listed(tracking, [text[:10_000] for text in naughty()], *SHAPES)
