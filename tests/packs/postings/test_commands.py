"""``leasehold postings …``, as its users call it."""

import pytest

from leasehold.postgres.server import free_port
from leasehold.testing import Kit
from leasehold_packs.postings import feature
from leasehold_packs.postings.demo import MadeBoard
from leasehold_packs.postings.model import GAP
from tests.cli.program import leasehold as command
from tests.cli.program import started
from tests.packs.tutorial import done


@pytest.fixture
async def site(leasehold: Kit) -> dict[str, str]:
    await leasehold.migrate(feature)
    return leasehold.environment | {"LEASEHOLD_PACKS": "postings", GAP: "0.01"}


@pytest.mark.long
def test_the_commands_of_the_tutorial_follow_a_made_up_board_and_search_it(site: dict[str, str]) -> None:
    port = free_port()
    site |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.01"}
    with started("worker", env=site) as worker:
        worker.said("worker started")
        said = done("follow-a-job-board.md", site, port=port, names={})
        lines = said["postings demo --rounds 3"].err.splitlines()
        assert "run 1: 60 listed, 60 opened" in lines
        assert "run 2: 61 listed, 56 same, 2 opened, 3 changed, 1 suspect" in lines
        assert any(line.startswith("run 3: ") and "1 closed" in line for line in lines), lines
        assert any("shown for kubernetes" in line for line in lines)
        assert worker.stopped().code == 0
    found = command("postings", "search", "kuberntes", "--json", env=site)
    assert found.code == 0
    assert "showing results for kubernetes" in found.err
    assert found.json
    [source] = command("postings", "sources", "--json", env=site).json
    assert (source["company"], source["health"]) == ("Made-up Ltd", "good")
    weeks = command("postings", "trends", "--json", env=site).json
    assert (len(weeks), sum(one["closed"] for one in weeks)) == (12, 1)
    refused = command("postings", "closings", source["source_id"], "--close", env=site)
    assert (refused.code, "no closings" in refused.err) == (4, True)


def test_the_same_seed_makes_the_same_board() -> None:
    one, other = MadeBoard(seed=5), MadeBoard(seed=5)
    assert one.answer() == other.answer()
    assert one.change() == other.change()
    assert one.answer() == other.answer() != MadeBoard(seed=6).answer()
