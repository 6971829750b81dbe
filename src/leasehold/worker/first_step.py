"""The first step of an attempt runs at once: a handler that never waits needs no task of its own.

Python 3.12 has this built in. Before it a task takes about as long to make as a small handler takes to run. So one task
stands by: it is the current task of a first step, with a context of its own, and it goes on with whatever has not ended
then. It serves the next attempt only if nothing of this one is left in it.
"""

import asyncio
import contextvars
import sys
from asyncio import AbstractEventLoop, CancelledError, Future, Task
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Protocol

Work = Coroutine[Any, Any, None]


class Starter(Protocol):
    """Starts work as a task whose context is prepared by ``begin``; None when it has ended already."""

    def start(self, work: Work, begin: Callable[[], None]) -> "Task[None] | None": ...

    def close(self) -> None: ...


def starter(loop: AbstractEventLoop) -> Starter:
    return BuiltIn(loop) if sys.version_info >= (3, 12) else StandIn(loop)


class BuiltIn:
    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop

    def start(self, work: Work, begin: Callable[[], None]) -> "Task[None] | None":
        context = contextvars.copy_context()
        context.run(begin)
        task: Task[None] = Task(work, loop=self._loop, context=context, eager_start=True)  # type: ignore[call-arg]
        return None if task.done() else task

    def close(self) -> None:
        pass


class StandIn:
    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._spare = _Spare(loop)

    def start(self, work: Work, begin: Callable[[], None]) -> "Task[None] | None":
        spare = self._spare
        if not spare.waits:  # not yet: it was made in this turn of the loop
            context = contextvars.copy_context()
            context.run(begin)
            return self._loop.create_task(work, context=context)
        spare.context.run(begin)
        before = spare.context.copy()
        ended = spare.first_step(work)
        if not ended or spare.task.cancelling() or spare.context != before:
            self._spare = _Spare(self._loop)
        if not ended:
            return spare.task
        if self._spare is not spare:
            spare.task.cancel()
        return None

    def close(self) -> None:
        self._spare.task.cancel()


class _Spare:
    """A task that waits for work whose first step has been done in its name."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._given: Future[None] = loop.create_future()
        self._work: Work | None = None
        self._waits_for: Future[Any] | None = None  # what the first step stopped at; None: nothing but the next turn
        self.waits = False
        self.context = contextvars.copy_context()
        self.task = loop.create_task(self._live(), context=self.context)

    def first_step(self, work: Work) -> bool:
        """True when that was all."""
        outer = asyncio.current_task(self._loop)
        if outer:
            asyncio.tasks._leave_task(self._loop, outer)
        asyncio.tasks._enter_task(self._loop, self.task)
        try:
            self._waits_for = self.context.run(work.send, None)
        except StopIteration:
            return True
        except BaseException as problem:  # as the loop says it of any task
            about = {"message": "an attempt's first step failed", "exception": problem, "task": self.task}
            self._loop.call_exception_handler(about)
            return True
        finally:
            asyncio.tasks._leave_task(self._loop, self.task)
            if outer:
                asyncio.tasks._enter_task(self._loop, outer)
        self._work = work
        if not self._given.done():  # it is, if the first step has cancelled its own task
            self._given.set_result(None)
        return False

    async def _live(self) -> None:
        self.waits = True
        problem = None
        try:
            await self._given
        except CancelledError as cancelled:
            if self._work is None:
                raise
            # Canceled before its second step: so is what it waits for, and if that cannot be, the work itself.
            if self._waits_for is None or not self._waits_for.cancel():
                problem = cancelled
        assert self._work is not None
        await _rest(self._work, self._waits_for, problem)


@coroutine
def _rest(work: Work, waits_for: Any, problem: BaseException | None) -> Generator[Any, Any, None]:
    """Go on with a coroutine after its first step: what it waits for is passed on as if the task had done all of it."""
    try:
        if problem:
            waits_for = work.throw(problem)
        while True:
            try:
                value = yield waits_for
            except BaseException as thrown:
                waits_for = work.throw(thrown)
            else:
                waits_for = work.send(value)
    except StopIteration:
        pass
