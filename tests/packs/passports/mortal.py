"""``python -m tests.packs.passports.mortal MARKS SEED``: a worker of the pack that kills itself, and is forked again.

Each signing job kills it once, before a statement of its transaction or while it commits.
"""

import asyncio
import ctypes
import gc
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.plugins.discovery import app_of
from leasehold.program import attempt_api
from leasehold.program.transaction import AttemptTransaction
from leasehold.settings import Settings
from leasehold.worker import Worker
from leasehold_packs.passports import feature

_PR_SET_PDEATHSIG = 1
#: keys; then lock, proof and leaf, event (two statements), head (three), enqueue, complete; and the
#: commit.
POINTS = 11
_statements: Counter[int] = Counter()  # so far, of each attempt


def main(marks: Path, seed: int) -> None:
    settings = Settings.from_env()
    child = 0

    def stop(_number: int, _frame: object) -> None:
        os.kill(child, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    gc.freeze()
    while True:
        child = os.fork()
        if child == 0:
            _be_a_worker(settings, marks, seed)
        os.waitpid(child, 0)
        print("killed", flush=True)


def point_of(job_id: UUID, seed: int) -> tuple[int, float]:
    """Before which statement the attempt dies, and how long after the last it does so if it is none of them."""
    dice = Random(f"{seed}:{job_id}")
    return dice.randrange(POINTS), dice.uniform(0, 0.004)


def _be_a_worker(settings: Settings, marks: Path, seed: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for name in ("execute", "fetch", "fetchrow", "fetchval", "emit", "enqueue", "complete"):
        setattr(AttemptTransaction, name, _deadly(getattr(AttemptTransaction, name), marks, seed))
    app_of(feature)._settings = settings
    try:
        asyncio.run(_work(settings))
    finally:
        os._exit(0)


async def _work(settings: Settings) -> None:
    async with Database(target(settings, Role.WORKER), connections=settings.slots + 1) as db:
        await Worker(db, app_of(feature), settings).run()


def _deadly(method: Callable[..., Any], marks: Path, seed: int) -> Callable[..., Any]:
    async def call(tx: Any, *args: Any, **options: Any) -> Any:
        job = tx._job
        if job.kind != "passports.sign":
            return await method(tx, *args, **options)
        at, seconds = point_of(job.job_id, seed)
        done = _statements[job.token]
        _statements[job.token] += 1
        if done == at and _is_first(marks / str(job.job_id)):
            os.kill(os.getpid(), signal.SIGKILL)
        result = await method(tx, *args, **options)
        if method.__name__ == "complete" and at > done and _is_first(marks / str(job.job_id)):
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return result

    return call


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


if __name__ == "__main__":
    assert attempt_api  # the worker's way into transactions is imported before the first fork
    main(Path(sys.argv[1]), int(sys.argv[2]))
