"""Flows in plain Python: what is asked for, before anybody asks the database.

    flow = Flow("site")
    found = flow.add("shop.discover", {"site": 7})
    asked = flow.include(approval("start watching?", expires=3600), after=found)
    pages = flow.include(group(step("shop.page", {"n": n}) for n in range(100)), after=asked)
    flow.add("shop.summary", after=pages, on_failure="continue")

or as one expression, ``chain(step("shop.discover"), approval("start?"), chord(group(…), step("shop.summary")))``.
Pure: nothing here has a database or a clock.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, Self, Unpack
from uuid import UUID

from pydantic import Field

from leasehold import json_codec
from leasehold.durations import Duration, seconds_of
from leasehold.errors import BadInput
from leasehold.job import State
from leasehold.job_options import plain
from leasehold.typed_options import StepOptions

#: What becomes of a step when one that it waits for does not succeed: the flow fails, the step is skipped, or it runs.
Policy = Literal["fail", "skip", "continue"]
FlowState = Literal["running", "succeeded", "failed", "canceled"]
POLICIES = ("fail", "skip", "continue")
#: Turns a kind, a payload and options into JSON text and options under SQL's names.
Prepare = Callable[[str, Any, Mapping[str, Any]], tuple[str, dict[str, Any]]]

APPROVAL, SIGNAL, SLEEP, JOIN = "flow.approval", "flow.signal", "flow.sleep", "flow.join"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: a job, or a wait that holds no worker."""

    kind: str
    payload: Any = None
    name: str | None = None
    on_failure: Policy = "fail"
    options: Mapping[str, Any] = field(default_factory=dict)
    wait: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other."""

    parts: tuple["Piece", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Side by side."""

    parts: tuple["Piece", ...]


Piece = Step | Chain | Group


def step(
    kind: str, payload: object = None, *, name: str | None = None, on_failure: Policy = "fail",
    **options: Unpack[StepOptions],
) -> Step:  # fmt: skip
    """A job of this kind; options are those of ``enqueue``, and a delay counts from the end of what it waits for."""
    return Step(kind=kind, payload=payload, name=name, on_failure=on_failure, options=options)


def approval(
    message: str,
    *,
    name: str | None = None,
    expires: Duration | None = None,
    default: Literal["approve", "reject"] = "reject",
    on_failure: Policy = "fail",
    **details: Any,
) -> Step:
    """Wait for a person. Rejected is failed; so is nobody's decision in time, unless the default is to approve."""
    wait = _given(seconds=_seconds("expires", expires), by_default=default)
    return Step(kind=APPROVAL, payload={"message": message, **details}, name=name, on_failure=on_failure, wait=wait)


def wait_for(
    signal: str,
    key: str | None = None,
    *,
    name: str | None = None,
    timeout: Duration | None = None,
    on_failure: Policy = "fail",
) -> Step:
    """Wait for a signal; its payload is the step's result. Without a key it is sent with the flow's id as key."""
    wait = _given(signal=signal, key=key, seconds=_seconds("timeout", timeout))
    return Step(kind=SIGNAL, name=name, on_failure=on_failure, wait=wait)


def sleep(how_long: Duration | datetime, *, name: str | None = None, on_failure: Policy = "fail") -> Step:
    """Wait for so many seconds, or until a moment."""
    if isinstance(how_long, datetime):
        if how_long.tzinfo is None:
            raise BadInput(f"{how_long.isoformat()} has no time zone", hint="use datetime.now(UTC) + …")
        wait: dict[str, Any] = {"until": how_long.isoformat()}
    else:
        wait = {"seconds": seconds_of(how_long, "sleep")}
    return Step(kind=SLEEP, name=name, on_failure=on_failure, wait=wait)


def chain(*parts: Piece) -> Chain:
    """One after the other."""
    return Chain(tuple(parts))


def group(*parts: Piece | Iterable[Piece]) -> Group:
    """Side by side; may be empty."""
    flat: list[Piece] = []
    for part in parts:
        flat += [part] if isinstance(part, Piece) else part
    return Group(tuple(flat))


