"""``leasehold monitors …``, as its users call it."""

import re

import pytest

from leasehold.postgres.server import free_port
from leasehold.testing import Kit
from leasehold_packs.monitors import feature
from leasehold_packs.monitors.demo.shop import Shop
from tests.cli.program import leasehold as command
from tests.cli.program import started
from tests.packs.tutorial import done


@pytest.fixture
async def site(leasehold: Kit) -> dict[str, str]:
    await leasehold.migrate(feature)
    return leasehold.environment | {"LEASEHOLD_PACKS": "monitors", "LEASEHOLD_SLOTS": "8"}


def first_site(site: dict[str, str]) -> str:
    return str(command("monitors", "sites", "--json", env=site).json[0]["site_id"])


@pytest.mark.long
def test_the_commands_of_the_tutorial_do_what_it_says(site: dict[str, str]) -> None:
    port = free_port()
    site |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.001"}
    with started("worker", env=site) as worker:
        worker.said("worker started")
        said = done("watch-a-shop.md", site, port=port, names={"$SITE": lambda: first_site(site)})
        assert worker.stopped().code == 0
    lines = said["monitors demo --days 3"].err
    assert "12 new products were found" in lines
    assert _told(lines) == {day: _truth(day) for day in range(3)}
    assert len(command("monitors", "products", "--json", env=site).json) == 12


def _told(text: str) -> dict[int, set[str]]:
    """The changes that were told, by day."""
    found: dict[int, set[str]] = {}
    for line in text.splitlines():
        if head := re.match(r"day (\d+): ", line):
            found[day := int(head[1])] = set()
        elif change := re.match(r"  (.+ → .+)", line):
            found[day].add(change[1])
    return found


def _truth(day: int) -> set[str]:
    """The changes that there are: of prices by one per cent or more, and of stock."""
    found = set()
    for n in range(12 if day else 0):
        before, after = Shop(items=12).item(n, day - 1), Shop(items=12).item(n, day)
        if abs(after.price - before.price) / before.price * 100 >= 1:
            found.add(f"{after.name}: {before.price} EUR → {after.price} EUR")
        if before.in_stock != after.in_stock:
            words = {True: "in stock", False: "out of stock"}
            found.add(f"{after.name}: {words[before.in_stock]} → {words[after.in_stock]}")
    return found
