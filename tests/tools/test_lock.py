"""The locked requirements are those of pyproject.toml, each with its hashes."""

import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import lock

FILES = [*lock.EXTRAS, lock.BUILD]


def pins(name: str) -> dict[str, list[tuple[str, int]]]:
    """Versions, with how many hashes each has, by the name of the package."""
    found: dict[str, list[tuple[str, int]]] = {}
    for entry in re.split(r"\n(?=\S)", (lock.REQUIREMENTS / name).read_text()):
        if not entry.startswith("#"):
            package, version = re.match(r"([\w.-]+)(?:\[[^]]*\])?==([^ ;\\]+)", entry).groups()  # type: ignore[union-attr]
            found.setdefault(canonicalize_name(package), []).append((version, entry.count("--hash=sha256:")))
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_lock_was_made_from_the_dependencies_of_today(name: str) -> None:
    assert (lock.REQUIREMENTS / name).read_text().startswith(lock.head(name)), "run `make lock`"


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_to_what_it_allows_and_everything_has_hashes(name: str) -> None:
    found = pins(name)
    for line in lock.wanted(name):
        requirement = Requirement(line)
        versions = [version for version, _ in found[canonicalize_name(requirement.name)]]
        assert all(requirement.specifier.contains(version, prereleases=True) for version in versions), line
    assert [package for package, entries in found.items() for _, hashes in entries if hashes == 0] == []


@pytest.mark.parametrize("name", lock.EXTRAS)
def test_what_the_requirements_require_is_locked_too(name: str) -> None:
    """Through everything that is installed here."""
    found, seen = set(pins(name)), set()
    todo = [Requirement(line) for line in lock.wanted(name)]
    while todo:
        requirement = todo.pop()
        package = canonicalize_name(requirement.name)
        asked = (package, frozenset(requirement.extras))
        if asked in seen:
            continue
        seen.add(asked)
        assert package in found, f"{package} is missing: run `make lock`"
        todo += _required(requirement)


def _required(requirement: Requirement) -> list[Requirement]:
    try:
        lines = requires(requirement.name) or []
    except PackageNotFoundError:
        return []
    children = [Requirement(line) for line in lines]
    extras = ["", *requirement.extras]
    return [
        child
        for child in children
        if child.marker is None or any(child.marker.evaluate({"extra": extra}) for extra in extras)
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_lock_names_no_place_to_fetch_from(name: str) -> None:
    assert not re.search(r"https?://|--index|file:", (lock.REQUIREMENTS / name).read_text())
