"""One process that serves several cells: a worker for each, with connections and slots of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from leasehold.settings import Settings
from leasehold.worker.loop import Worker

#: The ports of a process's workers are so far apart: between them are those of other processes.
_PORTS_APART = 100


def settings_by_cell(settings: Settings) -> list[Settings]:
    """The settings of each worker: ``LEASEHOLD_CELLS`` names the cells."""
    if not settings.cells:
        return [settings]
    return [
        replace(settings, cell=None if cell == "home" else cell, worker_port=_port(settings.worker_port, number))
        for number, cell in enumerate(settings.cells.split(","))
    ]


def _port(port: int | None, number: int) -> int | None:
    return port + number * _PORTS_APART if port else port  # 0 is any


async def run_together(workers: Sequence[Worker]) -> None:
    """Until all have stopped. When one stops (it is worn, or failed), the others do."""
    try:
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(_run(worker, workers))
    except BaseExceptionGroup as group_of:
        raise group_of.exceptions[0] from None


async def _run(worker: Worker, workers: Sequence[Worker]) -> None:
    await worker.run()
    for other in workers:
        if other is not worker and not other.is_stopping:
            other.stop()
