"""Here the plugin itself is tested: its fixtures are as users have them."""

from collections.abc import Iterator

import pytest

from leasehold.testing.plugin import leasehold, leasehold_server
from tests.connections import KEPT

__all__ = ["leasehold", "leasehold_server"]


@pytest.fixture(autouse=True)
def _no_kept_connections() -> Iterator[None]:
    """The plugin's own reset of a database spares none, as it knows of none."""
    yield
    KEPT.drop_all()
