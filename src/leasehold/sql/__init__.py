"""The engine itself, as SQL files. This module only reads them.

``tables/`` are numbered and run once; ``functions/`` hold one function each and ``policies/`` the grants: both are
applied again whenever their text changes. The files say ``leasehold.`` and ``leasehold_owner`` literally;
:func:`render` puts the configured schema name there.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

#: Raised by one in each release that changes a file here. A program leaves a database of a higher release alone.
RELEASE = 2

FOLDERS = ("tables", "functions", "policies")

# The settings 'leasehold.tenant' and 'leasehold.actor' keep their names whatever the schema is called.
_NAME = re.compile(r"\bleasehold(?=\.)(?!\.(?:tenant|actor)')|\bleasehold(?=_(?:owner|api|worker|operator|readonly)\b)")
_SCHEMA_ALONE = re.compile(r"(?<=\bschema )leasehold\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One SQL file: ``functions/claim.sql``."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_table(self) -> bool:
        return self.name.startswith("tables/")


def read_all() -> list[File]:
    """All files in the order in which they are applied."""
    return [_read(f"{folder}/{name}") for folder in FOLDERS for name in _names(folder)]


def read_roles() -> str:
    return (files(__name__) / "roles.sql").read_text()


def render(text: str, schema: str) -> str:
    """Put the schema's name, and the role names that follow it, into a file's text."""
    return _SCHEMA_ALONE.sub(schema, _NAME.sub(schema, text))


def _names(folder: str) -> list[str]:
    return sorted(entry.name for entry in (files(__name__) / folder).iterdir() if entry.name.endswith(".sql"))


def _read(name: str) -> File:
    return File(name=name, text=(files(__name__) / name).read_text())
