from collections.abc import Iterator
from pathlib import Path

import pytest

from leasehold.postgres import ephemeral_home
from leasehold.testing.plugin import leasehold_server
from leasehold.testing.server import TemplateServer

# A benchmark makes databases as the administrator, which the server of the other tests refuses.
__all__ = ["leasehold_server"]


@pytest.fixture
def own_server(leasehold_server: TemplateServer) -> dict[str, str]:
    """Settings that lead to a server on which databases may be made."""
    return {"LEASEHOLD_DATABASE_URL": leasehold_server.admin_url}


@pytest.fixture
def homes() -> Iterator[Path]:
    """A folder for instances that PostgreSQL's account can reach; a test leaves it empty."""
    folder = ephemeral_home(in_memory=True)
    yield folder
    folder.rmdir()
