"""Calls to the database that end: with an answer, or with Unreachable within a time.

A connection into a black hole fails by itself only after many minutes, and cancelling a call on it waits for the server
as well. So the call is left behind, its connections are given up, and the next call opens new ones.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from leasehold.engine.database import Database
from leasehold.errors import Unreachable

P = ParamSpec("P")
T = TypeVar("T")


class Calls:
    """One database, called with an end in sight. ``opened`` says that it is open already."""

    def __init__(self, db: Database, *, seconds: float, opened: bool) -> None:
        self.db = db
        self._seconds = seconds
        self._opened = opened

    async def call(
        self, function: Callable[Concatenate[Database, P], Awaitable[T]], *args: P.args, **options: P.kwargs
    ) -> T:
        """The answer of one function of ``engine``, within the usual time."""
        return await self.call_within(self._seconds, function, *args, **options)

    async def call_within(
        self,
        seconds: float,
        function: Callable[Concatenate[Database, P], Awaitable[T]],
        *args: P.args,
        **options: P.kwargs,
    ) -> T:
        call = asyncio.ensure_future(self._answer(function, *args, **options))
        try:
            await asyncio.wait({call}, timeout=seconds)
            if call.done():
                return call.result()
        finally:
            if not call.done():
                call.add_done_callback(_forget)
                call.cancel()
        await self.give_up()
        raise Unreachable(f"the database has not answered for {seconds:.1f} s")

    async def give_up(self) -> None:
        """Drop all connections at once, without a word to the server."""
        if self._opened:
            self._opened = False
            await self.db.__aexit__(Unreachable, Unreachable("given up"), None)

    async def _answer(
        self, function: Callable[Concatenate[Database, P], Awaitable[T]], *args: P.args, **options: P.kwargs
    ) -> T:
        if not self._opened:
            await self.db.__aenter__()
            self._opened = True
        return await function(self.db, *args, **options)


def pause_seconds() -> float:
    """How long to wait before another try: many workers come back from one outage, and should not come at once."""
    return random.uniform(0.1, 1.0)


def _forget(call: "asyncio.Future[T]") -> None:
    if not call.cancelled():
        call.exception()
