"""The bodies of requests about flows, and of their answers."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from leasehold.features.flows.model import FlowState
from leasehold.http.types import Ask, Force, Kind, Moment, Name, Seconds, StepOptions

SignalKey = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=255)]  # PostgreSQL keeps no NUL


class WaitRequest(Ask):
    """What a step waits for that is no job."""

    seconds: Annotated[float, Seconds(0, 315_576_000)] | None = Field(None, description="How long, at most or at all.")
    until: Moment | None = Field(None, description="`flow.sleep`: instead of seconds.")
    signal: Name | None = Field(None, description="`flow.signal`: its name.")
    key: SignalKey | None = Field(None, description="`flow.signal`: its key; the id of the flow if it is left out.")
    by_default: Literal["approve", "reject"] | None = Field(None, description="`flow.approval`: when nobody decides.")


StepName = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=200)]  # PostgreSQL keeps no NUL


class StepRequest(Ask):
    """A job, or `flow.approval`, `flow.signal`, `flow.sleep`, `flow.join`, which hold no worker."""

    kind: Kind
    payload: Any = Field(default_factory=dict, description="Any JSON.")
    name: StepName | None = None
    after: list[StepName] = Field(default_factory=list, max_length=1000, description="Names of steps it waits for.")
    on_failure: Literal["fail", "skip", "continue"] = Field(
        "fail", description="When one of those does not succeed: the flow fails, this step is skipped, or it runs."
    )
    options: StepOptions | None = None
    wait: WaitRequest | None = None


class FlowRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "site",
                    "steps": [
                        {"kind": "demo.hello", "name": "find"},
                        {"kind": "flow.approval", "name": "ask", "after": ["find"], "payload": {"message": "go on?"}},
                        {"kind": "demo.hello", "after": ["ask"], "on_failure": "skip"},
                    ],
                },
                {"name": "one", "deadline_s": 3600, "steps": [{"kind": "demo.hello"}]},
            ]
        },
    )

    name: Name
    steps: list[StepRequest] = Field(max_length=1000)
    deadline: Moment | None = Field(None, description="Not over by then, it fails.")
    deadline_s: Annotated[float, Seconds(0.001, 315_576_000)] | None = Field(None)
    force: Force = None


class SignalRequest(Ask):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"signal": "paid", "payload": {"cents": 500}}, {"signal": "go", "key": "7"}]},
    )

    signal: Name
    key: SignalKey | None = Field(None, description="What the step waits for; the id of the flow if it is left out.")
    payload: Any = Field(default_factory=dict, description="The result of the step; any JSON.")


class DecisionRequest(Ask):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"note": "looks right"}, {}]})

    note: str | None = Field(None, pattern=r"^[^\x00]+$", max_length=1000, description="Kept with the decision.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowMade:
    flow_id: UUID
    state: FlowState


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowMoved(FlowMade):
    stopping: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSent:
    signal: str
    key: str
    taken: Annotated[bool, Field(description="Whether a step has taken it already; otherwise it is kept.")]
