"""Programs of other releases: those that were kept, and the next one.

``python -m tests.upgrade.releases`` keeps the program of this tree, when a release is tagged: its package as it is
installed, without its packs.
"""

import asyncio
import io
import re
import shutil
import sys
import tarfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from leasehold import sql
from tests.cli.program import Said, leasehold

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent
SOURCE = ROOT / "src" / "leasehold"
#: What a later release may do while earlier programs run: add tables, columns with defaults, and indexes on new tables.
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


def kept() -> list[Path]:
    """The archives of earlier releases, the oldest first."""
    return sorted(KEPT.glob("release-*.tar.xz"), key=_number)


def unpacked(archive: Path, folder: Path) -> Program:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):  # since Python 3.11.4
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(folder)
    return _program(folder, _number(archive))


def following(folder: Path) -> Program:
    """The release after this tree's: every function and policy has another text, and tables get more columns."""
    release = sql.RELEASE + 1
    shutil.copytree(SOURCE, folder / "leasehold", ignore=shutil.ignore_patterns("__pycache__"))
    files = folder / "leasehold" / "sql"
    for path in [*files.glob("functions/*.sql"), *files.glob("policies/*.sql")]:
        path.write_text(f"{path.read_text()}\n-- of release {release}\n")
    (files / "tables" / "9999_later.sql").write_text(_ADDED)
    module = files / "__init__.py"
    module.write_text(re.sub(r"^RELEASE = \d+$", f"RELEASE = {release}", module.read_text(), flags=re.MULTILINE))
    (folder / _metadata_name(release)).parent.mkdir()
    (folder / _metadata_name(release)).write_text(_metadata(release))
    return _program(folder, release)


def keep() -> Path:
    """Write the archive of this tree's program."""
    archive = KEPT / f"release-{sql.RELEASE}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in sorted(SOURCE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                _add(tar, f"leasehold/{path.relative_to(SOURCE)}", path.read_bytes())
        _add(tar, _metadata_name(sql.RELEASE), _metadata(sql.RELEASE).encode())
    return archive


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Without times and owners: the same tree is the same archive."""
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _program(folder: Path, release: int) -> Program:
    [found] = folder.glob("leasehold-*.dist-info/METADATA")
    [said] = re.findall(r"^Version: (.+)$", found.read_text(), re.MULTILINE)
    return Program(folder=folder, release=release, version=said)


def _number(archive: Path) -> int:
    return int(archive.name.removeprefix("release-").partition(".")[0])


def _version(release: int) -> str:
    return f"{version('leasehold').partition('+')[0]}+release.{release}"


def _metadata_name(release: int) -> str:
    return f"leasehold-{_version(release)}.dist-info/METADATA"


def _metadata(release: int) -> str:
    return f"Metadata-Version: 2.1\nName: leasehold\nVersion: {_version(release)}\n"


if __name__ == "__main__":
    sys.stdout.write(f"{keep()}\n")
