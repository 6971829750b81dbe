"""`leasehold limits`, as a real program."""

import pytest

from tests.cell import Cell
from tests.cli.program import leasehold, started


@pytest.mark.long
def test_limits_are_set_shown_paused_and_removed(here: dict[str, str], cell: Cell) -> None:
    with started("worker", env=here) as worker:  # it makes its kinds known
        worker.said("worker started")
        worker.stopped()
    for arguments in (
        ["set", "queue", "default", "5"],
        ["set", "kind", "demo.hello", "2"],
        ["pause", "kind", "demo.hello"],
        ["pause", "tenant", "a"],
    ):
        said = leasehold("limits", *arguments, env=here)
        assert said.code == 0, said.err
    shown = leasehold("limits", "list", "--json", env=here).json
    assert [(one["what"], one["name"], one["max_running"], one["paused"]) for one in shown] == [
        ("kind", "demo.hello", 2, True),
        ("queue", "default", 5, False),
        ("tenant", "a", 1500, True),
    ]
    for arguments in (
        ["remove", "queue", "default"],
        ["remove", "kind", "demo.hello"],
        ["resume", "kind", "demo.hello"],
    ):
        assert leasehold("limits", *arguments, env=here).code == 0
    assert leasehold("limits", "remove", "tenant", "a", env=here).code == 2
    assert leasehold("limits", "resume", "tenant", "a", env=here).code == 0
    assert leasehold("limits", "list", "--json", env=here).json == []
    unknown = leasehold("limits", "set", "kind", "demo.nothing", "2", env=here)
    assert (unknown.code, "no kind" in unknown.err) == (3, True)
