"""A worker over HTTP: claim, run, beat, finish. It needs a key with the scope ``work`` and nothing of the database.

One event loop claims and reports; beats come from a thread of their own, so that a handler which blocks the loop does
not cost the leases. What the server says of a lost lease ends the attempt, and nothing of it is reported.
"""

import asyncio
import dataclasses
import inspect
import json
import logging
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from enum import StrEnum
from typing import Any, TypeVar

from leasehold import json_codec, log
from leasehold.errors import BadInput, LeaseholdError, LeaseLost, NotAllowed, TooLarge, Unreachable, WorkerLost
from leasehold.job import ClaimedJob
from leasehold.kinds import check_kind, read_hints, require_context
from leasehold.loop_watch import LOOK_SECONDS, LoopWatch
from leasehold.outage import Outage
from leasehold.program.outcomes import Cancel, Fail, InvalidPayload, InvalidResult, Retry, Snooze, describe
from leasehold.remote import operations
from leasehold.remote.client import AsyncClient, Client
from leasehold.remote.context import Attempt, Context, SyncContext

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

#: Seconds that the server may keep a claim waiting.
_WAIT_SECONDS = 20.0
#: A kind that nobody here knows is given back for about this long; a payload of a later version waits as long.
_LATER_SECONDS = 30.0
#: Stop before the server would give the leases to others.
_SAFE = 0.9
_MOST_REPORTS = 100


class Stop(StrEnum):
    """Why the worker ends an attempt that has not ended by itself."""

    CANCELED = "canceled"  # somebody asked for it, and the grace is over
    TIMED_OUT = "timed out"
    LOST = "lost"  # the lease may be another's by now: nothing is reported
    RELEASED = "released"  # the worker stops; the job goes back uncounted


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Handler:
    function: Callable[..., Any]
    blocking: bool
    takes: type | None  # a dataclass that the payload is read into
    with_payload: bool
    version: int


class _Execution:
    """An attempt while it runs."""

    def __init__(self, job: ClaimedJob, handler: _Handler, worker_id: str, loop: asyncio.AbstractEventLoop) -> None:
        self.attempt = Attempt(job, worker_id, lambda seconds: loop.call_soon_threadsafe(self.time_out_in, seconds))
        self.job = job
        self.handler = handler
        self.started_at = time.monotonic()
        self.stop: Stop | None = None
        self.task: asyncio.Task[None] | None = None
        self.timers: list[asyncio.TimerHandle] = []
        self._loop = loop
        self._timeout = loop.call_later(job.timeout_s, self.interrupt, Stop.TIMED_OUT)

    @property
    def times_out_at(self) -> float:
        """By the loop's clock."""
        return self._timeout.when()

    def time_out_in(self, seconds: float) -> None:
        """Call it in the thread of the event loop."""
        self._timeout.cancel()
        self._timeout = self._loop.call_later(seconds, self.interrupt, Stop.TIMED_OUT)

    def end(self) -> None:
        for timer in (self._timeout, *self.timers):
            timer.cancel()

    def interrupt(self, why: Stop) -> None:
        """A thread cannot be interrupted: its handler is told, and its end is waited for."""
        if self.stop is None or why in (Stop.LOST, Stop.RELEASED):
            self.stop = why
        self.attempt.cancel()
        if self.task and (not self.handler.blocking or why is Stop.RELEASED):
            self.task.cancel()

    def log_fields(self) -> dict[str, Any]:
        job = self.job
        trace_id = job.traceparent.split("-")[1] if job.traceparent and job.traceparent.count("-") == 3 else None
        return {
            "worker_id": self.attempt.worker_id,
            "job_id": job.job_id,
            "kind": job.kind,
            "tenant_id": job.tenant_id,
            "attempt": job.attempt,
            "trace_id": trace_id,
        }


