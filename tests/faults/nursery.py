"""``python -m tests.faults.nursery N [module:app]``: N workers that are forked, and forked again when they die.

A new process takes a second to import everything; one that is forked is at work within a tenth of it. That is the
difference between twenty crashes a minute and two hundred.
"""

import asyncio
import ctypes
import gc
import os
import signal
import sys

from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.program.app import Leasehold, load
from leasehold.settings import Settings
from leasehold.worker import Worker

_PR_SET_PDEATHSIG = 1


def main(n: int, named: str = "tests.faults.apps:app") -> None:
    settings = Settings.from_env()
    app = load(named)
    children: set[int] = set()
    stopping = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True
        for pid in children:
            os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    gc.freeze()
    while children or not stopping:
        while len(children) < n and not stopping:
            pid = os.fork()
            if pid == 0:
                _be_a_worker(app, settings)
            children.add(pid)
        pid, status = os.wait()
        children.discard(pid)
        print("killed" if os.WIFSIGNALED(status) else "ended", flush=True)


def _be_a_worker(app: Leasehold, settings: Settings) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # it shall not outlive the nursery
    try:
        asyncio.run(_work(app, settings))
    finally:
        os._exit(0)


async def _work(app: Leasehold, settings: Settings) -> None:
    async with Database(target(settings, Role.WORKER), connections=settings.slots + 1) as db:
        worker = Worker(db, app, settings)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        await worker.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
