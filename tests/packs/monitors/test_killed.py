"""A short version of ``python -m tests.packs.monitors.killed``."""

import random

import pytest

from leasehold_packs.monitors import feature
from leasehold_packs.monitors.handlers import QUEUES
from tests.fetch.world import Site, serving
from tests.packs.killer import prepared
from tests.packs.monitors.killed import Days

pytestmark = pytest.mark.long


async def test_days_leave_the_same_when_workers_the_server_and_postgresql_are_killed() -> None:
    async with prepared(feature, *QUEUES) as own, serving(shop := Site()) as port:
        series = Days(own, shop, port, until=1, products=12)
        calm, _ = await series.left([], random.Random(1))
        rough, killed = await series.left(["postgres", "worker", "server", "worker"], random.Random(2))
    assert calm == rough
    assert any("'kind', 'price'" in row for row in calm)
    assert killed == {"worker": 2, "server": 1, "postgres": 1}
