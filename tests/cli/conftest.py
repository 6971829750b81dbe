from collections.abc import Iterator

import pytest

from leasehold.postgres import Home, ephemeral_home
from tests.cell import Cell


@pytest.fixture
def nowhere() -> Iterator[dict[str, str]]:
    """Settings that lead to no instance."""
    folder = ephemeral_home(in_memory=True)
    yield {"LEASEHOLD_HOME": str(folder / "home")}
    Home(folder / "home").wipe()
    folder.rmdir()


@pytest.fixture
def here(cell: Cell) -> dict[str, str]:
    """Settings that lead to this test's database, as tenant A."""
    return cell.environment() | {"LEASEHOLD_TENANT": "a"}
