"""The SQL files of the engine and of the features. This module only reads them.

A number before a file's name says that it makes tables and is run once. Every other file holds one function and is
applied again whenever its text changes, and so are ``schema.sql`` and the ``policies``. The files say ``leasehold.``
and ``leasehold_owner`` literally; :func:`render` puts the configured schema name there.

The comment above a function ends with who may call it (``-- for: api, worker`` or ``-- internal``) and, where it
differs from most, with its settings (``-- settings: hot``). :func:`read_function` writes the SQL of these markers.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from leasehold.feature import Feature, features

#: Raised by one in each release that changes a file here. A program leaves a database of a higher release alone.
RELEASE = 1

_ENGINE = files("leasehold") / "engine" / "sql"

# The settings 'leasehold.tenant' and 'leasehold.actor' keep their names whatever the schema is called.
_NAME = re.compile(r"\bleasehold(?=\.)(?!\.(?:tenant|actor)')|\bleasehold(?=_(?:owner|api|worker|operator|readonly)\b)")
_SCHEMA_ALONE = re.compile(r"(?<=\bschema )leasehold\b")

ROLES = ("api", "worker", "operator", "readonly")
#: Whom ``-- for:`` may name: logins of these roles, and SQL functions of features.
CALLERS = (*ROLES, "features")

_NO_SCANS = "set enable_seqscan = off set enable_bitmapscan = off"
_NO_OTHER_JOINS = "set enable_hashjoin = off set enable_mergejoin = off"
#: What ``-- settings:`` may name. Plans are pinned because the statistics of a queue table always look empty.
SETTINGS = {
    "none": None,  # no search path either: PostgreSQL puts the body of such a function into its caller's query
    "inherited": None,  # those of the hot function that calls it: to set them anew takes longer than a call
    "usual": "",
    "no jit": "set jit = off",
    "index": "set enable_seqscan = off set jit = off",
    "ordered": f"{_NO_SCANS} set enable_indexscan = on set jit = off",
    "custom plan": "set plan_cache_mode = force_custom_plan",
    "read": f"set plan_cache_mode = force_custom_plan {_NO_SCANS} {_NO_OTHER_JOINS} set jit = off",
    "hot": (
        f"{_NO_SCANS} {_NO_OTHER_JOINS} set enable_indexscan = on set enable_nestloop = on set jit = off"
        " set plan_cache_mode = force_generic_plan"
    ),
}

_ALL_ROLES = ", ".join(f"leasehold_{role}" for role in ROLES)
_NUMBERED = re.compile(r"\d{4}_\w+\.sql$")
_MARKER = re.compile(r"^-- (?:(for|settings): (.+)|internal)\n", re.MULTILINE)
_FUNCTION = re.compile(
    r"(?P<comment>(?:--[^\n]*\n)+)"
    r"(?P<head>create or replace function (?P<name>[\w.]+)\(.*?\n)"
    r"(?P<language>language (?:sql|plpgsql)(?: stable| immutable| volatile)?(?: rows \d+)?)\s+"
    r"(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One SQL file: ``functions/claim.sql``."""

    name: str
    text: str
    #: Who may call the function in it, of ``CALLERS``.
    callers: frozenset[str] = frozenset()

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def is_table(self) -> bool:
        return self.name.startswith("tables/")


def read_all() -> list[File]:
    """All files in the order in which they are applied."""
    functions = [read_function(f"functions/{path.name}", path.read_text()) for path in _functions()]
    return [
        File(name="schema.sql", text=(_ENGINE / "schema.sql").read_text()),
        *_read(_ENGINE / "tables", "tables/engine"),
        *_tables(),
        *sorted(functions, key=lambda file: file.name),
        *_read(_ENGINE / "policies", "policies"),
    ]


def read_roles() -> str:
    return (_ENGINE / "roles.sql").read_text()


def read_function(name: str, text: str, *, as_owner: bool = True) -> File:
    """The file of one function, with the SQL that its markers stand for.

    A function that a role may call runs as the owner; one of a pack does where it says so itself. Each pins its search
    path, unless it is to be inlined.
    """
    found = _FUNCTION.fullmatch(text)
    if found is None:
        raise ValueError(f"{name} is not a comment, 'create or replace function …(' and a line 'language …'")
    callers, settings = _read_markers(name, found["comment"])
    roles = [f"leasehold_{role}" for role in ROLES if role in callers]
    lines = [found["language"]]
    if settings is not None:
        lines[0] += " security definer" if roles and as_owner else ""
        lines += ["set search_path = pg_catalog, pg_temp", *filter(None, [settings])]
    grants = [f"revoke all on function {found['name']} from public, {_ALL_ROLES};"]
    if roles:
        grants.append(f"grant execute on function {found['name']} to {', '.join(roles)};")
    parts = [_MARKER.sub("", found["comment"]), found["head"], *lines, found["rest"], *grants]
    return File(
        name=name, text="".join(part if part.endswith("\n") else f"{part}\n" for part in parts), callers=callers
    )


def _read_markers(name: str, comment: str) -> tuple[frozenset[str], str | None]:
    """Who may call a function, and its settings."""
    markers = list(_MARKER.finditer(comment))
    callers = [marker[2].split(", ") if marker[1] else [] for marker in markers if marker[1] != "settings"]
    settings = [marker[2] for marker in markers if marker[1] == "settings"] or ["usual"]
    if len(callers) != 1 or not set(callers[0]) <= set(CALLERS):
        raise ValueError(f"{name} needs one line '-- for: …' of {', '.join(CALLERS)}, or '-- internal'")
    if len(settings) != 1 or settings[0] not in SETTINGS:
        raise ValueError(f"{name} may have one line '-- settings: …' of {', '.join(SETTINGS)}")
    return frozenset(callers[0]), SETTINGS[settings[0]]


def render(text: str, schema: str) -> str:
    """Put the schema's name, and the role names that follow it, into a file's text."""
    return _SCHEMA_ALONE.sub(schema, _NAME.sub(schema, text))


def _functions() -> Iterator[Traversable]:
    """The engine's parts and each feature keep their functions in folders of their own."""
    for part in _folders(_ENGINE):
        if part.name not in ("tables", "policies"):
            yield from _files(part)
    for _, folder in _owners():
        yield from (path for path in _files(folder) if not _NUMBERED.match(path.name))


def _tables() -> Iterator[File]:
    """Beside the engine's own: a later feature may refer to a table of an earlier one."""
    for name, folder in _owners():
        yield from (file for file in _read(folder, f"tables/{name}") if _NUMBERED.match(file.name.rpartition("/")[2]))


def _owners() -> Iterator[tuple[str, Traversable]]:
    """The folders of SQL that stand outside of the engine, in the order of their tables."""
    yield "http", files("leasehold") / "http" / "sql"
    for feature in _by_needs():
        if (folder := feature.folder("sql")) is not None:
            yield feature.name, folder


def _by_needs() -> Iterator[Feature]:
    """Each feature after those that it needs."""
    known = {feature.name: feature for feature in features()}
    order = TopologicalSorter({name: feature.needs for name, feature in known.items()})
    yield from (known[name] for name in order.static_order())


def _read(folder: Traversable, name: str) -> list[File]:
    return [File(name=f"{name}/{path.name}", text=path.read_text()) for path in _files(folder)]


def _files(folder: Traversable) -> list[Traversable]:
    found = [path for path in folder.iterdir() if path.name.endswith(".sql")]
    return sorted(found, key=lambda path: path.name)


def _folders(folder: Traversable) -> list[Traversable]:
    found = [path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"]
    return sorted(found, key=lambda path: path.name)
