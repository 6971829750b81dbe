"""A handler as its program sees it: a function to call, and a kind of jobs to ask for."""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from leasehold.errors import BadInput
from leasehold.features.flows.model import Policy, Step, step
from leasehold.job import Enqueued
from leasehold.program.handler import Handler

if TYPE_CHECKING:
    from leasehold.program.app import Leasehold


class Kind:
    """A handler as its program sees it: call it like the function it is, or ask for a job of it."""

    def __init__(self, app: "Leasehold", handler: Handler) -> None:
        self._app = app
        self.handler = handler
        self.kind = handler.kind
        self.__doc__ = handler.function.__doc__
        self.__name__ = handler.function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler.function(*args, **kwargs)

    def enqueue(self, value: Any = None, **options: Any) -> Coroutine[Any, Any, Enqueued]:
        """As ``app.enqueue``, with this kind's type and defaults."""
        return self._app.enqueue(self.kind, value, **options)

    def enqueue_many(self, values: Sequence[Any], **options: Any) -> Coroutine[Any, Any, list[Enqueued]]:
        return self._app.enqueue_many(self.kind, values, **options)

    def step(self, value: Any = None, *, name: str | None = None, on_failure: Policy = "fail", **options: Any) -> Step:
        """A job of this kind as a step of a flow."""
        return step(self.kind, value, name=name, on_failure=on_failure, **options)

    def upcast(self, version: int) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Turn payloads of this older version into the next one's shape, so that jobs survive a deploy."""
        if not isinstance(version, int):
            raise BadInput(
                f"@{self.__name__}.upcast needs the version that it turns into the next one",
                hint=f"@{self.__name__}.upcast(1)",
            )

        def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            self.handler.upcasts[version] = function
            return function

        return register
