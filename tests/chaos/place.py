"""Where the data are: a small tmpfs that can be filled, or a folder where nothing can be mounted."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from leasehold.postgres import ephemeral_home

_MEGABYTES = 900
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    folder: Path
    small: bool  # a file system of its own, that can be filled

    @property
    def _ballast(self) -> Path:
        return self.folder.parent / "ballast"

    def fill(self) -> None:
        """Leave no room for anybody else."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while file.write(bytes(_PIECE)):
                pass

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def found(*, on_disk: bool) -> Iterator[Place]:
    if on_disk or os.geteuid() != 0:
        home = ephemeral_home(in_memory=not on_disk)
        yield Place(folder=home, small=False)
        return
    mount = Path(tempfile.mkdtemp(prefix="leasehold-chaos-", dir="/dev/shm"))
    options = f"size={_MEGABYTES}m,mode=755"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(mount)], capture_output=True)
    mount.chmod(0o755)
    try:
        yield Place(folder=mount / "home", small=mounted.returncode == 0)
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", str(mount)], check=False)
        with suppress(OSError):
            mount.rmdir()
