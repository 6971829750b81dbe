"""A short version of ``python -m tests.packs.audits.killed``."""

import pytest

from tests.packs.audits.killed import compare

pytestmark = pytest.mark.long


async def test_an_audit_leaves_the_same_when_workers_the_server_and_postgresql_are_killed() -> None:
    calm, rough, killed = await compare(2, workers=2, pages=40)
    assert calm == rough
    assert killed == {"worker": 2, "server": 1, "postgres": 1}
