"""`leasehold worker --reload`: for development, start anew whenever a Python file of the working folder changes."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from leasehold.log import emit

_LOOK_SECONDS = 0.5
_NOT_OURS = {".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages"}


async def watch(folder: Path, restart: Callable[[], None]) -> None:
    """Call ``restart`` after each change, for ever."""
    before = await asyncio.to_thread(stamps, folder)
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        now = await asyncio.to_thread(stamps, folder)
        if now != before:
            changed = sorted({path for path, _ in before.items() ^ now.items()})
            emit("files changed", files=", ".join(changed[:5]), more=max(0, len(changed) - 5) or None)
            restart()
        before = now


def stamps(folder: Path) -> dict[str, int]:
    """Every Python file below the folder, and when it was changed."""
    found = {}
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for path in (Path(parent, name) for name in files if name.endswith(".py")):
            try:
                found[str(path.relative_to(folder))] = path.stat().st_mtime_ns
            except FileNotFoundError:  # an editor is just replacing it
                found[str(path.relative_to(folder))] = 0
    return found
