"""The driver's connection, told of PostgreSQL's own arrays beforehand, and with a shorter way to ask again.

asyncpg knows the types of single values and asks the server for all others, on every new connection, by a query that
takes longer than most of our calls. The arrays of built-in types have the same numbers in every PostgreSQL.
"""

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import asyncpg

#: Numbers (oids) of the array and of its element, as in PostgreSQL's pg_type.dat.
_ARRAYS = {
    "bool": (1000, 16),
    "bytea": (1001, 17),
    "float4": (1021, 700),
    "float8": (1022, 701),
    "int2": (1005, 21),
    "int4": (1007, 23),
    "int8": (1016, 20),
    "jsonb": (3807, 3802),
    "timestamptz": (1185, 1184),
    "uuid": (2951, 2950),
}
_TYPES = {
    oid: {
        "oid": oid,
        "ns": "pg_catalog",
        "name": f"_{name}",
        "kind": b"b",
        "basetype": None,
        "elemtype": element,
        "elemdelim": ",",
        "range_subtype": None,
        "attrtypoids": None,
        "attrnames": None,
    }
    for name, (oid, element) in _ARRAYS.items()
}
#: The driver prepares its statement anew after a question that had no name. None was asked.
_NO_QUESTION = SimpleNamespace(name="none")


class Connection(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """Asks the server for no type that stands above."""

    __slots__ = ()

    async def _introspect_types(self, typeoids: Collection[int], timeout: float | None) -> Any:
        """Not a public method: should it get another name one day, types are asked for again, and a test says so."""
        if all(oid in _TYPES for oid in typeoids):
            return [_TYPES[oid] for oid in typeoids], _NO_QUESTION
        return await super()._introspect_types(typeoids, timeout)

    async def fetch_again(self, query: str, *args: Any) -> list[asyncpg.Record]:
        """As ``fetch``, outside a transaction: shorter for a query that was asked here before.

        The statement that the driver has prepared and the call that runs it are not public: see above.
        """
        rows: list[asyncpg.Record]
        statement = self._stmt_cache.get((query, asyncpg.Record, False))
        if statement is None:
            rows = await self.fetch(query, *args)
            return rows
        try:
            rows = await self._protocol.bind_execute(statement, args, "", 0, False, None)
        except asyncpg.InvalidCachedStatementError:  # its columns are others since: nothing was done
            rows = await self.fetch(query, *args)
        return rows
