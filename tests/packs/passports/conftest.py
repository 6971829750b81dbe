from collections.abc import AsyncIterator

import httpx
import pytest

from leasehold.testing import Kit
from tests.packs.passports.office import Office, client, office, prepare


@pytest.fixture
async def maker(leasehold: Kit) -> AsyncIterator[Office]:
    """The tenant ``default``, with an issuer and a key."""
    await prepare(leasehold)
    async with office(leasehold) as made:
        await made.opened()
        yield made


@pytest.fixture
async def stranger(maker: Office) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without a key."""
    async with client(maker.kit) as api:
        yield api
