"""An outage is told once, whoever notices, and whenever they began to wait."""

from leasehold.errors import BadInput, Unreachable
from leasehold.outage import Outage

LOST = Unreachable("nobody answers")


def test_who_began_to_wait_before_the_end_of_an_outage_has_no_news_after_it() -> None:
    told: list[str] = []
    outage = Outage()
    outage.announce(lambda problem: told.append("gone"), lambda seconds: told.append("back"))
    assert not outage.covers(LOST)
    outage.begin(LOST)
    assert outage.covers(LOST)
    assert not outage.covers(BadInput("that is something else"))
    outage.end()
    assert outage.covers(LOST, waited_s=60.0)
    assert not outage.covers(LOST)
    outage.begin(LOST, waited_s=60.0)
    assert told == ["gone", "back"]
