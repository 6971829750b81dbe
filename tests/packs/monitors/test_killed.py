"""A day of a shop on workers that die; ``python -m tests.packs.monitors.killed`` is the long form."""

import random

from tests.cell import Cell
from tests.net.world import Site, serving
from tests.packs.monitors import killed


async def test_a_day_on_workers_that_die_leaves_what_a_quiet_day_leaves(cell: Cell) -> None:
    await killed.prepare(cell)
    async with serving(shop := Site()) as port:
        with killed.nursery(cell, port, workers=2) as parent:
            calm, _ = await killed.run(cell, shop, port, parent, kills=0, dice=random.Random(1), until=1, products=12)
            rough, _ = await killed.run(cell, shop, port, parent, kills=3, dice=random.Random(2), until=1, products=12)
    assert calm == rough
    assert any("'kind', 'price'" in row for row in calm)
