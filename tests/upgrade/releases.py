"""Programs of two releases: that of this tree, and the one after it, made from it."""

import asyncio
import re
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from leasehold.database import sql_files
from tests.cli.program import Said, leasehold

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "leasehold"
#: What a later release may do while earlier programs run: add tables, columns with defaults, and
#: indexes on new tables.
_ADDED = """
create table leasehold.later (id uuid primary key, note text);
alter table leasehold.job add column later integer not null default 0;
alter table leasehold.lease add column later integer not null default 0;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A package in a folder of its own; processes that have it on their path are of that release."""

    folder: Path
    release: int
    version: str

    @property
    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{self.folder}:{ROOT}", "LEASEHOLD_PACKS": "none"}

    async def migrate(self, url: str) -> Said:
        """In a process of its own."""
        said = await asyncio.to_thread(leasehold, "db", "migrate", env=self.env | {"LEASEHOLD_DATABASE_URL": url})
        assert said.code == 0, said.err
        return said


def current(folder: Path) -> Program:
    """The program of this tree."""
    return _copy(folder, sql_files.RELEASE)


def following(folder: Path) -> Program:
    """The release after this tree's: each function has another text, and tables get more columns."""
    release = sql_files.RELEASE + 1
    program = _copy(folder, release)
    package = folder / "leasehold"
    for path in package.rglob("*.sql"):
        if not path.name[:4].isdigit() and path.parent.parent.name != "testing":
            path.write_text(f"{path.read_text()}\n-- of release {release}\n")
    (package / "engine" / "sql" / "tables" / "9999_later.sql").write_text(_ADDED)
    module = package / "database" / "sql_files.py"
    text = re.sub(r"^RELEASE = \d+$", f"RELEASE = {release}", module.read_text(), flags=re.MULTILINE)
    module.write_text(text)
    return program


def _copy(folder: Path, release: int) -> Program:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, folder / "leasehold", ignore=ignored)
    (folder / _metadata_name(release)).parent.mkdir()
    (folder / _metadata_name(release)).write_text(_metadata(release))
    return _program(folder, release)


def _program(folder: Path, release: int) -> Program:
    [found] = folder.glob("leasehold-*.dist-info/METADATA")
    [said] = re.findall(r"^Version: (.+)$", found.read_text(), re.MULTILINE)
    return Program(folder=folder, release=release, version=said)


def _version(release: int) -> str:
    return f"{version('leasehold').partition('+')[0]}+release.{release}"


def _metadata_name(release: int) -> str:
    return f"leasehold-{_version(release)}.dist-info/METADATA"


def _metadata(release: int) -> str:
    return f"Metadata-Version: 2.1\nName: leasehold\nVersion: {_version(release)}\n"
