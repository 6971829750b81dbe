"""``python -m tests.chaos.probe NAME URL LOG``: plain jobs of one tenant over HTTP, ten a second until SIGTERM.

Each is sent when its time has come, whether or not those before it were answered: a server that is still for five
seconds is seen by fifty of them, not by one. What fails is sent again, and takes the longer. Beside them stands how
much of a processor a small computation gets: where it is little, time tells of the machine and not of the server.
"""

import asyncio
import hashlib
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.oplog import OpLog

PERIOD_SECONDS = 0.1
PATIENCE_SECONDS = 30.0
_AGAIN_SECONDS = 0.05
_WATCH_SECONDS = 0.5
_AROUND = timedelta(seconds=1)
#: Every so many enqueues a list is read.
_LISTS = 5


class Probe:
    def __init__(self, http: httpx.AsyncClient, log: OpLog) -> None:
        self._http, self._log = http, log

    async def run(self, stop: asyncio.Event) -> None:
        """Until it is stopped; what is under way is waited for."""
        due, sent = time.monotonic(), 0
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_machine(stop))
            while not stop.is_set():
                group.create_task(self._enqueue(due, then_list=sent % _LISTS == 0))
                due, sent = due + PERIOD_SECONDS, sent + 1
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), max(0.0, due - time.monotonic()))

    async def _watch_machine(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            op = self._log.invoke("machine", "c")
            self._log.ok(op, share=await asyncio.to_thread(share_of_processor))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _WATCH_SECONDS)

    async def _enqueue(self, due: float, *, then_list: bool) -> None:
        op = self._log.invoke("enqueue", "c", kind="c.probe", values=[{}], due=due)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                made = await self._answered("POST", "/v1/jobs", json={"kind": "c.probe"})
        except Exception as problem:
            self._log.failed(op, problem)
            return
        self._log.ok(op, jobs=[made["job_id"]])
        if then_list:
            await self._list(made["job_id"])

    async def _list(self, job_id: str) -> None:
        """Through the server that has just acknowledged this job, which may ask a replica."""
        op = self._log.invoke("read back", "c", job=job_id)
        made = datetime.fromtimestamp((int(job_id.replace("-", "")[:12], 16)) / 1000, UTC)
        around = {"created_after": made - _AROUND, "created_before": made + _AROUND}
        moments = {name: moment.isoformat() for name, moment in around.items()}
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                page = await self._answered("GET", "/v1/jobs", params={"limit": 200} | moments)
        except Exception as problem:
            self._log.failed(op, problem)
        else:
            self._log.ok(op, seen=any(row["job_id"] == job_id for row in page["data"]))

    async def _answered(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        while True:
            try:
                answer = await self._http.request(method, path, **request)
            except httpx.TransportError:
                pass
            else:
                if answer.status_code < 300:
                    found: dict[str, Any] = answer.json()
                    return found
                if answer.status_code < 500 and answer.status_code != 429:
                    raise RuntimeError(f"{answer.status_code} {answer.text[:200]}")
            await asyncio.sleep(_AGAIN_SECONDS)


def share_of_processor() -> float:
    """What a thread that wants to compute gets, between 0 and 1."""
    began, used = time.monotonic(), time.thread_time()
    hashlib.pbkdf2_hmac("sha256", b"chaos", b"chaos", 20_000)  # without the lock of the interpreter
    return (time.thread_time() - used) / (time.monotonic() - began)


async def main(name: str, url: str, log: Path) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    headers = {"Authorization": f"Bearer {os.environ['CHAOS_KEY']}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as http:
        await Probe(http, OpLog(log, name)).run(stop)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
