"""Which queues a worker takes from, and how many attempts of each it runs at once."""

from collections.abc import Mapping

from leasehold.errors import BadSetting


def parse_queues(text: str) -> dict[str, int | None]:
    """``money=2,default``: at most two attempts of money at once, default as slots allow."""
    found: dict[str, int | None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, limit = (word.strip() for word in part.partition("="))
        if not name or name in found or (equals and not (limit.isdecimal() and int(limit) >= 1)):
            raise BadSetting(
                f"queues {text!r}: {part!r} is not a queue, or a queue = its limit",
                hint="such as money=2,default",
            )
        found[name] = int(limit) if equals else None
    if not found:
        raise BadSetting(f"queues {text!r} names no queue", hint="such as money=2,default")
    return found


def groups(limits: Mapping[str, int | None]) -> list[tuple[list[str], int | None]]:
    """Queues that can be claimed from together: all without a limit of their own; each other one for itself."""
    free = [name for name, limit in limits.items() if limit is None]
    together: list[tuple[list[str], int | None]] = [(free, None)] if free else []
    return together + [([name], limit) for name, limit in limits.items() if limit is not None]
