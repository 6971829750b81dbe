"""Enqueue in a transaction that the caller has open, through whichever driver it uses.

The job is then as durable as the caller's own rows: rolled back means that it never was. Async connections (asyncpg,
psycopg, SQLAlchemy) are awaited; sync ones (psycopg, SQLAlchemy, Django, any DB-API connection) are called.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from leasehold.engine.database import from_sqlstate
from leasehold.errors import BadInput, LeaseholdError
from leasehold.job import Enqueued, State

# One statement: the tenant is set, the jobs are made (the function's argument depends on the setting, so the order is
# certain), a wake-up is sent with the commit, and the setting that stood before is put back.
_STATEMENT = """
with scope as materialized (
  select
    current_setting('leasehold.tenant', true) as before,
    set_config('leasehold.tenant', {schema}.find_tenant({tenant})::text, true) as tenant
),
made as materialized (
  select e.job_id, e.state, e.created
  from scope cross join lateral {schema}.enqueue(
    case when scope.tenant is not null then {kind} end,
    cast({payloads} as text[])::jsonb[], cast({options} as text)::jsonb, cast({keys} as text[])
  ) e
),
woken as materialized (select pg_notify('{schema}_ready', '') from (select from made where created limit 1) one)
select made.job_id, made.state, made.created, set_config('leasehold.tenant', coalesce(scope.before, ''), true)
from scope cross join made left join woken on true
"""
_NAMES = ("tenant", "kind", "payloads", "options", "keys")


def is_async(connection: Any) -> bool:
    """Whether this connection must be awaited."""
    return _package(connection) == "asyncpg" or type(connection).__name__.startswith(("Async", "async_"))


async def enqueue_async(connection: Any, values: Mapping[str, Any], *, schema: str) -> list[Enqueued]:
    """Through an asyncpg connection, a psycopg AsyncConnection, or an AsyncSession or AsyncConnection of SQLAlchemy."""
    try:
        match _package(connection):
            case "asyncpg":
                rows = await connection.fetch(_sql(schema, _dollar()), *(values[name] for name in _NAMES))
                return _rows(rows)
            case "sqlalchemy":
                return _rows((await connection.execute(_text(schema), dict(values))).all())
            case _:
                cursor = await connection.execute(_sql(schema, _percent()), dict(values))
                return _rows(await cursor.fetchall())
    except Exception as problem:
        raise _ours(problem) from problem


def enqueue_sync(connection: Any, values: Mapping[str, Any], *, schema: str) -> list[Enqueued]:
    """Through a Session or Connection of SQLAlchemy, or any DB-API connection: psycopg's, Django's."""
    if is_async(connection):
        raise BadInput(f"{type(connection).__name__} is awaited: use `await app.enqueue(…, conn=…)`")
    try:
        if _package(connection) == "sqlalchemy":
            return _rows(connection.execute(_text(schema), dict(values)).all())
        with connection.cursor() as cursor:
            cursor.execute(_sql(schema, _percent()), dict(values))
            return _rows(cursor.fetchall())
    except Exception as problem:
        raise _ours(problem) from problem


def _package(connection: Any) -> str:
    return type(connection).__module__.partition(".")[0]


def _sql(schema: str, holes: Mapping[str, str]) -> str:
    return _STATEMENT.format(schema=schema, **holes)


def _dollar() -> dict[str, str]:
    return {name: f"${place}{'' if name in ('payloads', 'keys') else '::text'}" for place, name in enumerate(_NAMES, 1)}


def _percent() -> dict[str, str]:
    return {name: f"%({name})s" for name in _NAMES}


def _text(schema: str) -> Any:
    from sqlalchemy import text

    return text(_sql(schema, {name: f":{name}" for name in _NAMES}).replace("::", "\\:\\:"))


def _rows(rows: Sequence[Any]) -> list[Enqueued]:
    return [Enqueued(job_id=row[0], state=State(row[1]), created=row[2]) for row in rows]


def _ours(problem: Exception) -> Exception:
    """The driver's error as ours where it carries a SQLSTATE of ours; the caller's own errors are left alone."""
    cause = getattr(problem, "orig", None) or problem
    cause = getattr(cause, "__cause__", None) or cause if not getattr(cause, "sqlstate", None) else cause
    code = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if code is None or isinstance(problem, LeaseholdError):
        return problem
    hint = getattr(cause, "hint", None) or getattr(getattr(cause, "diag", None), "message_hint", None)
    message = getattr(getattr(cause, "diag", None), "message_primary", None) or str(
        cause.args[0] if cause.args else cause
    )
    return from_sqlstate(code, message, hint)
