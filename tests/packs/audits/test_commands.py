"""``leasehold audits …``, as its users call it."""

import re

import pytest

from leasehold.postgres.server import free_port
from leasehold.testing import Kit
from leasehold_packs.audits import feature
from leasehold_packs.audits.demo.site import FAULTS, MadeSite
from tests.cli.program import leasehold as command
from tests.cli.program import started
from tests.packs.tutorial import done


@pytest.fixture
async def site(leasehold: Kit) -> dict[str, str]:
    await leasehold.migrate(feature)
    return leasehold.environment | {"LEASEHOLD_PACKS": "audits"}


def newest_run(site: dict[str, str]) -> str:
    return str(command("audits", "list", "--json", env=site).json[0]["run_id"])


@pytest.mark.long
def test_the_commands_of_the_tutorial_do_what_it_says(site: dict[str, str]) -> None:
    port = free_port()
    site |= {"LEASEHOLD_FETCH_ALLOW": f"127.0.0.1:{port}", "LEASEHOLD_FETCH_GAP_SECONDS": "0.001"}
    with started("worker", env=site) as worker:
        worker.said("worker started")
        said = done("audit-a-site.md", site, port=port, names={"$RUN": lambda: newest_run(site)})
        assert command("audits", "resume", newest_run(site), env=site).code == 4, "only one that was stopped"
        assert worker.stopped().code == 0
    made, weeks = MadeSite(), _weeks(said["audits demo --weeks 2"].err)
    before, after = made.faults(0), made.faults(1)
    expected = {("new", *one) for fault in after - before for one in fault.findings}
    expected |= {("fixed", *one) for fault in before - after for one in fault.findings}
    assert weeks[1] == expected
    assert said["audits report $RUN"].out.startswith("<!doctype html>")
    assert said["audits report $RUN --format csv"].out.startswith("severity,check")
    assert said["audits reevaluate $RUN"].out == "", "nothing is judged otherwise"
    assert "audits.site." in said["schedules list"].out
    assert command("audits", "schedule", "http://site.example/", env=site).code == 2


def _weeks(text: str) -> dict[int, set[tuple[str, str, str]]]:
    """What was said to have changed, by week. How long an answer took is nobody's doing."""
    found: dict[int, set[tuple[str, str, str]]] = {}
    week = 0
    for line in text.splitlines():
        if head := re.match(r"week (\d+): ", line):
            week = int(head[1])
            found[week] = set()
        elif change := re.match(r"  (new|fixed|regressed): (\S+) (\S+)", line):
            found[week] |= {(change[1], change[2], change[3])} if change[2] != "slow_first_byte" else set()
    return found


def test_the_same_seed_makes_the_same_site_with_faults_that_come_and_go() -> None:
    one, other = MadeSite(seed=5), MadeSite(seed=5)
    assert [one.page(path, week=2, base="http://x") for path in one.paths] == [
        other.page(path, week=2, base="http://x") for path in other.paths
    ]
    assert one.faults(3) == other.faults(3) != MadeSite(seed=6).faults(3)
    assert one.faults(0) - one.faults(1)
    assert one.faults(1) - one.faults(0)
    assert {fault.kind for week in range(6) for fault in one.faults(week)} <= set(FAULTS)
