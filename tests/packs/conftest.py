"""Databases that have the tables of the four packs."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from leasehold_packs import audits, monitors, passports, postings
from tests.cell import Cell, Cluster


@pytest.fixture(scope="session")
def cluster_with_packs(cluster: Cluster) -> Cluster:
    packs = [audits.pack, monitors.pack, passports.pack, postings.pack]
    return asyncio.run(cluster.with_packs(packs))


@pytest.fixture
async def cell(cluster_with_packs: Cluster) -> AsyncIterator[Cell]:
    """A database with the packs and tenants `a` and `b`."""
    cell = await cluster_with_packs.clone()
    try:
        yield cell
    finally:
        await cell.give_back()
