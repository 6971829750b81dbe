"""A transaction of a handler, a route or a command: what all three can do."""

from typing import Any, Protocol


class Statements(Protocol):
    async def execute(self, statement: str, *args: Any) -> str: ...

    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchval(self, query: str, *args: Any) -> Any: ...
