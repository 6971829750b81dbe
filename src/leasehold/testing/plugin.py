"""The pytest plugin: two fixtures. It must stay light, because pytest loads it whether or not a test wants it."""

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from leasehold.testing.kit import Kit
    from leasehold.testing.server import TemplateServer


@pytest.fixture(scope="session")
def leasehold_server(request: pytest.FixtureRequest) -> Iterator["TemplateServer"]:
    """The PostgreSQL of this run, shared by all processes of pytest-xdist; gone when the last of them is."""
    from leasehold.testing.server import joined

    run = getattr(request.config, "workerinput", {}).get("testrunuid") or uuid.uuid4().hex
    with joined(run) as server:
        yield server


@pytest.fixture
def leasehold(leasehold_server: "TemplateServer") -> Iterator["Kit"]:
    """A fresh database with the tenant ``default``, and what a test wants to do with it."""
    from leasehold.testing.kit import Kit

    with leasehold_server.database() as settings, Kit(settings, leasehold_server) as kit:
        yield kit
