"""A short version of ``python -m tests.packs.postings.killed``."""

import pytest

from leasehold_packs.postings.options import GAP
from tests.cell import Cell
from tests.packs.postings.killed import compare


async def test_killed_workers_and_an_abort_leave_what_undisturbed_runs_leave(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GAP, "0.001")
    calm, rough, done = await compare(cell, 3, kills=2, postings=28)
    assert (done.killed, calm) == (2, rough)
