"""The steps of a flow as a drawing: where each stands and which line leads to it. The template makes SVG of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from leasehold.features.flows.model import StepInfo

WIDTH, HEIGHT = 164, 48
_ACROSS, _DOWN, _EDGE = 34, 14, 8
#: So many steps that are alike are drawn as one.
STACK = 6
_LONGEST = 18
#: Of several states the one to show.
_RANK = ("failed", "dead", "running", "queued", "scheduled", "blocked", "canceled", "skipped", "succeeded")
ENDED = ("succeeded", "failed", "dead", "canceled", "skipped")
_WAITS = {"approval": "waits for a person", "signal": "waits for a signal", "sleep": "sleeps"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One step, or several that are alike."""

    job_id: UUID  # of the first
    title: str
    words: str
    state: str
    n: int
    x: int
    y: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    path: str
    state: str  # of where it comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    width: int
    height: int
    nodes: list[Node]
    lines: list[Line]


def draw(steps: Sequence[StepInfo]) -> Graph:
    """From left to right, every step after all that it waits for."""
    stacks = _stacks(steps)
    place_of = {step.job_id: place for place, stack in enumerate(stacks) for step in stack}
    parents = [sorted({place_of[one] for one in stack[0].after if one in place_of}) for stack in stacks]
    columns = _columns(parents)
    tallest = max((len(column) for column in columns), default=0)
    states = {step.job_id: step.state for step in steps}
    at: dict[int, tuple[int, int]] = {}
    for number, column in enumerate(columns):
        top = (tallest - len(column)) * (HEIGHT + _DOWN) // 2
        for row, place in enumerate(column):
            at[place] = (_EDGE + number * (WIDTH + _ACROSS), _EDGE + top + row * (HEIGHT + _DOWN))
    return Graph(
        width=2 * _EDGE + len(columns) * (WIDTH + _ACROSS) - (_ACROSS if columns else 0),
        height=2 * _EDGE + tallest * (HEIGHT + _DOWN) - (_DOWN if tallest else 0),
        nodes=[_node(stack, states, *at[place]) for place, stack in enumerate(stacks)],
        lines=[
            Line(path=_path(at[parent], at[place]), state=_state(stacks[parent]))
            for place, some in enumerate(parents)
            for parent in some
        ],
    )


def words_of(step: StepInfo, states: Mapping[UUID, str]) -> str:
    """The state of a step, or what it waits for. A parent that is not among the states counts as one that has ended."""
    if step.state != "blocked":
        return step.state
    ended = all(states.get(one, "succeeded") in ENDED for one in step.after)
    return _WAITS.get(step.what, step.state) if ended else "waits for steps"


def _stacks(steps: Sequence[StepInfo]) -> list[list[StepInfo]]:
    """Steps of one kind between the same others stand together where they are many."""
    children: dict[UUID, list[UUID]] = defaultdict(list)
    for step in steps:
        for parent in step.after:
            children[parent].append(step.job_id)
    alike: dict[object, list[StepInfo]] = defaultdict(list)
    for step in steps:
        key = (step.kind, step.what, tuple(sorted(step.after)), tuple(sorted(children[step.job_id])))
        alike[key].append(step)
    stacks = []
    for some in alike.values():
        stacks += [some] if len(some) >= STACK else [[step] for step in some]
    return stacks


def _columns(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Places by how many steps stand before them, each column in the order of its parents."""
    depths: dict[int, int] = {}

    def depth(place: int) -> int:
        pending = [place]
        while pending:
            one = pending[-1]
            missing = [parent for parent in parents[one] if parent not in depths]
            if missing:
                pending += missing
            else:
                depths[pending.pop()] = 1 + max((depths[parent] for parent in parents[one]), default=-1)
        return depths[place]

    columns: list[list[int]] = []
    for place in range(len(parents)):
        while len(columns) <= depth(place):
            columns.append([])
        columns[depths[place]].append(place)
    row: dict[int, float] = {}
    for column in columns:
        middle = {place: _mean([row[parent] for parent in parents[place]]) for place in column}
        column.sort(key=lambda place: (middle[place], place))
        row.update({place: number - len(column) / 2 for number, place in enumerate(column)})
    return columns


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _node(stack: Sequence[StepInfo], states: Mapping[UUID, str], x: int, y: int) -> Node:
    first = stack[0]
    name = first.name or first.kind
    if len(stack) == 1:
        words = words_of(first, states)
    else:
        name = f"{len(stack)} × {first.kind}"
        done = sum(step.state in ENDED for step in stack)
        alike = len({step.state for step in stack}) == 1
        words = f"{len(stack)} {first.state}" if alike else f"{done} of {len(stack)} done"
    return Node(
        job_id=first.job_id,
        title=_cut(name, _LONGEST),
        words=_cut(words, 22),
        state=_state(stack),
        n=len(stack),
        x=x,
        y=y,
    )


def _state(stack: Sequence[StepInfo]) -> str:
    return min((step.state for step in stack), key=_RANK.index)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _path(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + WIDTH, start[1] + HEIGHT // 2
    x2, y2 = end[0], end[1] + HEIGHT // 2
    middle = (x1 + x2) // 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"
