"""Many readers at once: the small form of tests.http.many_streams, which is run by hand with hundreds."""

import pytest

from tests.cell import Cell
from tests.http.many_streams import serve


@pytest.mark.long
async def test_many_streams_are_complete_and_in_order_and_cost_no_more_queries_than_one(cell: Cell) -> None:
    found = await serve(cell, clients=60, count=150, idle_s=1.0)
    assert (found["streams"], found["complete"]) == (150, 150)
    assert (found["tenant_streams"], found["tenant_complete"]) == (1, 1)
    assert found["all idle"]["queries"] <= found["one idle"]["queries"] + 3, "one look for all"
    assert found["looks"] <= 10 * found["streams"]
