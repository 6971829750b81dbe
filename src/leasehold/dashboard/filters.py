"""Numbers, times and JSON as people read them: the filters of the templates."""

import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from typing import Any
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

#: The zone in which times are written, of whoever looks.
_UTC = ZoneInfo("UTC")
ZONE: ContextVar[ZoneInfo] = ContextVar("ZONE", default=_UTC)
_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
_LONGEST_TEXT = 20_000
_ID = re.compile(r"([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})")


def ago(at: datetime | None, now: datetime | None = None) -> Markup:
    """``3 min ago`` or ``in 2 h``; the exact time shows when one points at it. The script goes on counting."""
    if at is None:
        return Markup("<span class=none>–</span>")
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.astimezone(UTC).isoformat(), exact(at), distance(seconds)
    )


def exact(at: datetime, form: str = "%Y-%m-%d %H:%M:%S %Z") -> str:
    """In the zone of whoever looks."""
    return at.astimezone(ZONE.get()).strftime(form)


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """How another text differs, line by line: ``-`` for what is gone, ``+`` for what is new, a space for the rest."""
    lines = list(unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm=""))[2:]
    return [(line[0], line[1:]) for line in lines if not line.startswith("@@")]


def distance(seconds: float) -> str:
    """As the script says it, so that a page does not change by being looked at."""
    if abs(seconds) < 5:
        return "now"
    words = span(abs(seconds), parts=1)
    return f"{words} ago" if seconds > 0 else f"in {words}"


def span(seconds: float | timedelta | None, parts: int = 2) -> str:
    """``1 h 20 min``, ``3.2 s``, ``45 ms``."""
    if seconds is None:
        return "–"
    left = seconds.total_seconds() if isinstance(seconds, timedelta) else float(seconds)
    if left < 1 and parts > 1:
        return f"{left * 1000:.0f} ms"
    if left < 10 and parts > 1:
        return f"{left:.1f} s"
    said: list[str] = []
    for unit, size in _UNITS:
        if left >= size or (unit == "s" and not said):
            said.append(f"{int(left // size)} {unit}")
            left %= size
        elif said:
            break
        if len(said) == parts:
            break
    return " ".join(said)


def count(n: int | None, bound: int | None = None) -> str:
    """``1,234``; with a bound that was reached, ``1,000+``."""
    if n is None:
        return "–"
    return f"{n:,}+" if bound is not None and n >= bound else f"{n:,}"


def short(identity: object) -> str:
    """The end of an id, which tells ids of the same moment apart."""
    return str(identity)[-8:]


def brief(text: object) -> Markup:
    """Ids within a text by their end; the whole one shows when one points at it."""
    whole = str(text)
    marked = Markup('<span title="{}">…{}</span>')
    pieces = [marked.format(part, part[-8:]) if _ID.fullmatch(part) else escape(part) for part in _ID.split(whole)]
    return Markup("").join(pieces)


def plural(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def tree(value: Any, depth: int = 0) -> Markup:
    """JSON as a tree that opens and closes without a script."""
    text = pretty(value)
    if len(text) > _LONGEST_TEXT:
        return Markup('<pre class="json">{}\n… {} more characters: copy shows all</pre>').format(
            text[:_LONGEST_TEXT], f"{len(text) - _LONGEST_TEXT:,}"
        )
    return Markup('<div class="json">{}</div>').format(Markup("").join(_branch(value, depth)))


def _branch(value: Any, depth: int) -> Iterator[Markup]:
    if isinstance(value, dict) and value:
        pairs = [(Markup('<span class="k">{}</span>').format(name), item) for name, item in value.items()]
        yield from _items(pairs, "{}", depth)
    elif isinstance(value, list) and value:
        pairs = [(Markup('<span class="n">{}</span>').format(number), item) for number, item in enumerate(value)]
        yield from _items(pairs, "[]", depth)
    else:
        yield _leaf(value)


def _items(pairs: list[tuple[Markup, Any]], marks: str, depth: int) -> Iterator[Markup]:
    yield Markup("<ul>")
    for name, item in pairs:
        if isinstance(item, dict | list) and item:
            size = f"{marks[0]}{len(item)}{marks[1]}"
            opened = " open" if depth < 2 and len(item) <= 20 else ""
            yield Markup("<li><details{}><summary>{} <span class=size>{}</span></summary>").format(
                Markup(opened), name, size
            )
            yield from _branch(item, depth + 1)
            yield Markup("</details></li>")
        else:
            yield Markup("<li>{} {}</li>").format(name, _leaf(item))
    yield Markup("</ul>")


def _leaf(value: Any) -> Markup:
    kind = {str: "str", bool: "lit", type(None): "lit", int: "num", float: "num"}.get(type(value), "lit")
    shown = value if isinstance(value, str) else json.dumps(value)
    return Markup('<span class="v {}">{}</span>').format(kind, shown)
