"""``leasehold postings …``, as its users call it."""

import socket

import pytest

from leasehold.testing import Kit
from leasehold_packs.postings import pack
from leasehold_packs.postings.demo import MadeBoard
from leasehold_packs.postings.options import GAP
from tests.cli.program import leasehold as command
from tests.cli.program import started


@pytest.fixture
async def site(leasehold: Kit) -> dict[str, str]:
    await leasehold.migrate(pack)
    return leasehold.environment | {"LEASEHOLD_PACKS": "postings", GAP: "0.01"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_made_up_board_is_followed_and_searched(site: dict[str, str]) -> None:
    port = free_port()
    site |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.01"}
    with started("worker", env=site) as worker:
        worker.said("worker started")
        said = command("postings", "demo", "--rounds", "3", "--port", str(port), env=site)
        assert said.code == 0, said.err
        lines = said.err.splitlines()
        assert "run 1: 60 listed, 60 opened" in lines
        assert "run 2: 61 listed, 56 same, 2 opened, 3 changed, 1 suspect" in lines
        assert any(line.startswith("run 3: ") and "1 closed" in line for line in lines), said.err
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
    said = command("postings", "closings", source["source_id"], "--close", env=site)
    assert (said.code, "no closings" in said.err) == (4, True)


def test_the_same_seed_makes_the_same_board() -> None:
    one, other = MadeBoard(seed=5), MadeBoard(seed=5)
    assert one.answer() == other.answer()
    assert one.change() == other.change()
    assert one.answer() == other.answer() != MadeBoard(seed=6).answer()
