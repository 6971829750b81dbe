"""Whole ways through the product: a server, a worker and their database, with the packs' tables."""

from tests.features.schedules.conftest import client
from tests.http.conftest import key
from tests.packs.audits.test_runs import auditing
from tests.packs.conftest import cell, cluster_with_packs
from tests.worker.conftest import shop

__all__ = ["auditing", "cell", "client", "cluster_with_packs", "key", "shop"]