class Worker:
    """Runs jobs of the queues that its key names.

    worker = Worker("https://jobs.example.com", key, slots=4)

    @worker.handler("films.render")
    async def render(ctx: Context, film: Film) -> dict: ...

    worker.main()
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        queues: Sequence[str] | None = None,
        slots: int = 10,
        name: str | None = None,
        version: str = "0",
        lease_s: float = 60.0,
        grace_s: float = 30.0,
        cancel_grace_s: float = 10.0,
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.worker_id: str | None = None  # None while it is not registered, or was declared lost
        self._url, self._key = url, key
        self._queues, self._slots, self._version = queues, slots, version
        self._lease_s, self._grace_s, self._cancel_grace_s = lease_s, grace_s, cancel_grace_s
        self._handlers: dict[str, _Handler] = {}
        self._old_ids: list[str] = []  # under which we may still hold leases
        self._running: dict[int, _Execution] = {}  # by token
        self._ended: dict[int, dict[str, Any]] = {}  # by token: to be reported
        self._stopping = asyncio.Event()
        self._forced = asyncio.Event()
        self._lost = asyncio.Event()
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        self._closing = threading.Event()
        self._heard_at = 0.0  # when the newest beat that got through was sent: the lease counts from there
        self._outage = Outage()
        self._outage.announce(_log_gone, _log_back)

    def handler(self, kind: str, *, version: int = 1) -> Callable[[F], F]:
        """Handle a kind: an async function, or a sync one, which runs in a thread. It takes (ctx) or (ctx, payload)."""
        check_kind("@worker.handler", kind)

        def register(function: F) -> F:
            if kind in self._handlers:
                raise BadInput(f"there are two handlers for {kind}")
            names = list(inspect.signature(function).parameters)
            if not 1 <= len(names) <= 2:
                raise BadInput(f"the handler of {kind} takes (ctx) or (ctx, payload), not {names}")
            require_context(kind, function, Context, SyncContext)
            takes = read_hints(kind, function).get(names[-1]) if len(names) == 2 else None
            self._handlers[kind] = _Handler(
                function=function,
                blocking=not inspect.iscoroutinefunction(function),
                takes=takes if isinstance(takes, type) and dataclasses.is_dataclass(takes) else None,
                with_payload=len(names) == 2,
                version=version,
            )
            return function

        return register

    def main(self, *, json_logs: bool = True, log_level: str = "info") -> None:
        """Run until SIGINT or SIGTERM; a second one does not wait for what runs."""
        log.configure(json_lines=json_logs, level=log_level)

        async def run() -> None:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.stop)
            await self.run()

        asyncio.run(run())

    def stop(self) -> None:
        """Claim no more, and leave when what runs has ended; called again: at once."""
        if self._stopping.is_set():
            self._forced.set()
        self._stopping.set()
        self._room.set()

    async def run(self) -> None:
        """Work until stopped; leaves no lease behind."""
        self._loop = asyncio.get_running_loop()
        self._loop_watch = LoopWatch(lambda: list(self._running.values()))
        async with AsyncClient(self._url, self._key) as self._client:
            with Client(self._url, self._key) as self._sync:
                if not await self._begin():
                    return
                heart = threading.Thread(target=self._beat_forever, name="leasehold-heart", daemon=True)
                heart.start()
                reporting = asyncio.create_task(self._report_forever())
                try:
                    await self._work()
                    await self._drain()
                finally:
                    await self._interrupt_all()
                    reporting.cancel()
                    await asyncio.wait([reporting])
                    await self._leave()
                    self._closing.set()
                    await asyncio.to_thread(heart.join)

    async def _begin(self) -> bool:
        """Register once the server answers; False when we are to stop before."""
        while not self._stopping.is_set():
            try:
                await self._unless(self._register(tries=1), self._stopping)
                return self.worker_id is not None
            except Unreachable as problem:
                self._outage.begin(problem)
                await self._pause()
        return False

    async def _register(self, *, tries: int | None = None) -> None:
        for old in self._old_ids:  # what we let go and nobody has taken yet is free at once
            await self._client.ask(operations.stop(old))
        self._old_ids.clear()
        since = time.monotonic()
        made = await self._client.ask(
            operations.register(
                {
                    "name": self.name,
                    "version": self._version,
                    "queues": self._queues,
                    "kinds": sorted(self._handlers),
                    "slots": self._slots,
                    "lease_s": self._lease_s,
                }
            ),
            tries=tries,
        )
        self._outage.end()
        self._heard_at = since
        self._lost.clear()
        self.worker_id = str(made["worker_id"])
        log.emit("worker started", worker=self.name, worker_id=self.worker_id, slots=self._slots)

    # -- claim --------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        while not self._stopping.is_set():
            self._room.clear()
            free = self._slots - len(self._running) - len(self._ended)
            if free <= 0:
                await self._room.wait()
                continue
            try:
                if self.worker_id is None:
                    await self._register()
                await self._claim(free)
            except WorkerLost as problem:
                self._lose(self.worker_id, str(problem))
            except NotAllowed:
                raise
            except LeaseholdError as problem:
                self._note("claim failed", problem)
                await self._pause()

    async def _claim(self, free: int) -> None:
        """Wait for jobs, unless we stop or are lost meanwhile. What is granted then goes back with the worker's id."""
        worker_id = self.worker_id
        assert worker_id is not None
        held = [*self._running, *self._ended]
        claim = self._client.ask(operations.claim(worker_id, free, held, _WAIT_SECONDS), tries=1)
        claimed = await self._unless(claim, self._stopping, self._lost)
        if claimed is None:
            return
        self._outage.end()
        for job in claimed:
            if worker_id == self.worker_id:  # else we were declared lost meanwhile, and so are these
                self._start(job, worker_id)

    async def _unless(self, call: Coroutine[Any, Any, T], *events: asyncio.Event) -> T | None:
        """What the call gives, or None as soon as one of these events comes first."""
        asking = asyncio.create_task(call)
        others = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait({asking, *others}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            for task in (asking, *others):
                task.cancel()
            await asyncio.wait({asking, *others})

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._outage.pause_seconds()):
                await self._stopping.wait()
        except TimeoutError:
            pass

    def _note(self, event: str, problem: LeaseholdError) -> None:
        """Of a server that is away there is one line; of any other trouble, one for each."""
        if isinstance(problem, Unreachable):
            self._outage.begin(problem)
        else:
            log.emit(event, level=logging.WARNING, problem=problem)

    # -- run ----------------------------------------------------------------------------------------------------

    def _start(self, job: ClaimedJob, worker_id: str) -> None:
        handler = self._handlers.get(job.kind)
        if handler is None:
            log.emit("unknown kind", level=logging.WARNING, kind=job.kind, known=sorted(self._handlers))
            self._end(job, {"outcome": "released", "delay_s": _LATER_SECONDS * random.uniform(0.8, 1.2)})
            return
        execution = _Execution(job, handler, worker_id, self._loop)
        self._running[job.token] = execution
        execution.task = asyncio.create_task(self._attempt(execution))

    async def _attempt(self, execution: _Execution) -> None:
        log.bind_task(execution.log_fields, ())
        ended: dict[str, Any] | None = None
        try:
            try:
                ended = {"outcome": "succeeded", "result": _storable(await self._call(execution))}
            except LeaseLost:
                execution.stop = Stop.LOST
            except BaseException as error:  # whatever a handler raises, the worker lives
                ended = _judge(execution, error)
        finally:
            execution.end()
            self._running.pop(execution.job.token, None)
            if execution.stop is Stop.LOST:
                ended = None
            if ended:
                self._end(execution.job, ended)
            self._room.set()
        outcome = ended["outcome"] if ended else "dropped"
        level = logging.DEBUG if outcome == "succeeded" else logging.INFO
        took = time.monotonic() - execution.started_at
        log.emit("attempt ended", level=level, outcome=outcome, duration_ms=round(took * 1000, 1))

    def _call(self, execution: _Execution) -> Awaitable[Any]:
        handler, job = execution.handler, execution.job
        if job.version > handler.version:
            raise Snooze(f"the payload has version {job.version}, this program knows {handler.version}", after=30.0)
        arguments = (_payload(handler, job.payload),) if handler.with_payload else ()
        if handler.blocking:
            return _in_thread(handler.function, SyncContext(execution.attempt, self._sync), *arguments)
        call: Coroutine[Any, Any, Any] = handler.function(Context(execution.attempt, self._client), *arguments)
        return call

    def _end(self, job: ClaimedJob, ended: Mapping[str, Any]) -> None:
        self._ended[job.token] = {"job_id": str(job.job_id), "token": str(job.token), **ended}
        self._news.set()

    # -- report -------------------------------------------------------------------------------------------------

    async def _report_forever(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._ended and self.worker_id is not None:
                try:
                    await self._report()
                except WorkerLost as problem:
                    self._lose(self.worker_id, str(problem))
                except LeaseholdError as problem:
                    self._note("report failed", problem)
                    await asyncio.sleep(self._outage.pause_seconds())

    async def _report(self) -> None:
        """Say how attempts ended. They stay with us until there is an answer: a report may come twice."""
        batch = dict(list(self._ended.items())[:_MOST_REPORTS])
        try:
            items = await self._client.ask(operations.finish(str(self.worker_id), [*batch.values()]))
        except TooLarge:
            items = [await self._report_one(one) for one in batch.values()]
        self._outage.end()
        for item in items:
            ended = self._ended.pop(int(item["token"]), None)
            if ended is None:
                continue
            if item["code"] == "invalid":
                error = json.loads(describe(InvalidResult(item["detail"])))
                self._ended[int(item["token"])] = {**_place(ended), "outcome": "failed", "error": error}
            elif item["code"] == "lease_lost":
                fields = {"job_id": ended["job_id"], "outcome": ended["outcome"], "why": "lease lost"}
                log.emit("finish refused", level=logging.WARNING, **fields)
        self._room.set()

    async def _report_one(self, ended: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return (await self._client.ask(operations.finish(str(self.worker_id), [ended])))[0]
        except TooLarge as problem:
            return {"token": ended["token"], "code": "invalid", "detail": str(problem)}

    # -- leases -------------------------------------------------------------------------------------------------

    def _beat_forever(self) -> None:
        """In a thread of its own, which looks after the event loop as well."""
        due = time.monotonic() + self._lease_s / 3
        while not self._closing.wait(min(LOOK_SECONDS, self._lease_s / 10)):
            self._loop_watch.look()
            if time.monotonic() >= due:
                pause = self._beat()
                due = time.monotonic() + pause

    def _beat(self) -> float:
        """One beat; how long to wait before the next."""
        worker_id, sent_at = self.worker_id, time.monotonic()
        if worker_id is None:
            return min(1.0, self._lease_s / 10)
        try:
            # One that hangs must leave time for others before the lease is over.
            cancel, lost = self._sync.ask(operations.beat(worker_id, list(self._running), self._lease_s / 6), tries=1)
        except WorkerLost as problem:
            self._tell(self._lose, worker_id, str(problem))
        except LeaseholdError as problem:
            if time.monotonic() - self._heard_at > self._lease_s * _SAFE:
                self._tell(self._lose, worker_id, f"no beat got through: {problem}")
            return min(1.0, self._lease_s / 10)
        else:
            self._heard_at = sent_at
            self._tell(self._heard, cancel, lost)
        return self._lease_s / 3

    def _tell(self, function: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(function, *args)

    def _heard(self, cancel: set[int], lost: set[int]) -> None:
        for token in lost:
            if execution := self._running.get(token):
                log.emit("lease lost", level=logging.WARNING, job_id=execution.job.job_id)
                execution.interrupt(Stop.LOST)
        for token in cancel:
            execution = self._running.get(token)
            if execution and not execution.attempt.cancelled.is_set():
                execution.attempt.cancel()
                execution.timers.append(self._loop.call_later(self._cancel_grace_s, execution.interrupt, Stop.CANCELED))

    def _lose(self, worker_id: str | None, why: str) -> None:
        """What we hold may be others' by now: stop it all, report nothing of it, come back under a new id."""
        if worker_id is None or worker_id != self.worker_id:
            return
        log.emit("worker declared lost", level=logging.WARNING, worker=self.name, worker_id=worker_id, why=why)
        self.worker_id = None
        self._lost.set()
        self._old_ids.append(worker_id)
        self._ended.clear()
        for execution in list(self._running.values()):
            execution.interrupt(Stop.LOST)
        self._room.set()

    # -- the end ------------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        """Give what runs its grace."""
        try:
            async with asyncio.timeout(self._grace_s):
                while (self._running or self._ended) and not self._forced.is_set():
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            pass

    async def _interrupt_all(self) -> None:
        left = list(self._running.values())
        for execution in left:
            execution.interrupt(Stop.RELEASED)
        if tasks := [one.task for one in left if one.task]:
            await asyncio.wait(tasks, timeout=self._cancel_grace_s)

    async def _leave(self) -> None:
        if self.worker_id is None:
            return
        try:
            if self._ended:
                await self._report()
            released = await self._client.ask(operations.stop(self.worker_id), tries=2)
            log.emit("worker stopped", worker=self.name, released=released)
        except LeaseholdError as problem:
            log.emit("worker stopped without goodbye", level=logging.WARNING, worker=self.name, problem=problem)


def _log_gone(problem: LeaseholdError) -> None:
    log.emit("server unreachable", level=logging.WARNING, problem=problem)


def _log_back(seconds: float) -> None:
    log.emit("server is back", away_s=round(seconds, 1))


def _judge(execution: _Execution, error: BaseException) -> dict[str, Any] | None:
    """How an attempt ended that did not return; None where nothing is to be said."""
    match error:
        case Snooze():
            why = {"error": _described(error)} if error.gate else {}
            return {"outcome": "snoozed", "delay_s": error.after, **why}
        case Retry():
            return {"outcome": "errored", "error": _described(error), "delay_s": error.after}
        case Cancel():
            return {"outcome": "canceled", "error": _described(error)}
        case Fail():
            return {"outcome": "failed", "error": _described(error)}
    match execution.stop:
        case Stop.LOST | Stop.RELEASED:  # all that is left goes back as the worker leaves
            return None
        case Stop.CANCELED:
            return {"outcome": "canceled"}
        case Stop.TIMED_OUT:
            late = TimeoutError(f"took longer than {execution.job.timeout_s:g} s")
            return {"outcome": "errored", "error": _described(late)}
    if isinstance(error, asyncio.CancelledError) and execution.attempt.cancelled.is_set():
        return {"outcome": "canceled"}
    return {"outcome": "errored", "error": _described(error)}


def _described(error: BaseException) -> dict[str, Any]:
    return dict(json.loads(describe(error)))


def _payload(handler: _Handler, value: Any) -> Any:
    if handler.takes is None:
        return value
    try:
        return handler.takes(**value)
    except TypeError as problem:
        raise InvalidPayload(str(problem)) from None


def _storable(result: Any) -> Any:
    """A result as JSON has it."""
    plain = dataclasses.asdict(result) if dataclasses.is_dataclass(result) and not isinstance(result, type) else result
    try:
        return json.loads(json_codec.encode(plain, what="result"))
    except (BadInput, TooLarge) as problem:
        raise InvalidResult(str(problem)) from None


def _place(ended: Mapping[str, Any]) -> dict[str, Any]:
    return {"job_id": ended["job_id"], "token": ended["token"]}


async def _in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """In a thread that does not keep the process alive: one that hangs must not outlast a worker that stops."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    run = copy_context().run

    def deliver(value: tuple[Any, BaseException | None]) -> None:
        if not answer.done():
            answer.set_result(value)

    def work() -> None:
        try:
            value: tuple[Any, BaseException | None] = (run(function, *args), None)
        except BaseException as error:
            value = (None, error)
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits for the answer
            loop.call_soon_threadsafe(deliver, value)

    threading.Thread(target=work, name="leasehold-handler", daemon=True).start()
    result, error = await answer
    if error is not None:
        raise error
    return result
