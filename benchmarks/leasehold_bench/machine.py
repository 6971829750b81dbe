"""On what a figure was measured: without it the figure says nothing."""

import os
import platform
import statistics
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from leasehold.database.connection import BY_HAND, Connection, connect
from leasehold.database.errors import translated

_SETTINGS = ("fsync", "full_page_writes", "shared_buffers", "max_wal_size", "wal_level", "max_connections")
_COMMITS = 100


def describe() -> dict[str, Any]:
    """This machine, and the programs on it."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2,
        "load": load(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("leasehold", "asyncpg", "pydantic", "uvloop")},
    }


def load() -> float:
    """Processes that wanted to run in the last minute: more than the cores, and figures are noise."""
    return round(os.getloadavg()[0], 2)


async def describe_server(url: str) -> dict[str, Any]:
    """PostgreSQL's version and the settings that matter, and what one durable commit takes there and back."""
    with translated():
        connection = await connect(url, "leasehold-bench", deadline=BY_HAND)
        try:
            settings = {name: await connection.fetchval(f"show {name}") for name in _SETTINGS}
            return {
                "version": await connection.fetchval("show server_version"),
                "commit_ms": round(await _commit_ms(connection), 3),
                "settings": settings | {"synchronous_commit": "on"},
            }
        finally:
            await connection.close()


async def _commit_ms(connection: Connection) -> float:
    """A message that nobody reads is the smallest thing that a commit has to make durable."""
    await connection.execute("set synchronous_commit = on")
    took = []
    for _ in range(_COMMITS):
        began = time.monotonic()
        await connection.execute("select pg_logical_emit_message(true, 'leasehold', '')")
        took.append(time.monotonic() - began)
    return statistics.median(took) * 1000


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
