"""How long the enqueues of a bystander took, and which of them say something of the server."""

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from math import ceil, inf

from tests.chaos.oplog import Op
from tests.chaos.plan import AWAY, WEIGHTS
from tests.chaos.story import Story

#: A machine with less of a processor for one who asks is too busy to tell anything of the server.
_ROOM = 0.2
_WATCHED_SECONDS = 0.5
#: So long connections may take to come back after the database did.
_RECOVERY_SECONDS = 5.0


def latencies(story: Story) -> dict[str, list[float]]:
    """How long the bystander's enqueues took, the quickest first: of all, and of those during each kind of fault."""
    has_room = _room(story)
    probes = [op for op in _sent(story) if has_room(op)]
    found = {"any fault": probes}
    for kind in WEIGHTS:
        if kind not in AWAY:
            spans = story.faults(kind)
            found[kind] = [op for op in probes if meets(op, spans)]
    return {
        when: sorted(op.ended - op.args["due"] if op.status == "ok" else inf for op in ops)
        for when, ops in found.items()
        if ops
    }


def unmeasured(story: Story) -> int:
    """How many do not count because the machine was too busy."""
    has_room = _room(story)
    return sum(not has_room(op) for op in _sent(story))


def p99(latencies: Sequence[float]) -> float:
    return latencies[ceil(0.99 * len(latencies)) - 1]


def _sent(story: Story) -> list[Op]:
    """Those that were sent while somebody was there."""
    away = away_spans(story)
    return [op for op in story.ops if op.what == "enqueue" and "due" in op.args and not meets(op, away)]


def away_spans(story: Story) -> list[tuple[float, float]]:
    """When the server could not serve."""
    return [(began, ended + _RECOVERY_SECONDS) for began, ended in story.faults(*AWAY)]


def _room(story: Story) -> Callable[[Op], bool]:
    """Whether the machine could do anything while an operation was under way."""
    looks = story.asked("machine")
    times, shares = [look.ended for look in looks], [look.result["share"] for look in looks]

    def has_room(op: Op) -> bool:
        first = bisect(times, op.args["due"] - _WATCHED_SECONDS)
        during = shares[first : bisect(times, (op.ended or inf) + _WATCHED_SECONDS)]
        return not during or sum(during) / len(during) >= _ROOM

    return has_room


def meets(op: Op, spans: Iterable[tuple[float, float]]) -> bool:
    since, until = op.args.get("due", op.began), op.ended or inf
    return any(since < ended and until > began for began, ended in spans)
