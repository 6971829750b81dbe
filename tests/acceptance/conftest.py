"""Folders for real instances: gone at the end, with every process that lives in them."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leasehold.postgres import Home, ephemeral_home


@pytest.fixture
def new_home() -> Iterator[Callable[[], Path]]:
    """Makes folders that PostgreSQL's account can reach."""
    made: list[Path] = []

    def make() -> Path:
        made.append(ephemeral_home(in_memory=True))
        return made[-1] / "home"

    yield make
    for folder in made:
        Home(folder / "home").wipe()
        shutil.rmtree(folder)


@pytest.fixture
def home(new_home: Callable[[], Path]) -> Path:
    return new_home()
