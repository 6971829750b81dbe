"""Enqueue, or start a flow, in a transaction that the caller has open, through whichever driver it uses.

The job is then as durable as the caller's own rows: rolled back means that it never was. Async connections (asyncpg,
psycopg, SQLAlchemy) are awaited; sync ones (psycopg, SQLAlchemy, Django, any DB-API connection) are called.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from leasehold.database.errors import from_sqlstate
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
  select unnest(e.job_ids) as job_id, unnest(e.states) as state, unnest(e.created) as created
  from scope cross join lateral {schema}.enqueue(
    case when scope.tenant is not null then {kind} end, cast({payloads} as text[])::jsonb[],
    {schema}.with_defaults(
      {kind}, cast({defaults} as text)::jsonb -> cast({kind} as text), cast({options} as text)::jsonb
    ),
    cast({keys} as text[])
  ) e
),
woken as materialized (select pg_notify('{schema}_ready', '') from (select from made where created limit 1) one)
select made.job_id, made.state, made.created, set_config('leasehold.tenant', coalesce(scope.before, ''), true)
from scope cross join made left join woken on true
"""
_NAMES = ("tenant", "kind", "payloads", "options", "keys", "defaults")
_FLOW = """
with scope as materialized (
  select
    current_setting('leasehold.tenant', true) as before,
    set_config('leasehold.tenant', {schema}.find_tenant({tenant})::text, true) as tenant
),
made as materialized (
  select f.flow_id
  from scope cross join lateral {schema}.start_flow(
    case when scope.tenant is not null then {name} end,
    (
      select coalesce(jsonb_agg(step || jsonb_build_object('options', {schema}.with_defaults(
        step ->> 'kind', cast({defaults} as text)::jsonb -> (step ->> 'kind'), step -> 'options'
      )) order by place), '[]')
      from jsonb_array_elements(cast({steps} as text)::jsonb) with ordinality s(step, place)
    ),
    cast({options} as text)::jsonb
  ) f(flow_id)
),
woken as materialized (select pg_notify('{schema}_ready', '') from made)
select made.flow_id, set_config('leasehold.tenant', coalesce(scope.before, ''), true)
from scope cross join made left join woken on true
"""
_FLOW_NAMES = ("tenant", "name", "steps", "options", "defaults")


def is_async(connection: Any) -> bool:
    """Whether this connection must be awaited."""
    return _package(connection) == "asyncpg" or type(connection).__name__.startswith(("Async", "async_"))


async def enqueue_async(connection: Any, values: Mapping[str, Any], *, schema: str) -> list[Enqueued]:
    """Through an asyncpg connection, a psycopg AsyncConnection, or an AsyncSession or AsyncConnection of SQLAlchemy."""
    return _rows(await _run_async(connection, _STATEMENT, _NAMES, values, schema))


def enqueue_sync(connection: Any, values: Mapping[str, Any], *, schema: str) -> list[Enqueued]:
    """Through a Session or Connection of SQLAlchemy, or any DB-API connection: psycopg's, Django's."""
    return _rows(_run_sync(connection, _STATEMENT, _NAMES, values, schema))


async def start_flow_async(connection: Any, values: Mapping[str, Any], *, schema: str) -> UUID:
    return _flow_id(await _run_async(connection, _FLOW, _FLOW_NAMES, values, schema))


def start_flow_sync(connection: Any, values: Mapping[str, Any], *, schema: str) -> UUID:
    return _flow_id(_run_sync(connection, _FLOW, _FLOW_NAMES, values, schema))


async def _run_async(
    connection: Any, statement: str, names: Sequence[str], values: Mapping[str, Any], schema: str
) -> Sequence[Any]:
    _require(connection, "execute")
    if not is_async(connection) and not inspect.iscoroutinefunction(connection.execute):
        raise BadInput(f"{type(connection).__name__} is not awaited: use `app.sync.enqueue(…, conn=…)`")
    try:
        match _package(connection):
            case "asyncpg":
                text = statement.format(schema=schema, **_dollar(names))
                return list(await connection.fetch(text, *(values[name] for name in names)))
            case "sqlalchemy":
                return list((await connection.execute(_text(statement, names, schema), dict(values))).all())
            case _:
                cursor = await connection.execute(statement.format(schema=schema, **_percent(names)), dict(values))
                return list(await cursor.fetchall())
    except Exception as problem:
        raise _ours(problem) from problem


def _run_sync(
    connection: Any, statement: str, names: Sequence[str], values: Mapping[str, Any], schema: str
) -> Sequence[Any]:
    if is_async(connection):
        raise BadInput(f"{type(connection).__name__} is awaited: use `await app.enqueue(…, conn=…)`")
    _require(connection, "execute" if _package(connection) == "sqlalchemy" else "cursor")
    try:
        if _package(connection) == "sqlalchemy":
            return list(connection.execute(_text(statement, names, schema), dict(values)).all())
        with connection.cursor() as cursor:
            cursor.execute(statement.format(schema=schema, **_percent(names)), dict(values))
            return list(cursor.fetchall())
    except Exception as problem:
        raise _ours(problem) from problem


def _require(connection: Any, method: str) -> None:
    if not callable(getattr(connection, method, None)):
        raise BadInput(
            f"conn is a {type(connection).__name__}, not an open connection: it has no method {method}",
            hint="pass the connection or session of asyncpg, psycopg, SQLAlchemy or Django whose transaction is open",
        )


def _package(connection: Any) -> str:
    return type(connection).__module__.partition(".")[0]


def _dollar(names: Sequence[str]) -> dict[str, str]:
    return {name: f"${place}{'' if name in ('payloads', 'keys') else '::text'}" for place, name in enumerate(names, 1)}


def _percent(names: Sequence[str]) -> dict[str, str]:
    return {name: f"%({name})s" for name in names}


def _text(statement: str, names: Sequence[str], schema: str) -> Any:
    from sqlalchemy import text

    holes = {name: f":{name}" for name in names}
    return text(statement.format(schema=schema, **holes).replace("::", "\\:\\:"))


def _flow_id(rows: Sequence[Any]) -> UUID:
    return UUID(str(rows[0][0]))


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
