"""A short version of ``python -m tests.packs.postings.killed``."""

import pytest

from leasehold_packs.postings import feature
from leasehold_packs.postings.handlers import QUEUE
from tests.packs.killer import prepared
from tests.packs.postings.killed import compare

pytestmark = pytest.mark.long


async def test_kills_of_workers_server_and_postgresql_and_an_abort_leave_what_undisturbed_runs_leave() -> None:
    async with prepared(feature, QUEUE) as own:
        calm, rough, killed, aborted = await compare(own, 3, workers=2, postings=28)
    assert calm == rough
    assert (killed, aborted) == ({"worker": 2, "server": 1, "postgres": 1}, 1)