def chord(parts: Group | Iterable[Piece], callback: Piece) -> Chain:
    """Side by side, and when all have ended, one more."""
    return Chain((parts if isinstance(parts, Group) else group(parts), callback))


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A step in its place in a flow."""

    step: Step
    after: tuple["Node | str", ...]
    named: bool  # by whoever wrote it, not by us


#: What ``after`` takes: steps, their names, or lists of them.
After = Node | str | Iterable["After"]


class Flow:
    """Steps and what they wait for. ``start`` is there when an app made it: ``app.flow("name")``."""

    def __init__(self, name: str, *, deadline: Duration | datetime | None = None) -> None:
        self.name = name
        self.options = _deadline(deadline)
        self.nodes: list[Node] = []
        self._names: set[str] = set()

    def add(
        self,
        kind: str,
        payload: object = None,
        *,
        name: str | None = None,
        after: After = (),
        on_failure: Policy = "fail",
        **options: Unpack[StepOptions],
    ) -> Node:
        """Add a job that waits for ``after``: steps, or their names."""
        return self._add(step(kind, payload, name=name, on_failure=on_failure, **options), _flat(after))

    def include(self, part: "Piece | Flow", *, after: After = ()) -> list[Node]:
        """Add a chain, a group, a single step or a whole flow; returns its last steps, for what comes after."""
        before = _flat(after)
        match part:
            case Step():
                return [self._add(part, before)]
            case Group():
                return [node for one in part.parts for node in self.include(one, after=before)]
            case Chain():
                return self._include_chain(part, before)
            case _:
                return self._include_flow(part, before)

    def asked(self, prepare: Prepare, *, all_named: bool = True) -> str:
        """The steps as ``start_flow`` takes them: JSON, parents before their children.

        What is added to a running flow keeps only names that were given: those that we make up may be there already.
        """
        ordered = self._ordered()
        place = {id(node): n for n, node in enumerate(ordered)}
        named = {node.step.name: node for node in ordered}
        rows = []
        for node in ordered:
            parents = [named[parent] if isinstance(parent, str) else parent for parent in node.after]
            text, options = prepare(node.step.kind, node.step.payload, node.step.options)
            head = json_codec.encode(
                {
                    "name": node.step.name if node.named or all_named else None,
                    "kind": node.step.kind,
                    "after": sorted({place[id(parent)] for parent in parents}),
                    "on_failure": node.step.on_failure,
                    "options": options,
                    "wait": node.step.wait,
                },
                what="step",
            )
            rows.append(f'{head[:-1]}, "payload": {text}}}')
        return f"[{', '.join(rows)}]"

    def _add(self, part: Step, after: Iterable["Node | str"]) -> Node:
        if part.on_failure not in POLICIES:
            raise BadInput(f"on_failure {part.on_failure!r} is unknown", hint=f"one of {', '.join(POLICIES)}")
        if part.name is not None and part.name in self._names:
            raise BadInput(f"flow {self.name} has two steps named {part.name!r}", hint="give one another name")
        name = part.name or self._free_name(part.kind)
        self._names.add(name)
        node = Node(replace(part, name=name), tuple(after), part.name is not None)
        self.nodes.append(node)
        return node

    def _free_name(self, kind: str) -> str:
        name, n = kind, len(self.nodes)
        while name in self._names:
            n += 1
            name = f"{kind}-{n}"
        return name

    def _include_chain(self, part: Chain, after: "list[Node | str]") -> list[Node]:
        ends: list[Node | str] = after
        added: list[Node] = []
        for one in part.parts:
            if len(ends) > 1 and isinstance(one, Group) and len(one.parts) > 1:
                ends = [self._add(Step(kind=JOIN, on_failure=_most_lenient(one)), ends)]
            added = self.include(one, after=ends) or [end for end in ends if isinstance(end, Node)]
            ends = [*added] or ends
        return added

    def _include_flow(self, part: "Flow", after: "list[Node | str]") -> list[Node]:
        copies: dict[int, Node] = {}
        named = {node.step.name: node for node in part.nodes}
        waited_for: set[int] = set()
        for node in part._ordered():
            parents = [named[parent] if isinstance(parent, str) else parent for parent in node.after]
            waited_for |= {id(parent) for parent in parents}
            renamed = replace(node.step, name=f"{part.name}.{node.step.name}")
            copies[id(node)] = self._add(renamed, [copies[id(parent)] for parent in parents] or after)
        return [copy for original, copy in copies.items() if original not in waited_for]

    def _ordered(self) -> list[Node]:
        """Parents first. Only names can make a circle, or lead nowhere."""
        named = {node.step.name: node for node in self.nodes}
        known = {id(node) for node in self.nodes}
        graph: dict[Node, list[Node]] = {}
        for node in self.nodes:
            for parent in node.after:
                if (isinstance(parent, str) and parent not in named) or (
                    isinstance(parent, Node) and id(parent) not in known
                ):
                    unknown = parent if isinstance(parent, str) else parent.step.name
                    raise BadInput(
                        f"step {node.step.name} of flow {self.name} waits for {unknown}, which is no step of it",
                        hint=f"steps: {', '.join(sorted(map(str, named))[:20])}",
                    )
            graph[node] = [named[parent] if isinstance(parent, str) else parent for parent in node.after]
        if not any(isinstance(parent, str) for node in self.nodes for parent in node.after):
            return self.nodes  # each was added after its parents
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as problem:
            circle = " → ".join(str(node.step.name) for node in problem.args[1])
            raise BadInput(f"flow {self.name} waits for itself: {circle}") from None


def flow_of(part: Piece | Flow, name: str = "added") -> Flow:
    """A piece as a flow of its own."""
    if isinstance(part, Flow):
        return part
    flow = Flow(name)
    flow.include(part)
    return flow


def plain_prepare(kind: str, value: Any, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """For kinds whose handlers are not known here."""
    return json_codec.encode({} if value is None else value), plain(options)


def _flat(after: After) -> "list[Node | str]":
    if isinstance(after, Node | str):
        return [after]
    return [node for one in after for node in _flat(one)]


def _most_lenient(part: Group) -> Policy:
    """Of the steps that a group begins with: the join before them must not end what one of them lets go on."""
    first = [_first(one) for one in part.parts]
    return next((policy for policy in ("continue", "skip") if policy in first), "fail")


def _first(part: Piece) -> Policy:
    while not isinstance(part, Step):
        if not part.parts:
            return "fail"
        part = part.parts[0]
    return part.on_failure


def _seconds(name: str, given: Duration | None) -> float | None:
    return None if given is None else seconds_of(given, name)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _deadline(given: Duration | datetime | None) -> dict[str, Any]:
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise BadInput(f"{given.isoformat()} has no time zone", hint="use datetime.now(UTC) + …")
        return {"deadline": given.isoformat()}
    return _given(deadline_s=_seconds("deadline", given))


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowInfo:
    """A flow as it stands. ``stopping``: it is to end before all is done, and something still runs."""

    flow_id: UUID
    tenant_id: UUID
    name: str
    state: FlowState
    reason: str | None
    stopping: bool
    deadline: datetime | None
    created_at: datetime
    finished_at: datetime | None
    counts: Annotated[dict[str, int] | None, Field(description="Steps by state, `skipped` among them; null in lists.")]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {"counts": json_codec.decode(row["counts"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInfo:
    """A step of a flow."""

    job_id: UUID
    name: str | None
    kind: str
    what: Literal["job", "approval", "signal", "sleep", "join"]
    state: State | Literal["skipped"]
    reason: str | None
    after: Annotated[list[UUID], Field(description="The jobs it waits for.")]
    finished_at: datetime | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        state = row["state"]
        return cls(**dict(row) | {"state": state if state == "skipped" else State(state)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What waits for a person."""

    job_id: UUID
    flow_id: UUID
    flow: str
    name: str | None
    payload: Any
    asked_at: datetime
    expires_at: datetime | None
    by_default: Literal["approve", "reject"]
    tenant_id: UUID

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {"payload": json_codec.shown(row["payload"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """How a step ended that another one waited for. ``state`` is an outcome, or skipped."""

    job_id: UUID
    name: str | None
    kind: str
    state: str
    result: Any
    error: dict[str, Any] | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls(**dict(row) | {name: json_codec.decode(row[name]) for name in ("result", "error")})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFlows:
    """Flows that match; ``looked_to`` is where to look on, None when everything was looked at."""

    flows: list[UUID]
    looked_to: UUID | None
