"""A handler as its program sees it: a function to call, and a kind of jobs to ask for."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, Unpack, overload
from uuid import UUID

from typing_extensions import TypeVar

from leasehold.errors import BadInput
from leasehold.features.flows.model import Policy, Step, step
from leasehold.job import Enqueued
from leasehold.program.context import Context, SyncContext
from leasehold.program.handler import Handler
from leasehold.typed_options import JobOptions, StepOptions

if TYPE_CHECKING:
    from leasehold.program.app import Leasehold

#: A payload as JSON; each version of it has another shape.
Json = Any
Upcast = Callable[[Json], Json]
P = TypeVar("P", contravariant=True, default=Any)
R = TypeVar("R", covariant=True, default=Any)
_P = TypeVar("_P")
_R = TypeVar("_R")


class Kind(Generic[P, R]):
    """A handler of payloads ``P`` with results ``R``: call it like the function it is, or ask for a job of it."""

    def __init__(self, app: "Leasehold", handler: Handler) -> None:
        self._app = app
        self.handler = handler
        self.kind = handler.kind
        self.__doc__ = handler.function.__doc__
        self.__name__ = handler.function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # Any: the result itself, or an awaitable of it
        return self.handler.function(*args, **kwargs)

    @overload
    def enqueue(
        self: "Kind[None, R]",
        payload: None = None,
        *,
        tenant: str | UUID | None = None,
        key: str | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Coroutine[Any, Any, Enqueued[R]]: ...
    @overload
    def enqueue(
        self,
        payload: P,
        *,
        tenant: str | UUID | None = None,
        key: str | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Coroutine[Any, Any, Enqueued[R]]: ...
    def enqueue(
        self,
        payload: object = None,
        *,
        tenant: str | UUID | None = None,
        key: str | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Coroutine[Any, Any, Enqueued[R]]:
        """As ``app.enqueue``, with this kind's type and defaults."""
        return self._app.enqueue(self.kind, payload, tenant=tenant, key=key, conn=conn, **options)

    def enqueue_many(
        self,
        payloads: Sequence[P],
        *,
        tenant: str | UUID | None = None,
        keys: Sequence[str | None] | None = None,
        conn: object = None,
        **options: Unpack[JobOptions],
    ) -> Coroutine[Any, Any, list[Enqueued[R]]]:
        """Ask for one job for each payload, all or none."""
        return self._app.enqueue_many(self.kind, payloads, tenant=tenant, keys=keys, conn=conn, **options)

    @overload
    def step(
        self: "Kind[None, R]",
        payload: None = None,
        *,
        name: str | None = None,
        on_failure: Policy = "fail",
        **options: Unpack[StepOptions],
    ) -> Step: ...
    @overload
    def step(
        self,
        payload: P,
        *,
        name: str | None = None,
        on_failure: Policy = "fail",
        **options: Unpack[StepOptions],
    ) -> Step: ...
    def step(
        self,
        payload: object = None,
        *,
        name: str | None = None,
        on_failure: Policy = "fail",
        **options: Unpack[StepOptions],
    ) -> Step:
        """A job of this kind as a step of a flow."""
        return step(self.kind, payload, name=name, on_failure=on_failure, **options)

    def upcast(self, version: int) -> Callable[[Upcast], Upcast]:
        """Turn payloads of this older version into the next one's shape, so that jobs survive a deploy."""
        if not isinstance(version, int):
            raise BadInput(
                f"@{self.__name__}.upcast needs the version that it turns into the next one",
                hint=f"@{self.__name__}.upcast(1)",
            )

        def register(function: Upcast) -> Upcast:
            self.handler.upcasts[version] = function
            return function

        return register


class Register(Protocol):
    """``@app.handler("shop.refund")`` above a function makes a ``Kind`` of it, with its payload and its result."""

    @overload
    def __call__(self, function: Callable[[Context], Awaitable[_R]], /) -> Kind[None, _R]: ...
    @overload
    def __call__(self, function: Callable[[Context, _P], Awaitable[_R]], /) -> Kind[_P, _R]: ...
    @overload
    def __call__(self, function: Callable[[SyncContext], _R], /) -> Kind[None, _R]: ...
    @overload
    def __call__(self, function: Callable[[SyncContext, _P], _R], /) -> Kind[_P, _R]: ...
