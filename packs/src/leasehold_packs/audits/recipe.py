"""The checks of a recipe: data that ships with the pack, read once."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

VERSION = 1


class Severity(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def weight(self) -> int:
        """What one check of this severity takes from the score where every page has it."""
        return _WEIGHTS[self]


_WEIGHTS = {Severity.CRITICAL: 40, Severity.HIGH: 15, Severity.MEDIUM: 6, Severity.LOW: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is looked for. ``scope`` says who looks: a function of one page, a relation between pages, or the crawl.

    ``of`` says of which pages: "all", "indexable", which search engines may list, or "listed", of those the ones that
    name no other page as canonical. One that needs the whole page is not looked for in a part of it.
    """

    id: str
    group: str
    scope: str
    severity: Severity
    title: str
    why: str
    how: str
    of: str = "all"
    whole: bool = False


@cache
def checks() -> dict[str, Check]:
    """All checks by id, in the order of the recipe."""
    tables = tomllib.loads(files(__package__).joinpath("recipe.toml").read_text())
    return {
        id_: Check(
            id=id_, group=group, scope=told.pop("scope", "page"), severity=Severity(told.pop("severity")), **told
        )
        for group, members in tables.items()
        for id_, told in members.items()
    }
