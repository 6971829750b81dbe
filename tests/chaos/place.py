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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    folder: Path
    small: bool  # a file system of its own, that can be filled

    def fill(self) -> None:
        """Leave no room: the file system is from now on as large as what it holds."""
        assert any(self._resize(self._used()) for _ in range(100)), "somebody wrote between, each time"

    def free(self) -> None:
        if self.small:
            assert self._resize(_MEGABYTES << 20)

    def _used(self) -> int:
        found = os.statvfs(self.folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def _resize(self, size: int) -> bool:
        command = ["mount", "-o", f"remount,size={size}", str(self.folder.parent)]
        return subprocess.run(command, capture_output=True).returncode == 0


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
