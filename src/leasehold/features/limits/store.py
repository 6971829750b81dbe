"""Gates, limits and pauses: their rules, how they stand, and what waits for them."""

from collections.abc import Mapping
from uuid import UUID

from leasehold import json_codec
from leasehold.database.database import Database
from leasehold.features.limits.model import Gate, Line
from leasehold.job import Limit

Rule = Mapping[str, float | None]
#: Jobs that wait for one group, gate or limit are counted up to here.
MOST_WAITING = 1000


class Gates:
    """One tenant's gates: ``await client.gates.set("host:example.com", rate=10, per_s=60)``."""

    def __init__(self, db: Database, tenant: UUID) -> None:
        self._db = db
        self._tenant = tenant

    async def list(self, *, after: str = "", limit: int = 1000, bound: int = 1000) -> list[Gate]:
        """By name, those after ``after``: the rules, and the gates that have let a job through.

        What failed and waits is counted up to a bound.
        """
        rows = await self._db.call("list_gates", None, after, limit, bound, tenant=self._tenant)
        return [Gate(**row) for row in rows]

    async def get(self, gate: str) -> Gate:
        """A gate by its name, whether or not anything is known of it."""
        return Gate(**(await self._db.call("list_gates", gate, "", 1, tenant=self._tenant))[0])

    async def set(self, gate: str, **rule: float | None) -> None:
        """Set the rule of a gate, or of a class of gates (``host:``), in the place of the one that it has.

        rate and per_s (so many starts in so many seconds), burst; failures (the breaker's), ratio, window_s,
        cooldown_s, probes.
        """
        await self._db.call("put_gate", gate, _text(rule), tenant=self._tenant)

    async def remove(self, gate: str) -> None:
        """Remove a rule; who waits may go."""
        await self._db.call("put_gate", gate, None, tenant=self._tenant)

    async def hold(self, gate: str, seconds: float) -> None:
        """Let nobody pass for so long."""
        await self._db.call("hold_gate", gate, seconds, tenant=self._tenant)

    async def reset(self, gate: str) -> None:
        """Close the breaker and end what holds the gate; the rate goes on from where it was."""
        await self._db.call("reset_gate", gate, tenant=self._tenant)


async def set_shared(db: Database, gate: str, rule: Rule | None) -> None:
    """A rule that holds for all tenants together, before their own; None removes it."""
    await db.call("put_shared_gate", gate, None if rule is None else _text(rule))


async def reset_shared(db: Database, gate: str) -> None:
    await db.call("reset_shared_gate", gate)


def _text(rule: Rule) -> str:
    return json_codec.encode(dict(rule), what="rule")


async def see_lines(db: Database, tenant: UUID | None, *, most: int = MOST_WAITING) -> list[Line]:
    """Groups, gates and limits at which jobs wait, the longest lines first; so many jobs of each are looked at."""
    return [Line(**row) for row in await db.call("see_lines", most, tenant=tenant)]


async def pause_queue(db: Database, queue: str, *, paused: bool) -> None:
    await db.call("pause_queue", queue, paused)


async def pause_kind(db: Database, kind: str, *, paused: bool) -> None:
    await db.call("pause_kind", kind, paused)


async def pause_tenant(db: Database, tenant: UUID, *, paused: bool) -> None:
    await db.call("pause_tenant", tenant, paused)


async def limit_queue(db: Database, queue: str, max_running: int | None) -> None:
    """So many jobs of the queue at once; None removes the limit."""
    await db.call("limit_queue", queue, max_running)


async def limit_kind(db: Database, kind: str, max_running: int | None) -> None:
    """So many jobs of the kind at once, of all tenants together; None removes the limit."""
    await db.call("limit_kind", kind, max_running)


async def list_limits(db: Database) -> list[Limit]:
    return [Limit(**row) for row in await db.call("list_limits")]
