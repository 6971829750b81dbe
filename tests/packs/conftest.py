"""Databases that have the tables of the four packs."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from leasehold_packs import audits, monitors, passports, postings
from tests.cell import Cell, Cluster
from tests.connections import Kept
from tests.fetch.world import Names


@pytest.fixture(scope="session")
def cluster_with_packs(cluster: Cluster) -> Iterator[Cluster]:
    packs = [audits.feature, monitors.feature, passports.feature, postings.feature]
    with_packs = asyncio.run(cluster.with_packs(packs))
    yield with_packs
    with_packs.close()


@pytest.fixture(autouse=True)
def _no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is asked of this machine's resolver: what is not on loopback has no address."""
    monkeypatch.setattr("leasehold.fetch.fetcher.SystemResolver", lambda: Names({"localhost": ["127.0.0.1"]}))


@pytest.fixture
async def cell(cluster_with_packs: Cluster, kept_connections: Kept) -> AsyncIterator[Cell]:
    """A database with the packs and tenants `a` and `b`."""
    cell = await cluster_with_packs.clone()
    try:
        yield cell
    finally:
        await cell.give_back()
