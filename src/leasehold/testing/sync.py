"""``kit.sync``: the kit for tests without an event loop, such as those of Flask and Django views."""

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leasehold.testing.kit import Kit


class KitSync:
    """Every method of ``Kit`` that is awaited there, without ``await``: ``leasehold.sync.run_until_idle(app)``."""

    def __init__(self, kit: "Kit") -> None:
        self._kit = kit

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._kit, name)
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *args, **options: asyncio.run(found(*args, **options))
