"""Handlers that take many jobs at once.

Each job is an attempt of its own, with a lease, a timeout and an outcome; it waits for its fellows, and then for what
becomes of it. So everything that is true of attempts is true here.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, get_args, get_type_hints

from typing_extensions import TypeVar

from leasehold.errors import BadInput
from leasehold.program.context import Context

P = TypeVar("P", covariant=True, default=Any)
R = TypeVar("R", default=Any)


@dataclass(frozen=True, slots=True)
class Item(Generic[P]):
    """One job of a batch."""

    ctx: Context
    payload: P


#: The results in the order of the items, or None when there are none. An exception among them is what its item raises.
BatchFunction = Callable[[list[Item[P]]], Awaitable[Sequence[R] | None]]


def join_batches(
    kind: str, function: BatchFunction[Any, Any], *, size: int, wait: float
) -> Callable[..., Awaitable[Any]]:
    """A handler of single jobs that brings each to the next batch of ``function``."""
    if not inspect.iscoroutinefunction(function):
        raise BadInput(f"{kind}: the handler of a batch is an async function")
    if size < 1 or wait < 0:
        raise BadInput(f"{kind}: a batch has a size of at least 1, and waits 0 s or longer")
    batches = _Batches(function, size=size, wait=wait)

    async def join(ctx: Context, payload: Any) -> Any:
        return await batches.join(Item(ctx, payload))

    join.__name__, join.__qualname__ = function.__name__, function.__qualname__
    join.__module__, join.__doc__ = function.__module__, function.__doc__
    join.__annotations__["payload"] = _payload_type(kind, function)
    return join


def _payload_type(kind: str, function: BatchFunction[Any, Any]) -> Any:
    """The ``Mail`` of ``batch: list[Item[Mail]]``."""
    names = list(inspect.signature(function).parameters)
    if len(names) != 1:
        raise BadInput(f"{kind}: the handler of a batch takes one list of items, not {names}")
    for item in get_args(get_type_hints(function).get(names[0])):
        for payload in get_args(item):
            return payload
    return Any


class _Batches:
    """Gathers items until there are enough, or the first has waited long enough."""

    def __init__(self, function: BatchFunction, *, size: int, wait: float) -> None:
        self._function, self._size, self._wait = function, size, wait
        self._next = _Batch()

    async def join(self, item: Item[Any]) -> Any:
        loop = asyncio.get_running_loop()
        batch = self._next
        answer = batch.add(item)
        if len(batch.answers) == self._size:
            self._begin(batch)
        elif len(batch.answers) == 1:
            batch.timer = loop.call_later(self._wait, self._begin, batch)
        try:
            return await answer
        finally:
            batch.leave()

    def _begin(self, batch: "_Batch") -> None:
        self._next = _Batch()
        batch.begin(self._function)


class _Batch:
    def __init__(self) -> None:
        self.items: list[Item[Any]] = []
        self.answers: list[asyncio.Future[Any]] = []
        self.timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, item: Item[Any]) -> "asyncio.Future[Any]":
        self.items.append(item)
        self.answers.append(asyncio.get_running_loop().create_future())
        return self.answers[-1]

    def begin(self, function: BatchFunction) -> None:
        """Call the function with those who still wait."""
        if self.timer:
            self.timer.cancel()
        waiting = [(item, answer) for item, answer in zip(self.items, self.answers, strict=True) if not answer.done()]
        if waiting:
            self._task = asyncio.create_task(_run(function, *map(list, zip(*waiting, strict=True))))

    def leave(self) -> None:
        """One has its answer, or was interrupted; when nobody wants an answer any more, the work ends."""
        if self._task and all(answer.done() for answer in self.answers):
            self._task.cancel()


async def _run(function: BatchFunction, items: list[Any], answers: list[Any]) -> None:
    try:
        given = await function(items)
        results = [None] * len(items) if given is None else list(given)
        if len(results) != len(items):
            raise TypeError(f"the handler gave {len(results)} results for a batch of {len(items)}")
    except BaseException as problem:  # as each of them would have raised it
        results = [problem] * len(items)
    for answer, result in zip(answers, results, strict=True):
        if answer.done():
            continue  # its attempt was interrupted meanwhile
        if isinstance(result, BaseException):
            answer.set_exception(result)
        else:
            answer.set_result(result)
