"""Log lines: an event name and its fields, on stderr, as text for people or JSON for machines.

Every line passes through :func:`leasehold.redact.redact` on its way out. ``bind`` gives everything said inside it the
same fields, so that a line from deep inside an attempt still names its job.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from leasehold.redact import redact

_logger = logging.getLogger("leasehold")
#: Gives the fields: most attempts end without a line, and then nothing is made.
_bound: ContextVar[Callable[[], Mapping[str, Any]]] = ContextVar("leasehold_log_fields", default=dict)

#: The secrets that this task has used: masked in every line of it, whoever writes the line.
_secrets: ContextVar[Sequence[str]] = ContextVar("leasehold_log_secrets", default=())

#: Libraries whose lines come out in the same form.
_LIBRARIES = ("asyncio", "asyncpg", "aio_pika", "aiormq", "uvicorn")

#: The fields every line may have, in this order. One that does not apply is left out, not null.
FIRST = (
    "timestamp",
    "level",
    "worker_id",
    "trace_id",
    "job_id",
    "kind",
    "tenant_id",
    "attempt",
    "message",
    "duration_ms",
)


def emit(event: str, /, *, level: int = logging.INFO, **fields: Any) -> None:
    """One line: what happened, and to what."""
    if is_logged(level):  # nothing is formatted or redacted for a line that nobody reads
        _logger.log(level, "%s", event, extra={"fields": {**_bound.get()(), **fields}})


@contextmanager
def bind(**fields: Any) -> Iterator[None]:
    """Every line said inside, in this task and those it starts, carries these fields too."""
    outer = _bound.get()
    reset = _bound.set(lambda: {**outer(), **fields})
    try:
        yield
    finally:
        _bound.reset(reset)


def is_logged(level: int) -> bool:
    """Whether anybody reads lines of this level: a busy worker asks before it makes one."""
    return _logger.isEnabledFor(level)


def bind_task(fields: Callable[[], Mapping[str, Any]], secrets: Sequence[str]) -> None:
    """The same for the rest of this task; the fields are asked for only when there is a line.

    The secrets are masked in every line; more may be added to them meanwhile.
    """
    _bound.set(fields)
    _secrets.set(secrets)


def configure(*, json_lines: bool, level: str = "info") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if json_lines else _Text())
    _logger.setLevel(level.upper())
    for logger in (_logger, *map(logging.getLogger, _LIBRARIES)):
        logger.handlers = [handler]
        logger.propagate = False


class _Text(logging.Formatter):
    """``10:30:45 info    job succeeded kind=shop.refund attempt=2``."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={_shown(value)}" for name, value in _fields(record).items())
        line = f"{_at(record):%H:%M:%S} {record.levelname.lower():7} {_message(record)} {fields}".rstrip()
        return line.encode("utf-8", "backslashreplace").decode()  # a lone surrogate must not stop a line


class _Json(logging.Formatter):
    """One object per line; a field cannot pass itself off as the time, the level or the message."""

    def format(self, record: logging.LogRecord) -> str:
        own = {"timestamp": _stamp(record), "level": record.levelname.lower(), "message": _message(record)}
        line = {**_fields(record), **own}
        ordered = {name: line[name] for name in FIRST if name in line} | line
        return json.dumps(ordered, default=_text)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """What the line is about, redacted, without what does not apply."""
    given = {k: v for k, v in getattr(record, "fields", {}).items() if v is not None}
    fields: dict[str, Any] = redact(given, secrets=_secrets.get())
    return fields


def _message(record: logging.LogRecord) -> str:
    return redact(_raw_message(record), secrets=_secrets.get()).replace("\n", "\\n")


def _raw_message(record: logging.LogRecord) -> str:
    try:
        message = record.getMessage()
    except (TypeError, ValueError):
        message = str(record.msg)
    if record.exc_info:
        message += "\n" + logging.Formatter().formatException(record.exc_info)
    return message


def _shown(value: Any) -> str:
    text = _text(value)
    return json.dumps(text, ensure_ascii=False) if any(character in text for character in ' "\n\r\t') else text


def _text(value: Any) -> str:
    return redact(str(value), secrets=_secrets.get())


def _stamp(record: logging.LogRecord) -> str:
    return _at(record).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _at(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)
