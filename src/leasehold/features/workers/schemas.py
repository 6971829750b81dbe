"""The bodies of remote workers' requests and of their answers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from leasehold.http.types import Ask, Id, Kind, Name, Number, Seconds, whole

Slots = Annotated[int, Field(strict=True, ge=1, le=100), BeforeValidator(whole)]
#: A fencing token. Text, because it is larger than what every JSON reader takes for a whole number.
Token = Annotated[str, Field(pattern="^[1-9][0-9]{0,18}$", max_length=19, examples=["4194304000001"])]
Words = Annotated[str, Field(pattern=r"^[^\x00]+$", max_length=100)]  # PostgreSQL keeps no NUL
Outcome = Literal["succeeded", "failed", "errored", "snoozed", "released", "canceled"]
_JOB, _TOKEN = "0190a000-0000-7000-8000-00000000000a", "4194304000001"


def _examples(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": list(examples)})


class RegisterRequest(Ask):
    model_config = _examples(
        {"name": "gpu-1", "slots": 2, "kinds": ["films.render"]}, {"name": "gpu-2", "queues": ["gpu"], "lease_s": 30}
    )

    name: Words = Field(description="For people. Two workers may have one name.")
    version: Words = Field("0", description="Of the program.")
    queues: list[Name] | None = Field(
        None, min_length=1, max_length=100, description="All that the key may work on if it is left out."
    )
    kinds: list[Kind] = Field(default_factory=list, max_length=1000, description="What it has handlers for.")
    slots: Slots = Field(10, description="Jobs that it runs at once.")
    lease_s: Annotated[float, Seconds(1, 3600)] = Field(
        60.0, description="Seconds of silence after which its jobs go to others."
    )


class ClaimRequest(Ask):
    model_config = _examples({"n": 2, "held": [], "wait_s": 20}, {"n": 1, "held": [_TOKEN], "queues": ["gpu"]})

    n: Slots = Field(description="Jobs at most; never more than it has free slots.")
    held: list[Token] = Field(
        max_length=1000,
        description="The tokens that the worker knows of and has not reported. What it was granted otherwise goes back:"
        " the answer that granted it was lost.",
    )
    queues: list[Name] | None = Field(None, min_length=1, max_length=100, description="Of those it registered for.")
    wait_s: Annotated[float, Seconds(0, 60)] = Field(0.0, description="Longest wait for a job.")


class BeatRequest(Ask):
    model_config = _examples({"held": [_TOKEN]}, {"held": []})

    held: list[Token] = Field(max_length=1000, description="The tokens under which it runs attempts.")


class ErrorIn(Ask):
    """Why an attempt did not succeed. It is redacted before it is kept."""

    type: str = Field("Error", max_length=200)
    message: str = Field("", max_length=20_000)
    traceback: str | None = Field(None, max_length=100_000)
    gate_after_s: Annotated[float, Seconds(0, 86_400)] | None = Field(
        None, description="Hold the job's gate for so long."
    )


class EndedIn(Ask):
    """How an attempt ended."""

    job_id: Id
    token: Token
    outcome: Outcome = Field(
        description="`errored` is tried again after a back-off, `failed` is not; `snoozed` and `released` do not count."
    )
    result: Any = Field(None, description="Of one that succeeded; any JSON.")
    error: ErrorIn | None = Field(None, description="Of one that failed, errored or was canceled.")
    delay_s: Annotated[float, Seconds(0, 315_576_000)] | None = Field(
        None, description="Before the next attempt; left out: the job's back-off, or none."
    )


class FinishRequest(Ask):
    model_config = _examples(
        {"ended": [{"job_id": _JOB, "token": _TOKEN, "outcome": "succeeded", "result": {"frames": 240}}]},
        {
            "ended": [
                {
                    "job_id": _JOB,
                    "token": _TOKEN,
                    "outcome": "errored",
                    "error": {"type": "TimeoutError", "message": "the bank does not answer"},
                    "delay_s": 30,
                }
            ]
        },
    )

    ended: list[EndedIn] = Field(min_length=1, max_length=100)


class ProgressReport(Ask):
    """What a handler says. It is redacted before it is kept."""

    token: Token
    type: Literal["progress", "log"]
    message: str | None = Field(None, max_length=20_000)
    progress: Number | None = Field(None, ge=0, le=100, description="Percent.")
    level: Literal["info", "warning", "error"] = Field("info", description="Of a log line.")
    fields: dict[str, Any] = Field(default_factory=dict, max_length=100, description="Of a log line.")


class SayRequest(Ask):
    model_config = _examples(
        {"said": [{"token": _TOKEN, "type": "progress", "progress": 40, "message": "asked the bank"}]},
        {"said": [{"token": _TOKEN, "type": "log", "message": "slow", "level": "warning", "fields": {"ms": 900}}]},
    )

    said: list[ProgressReport] = Field(min_length=1, max_length=100)


class ExtendRequest(Ask):
    model_config = _examples({"token": _TOKEN, "seconds": 600}, {"token": _TOKEN, "seconds": 60})

    token: Token
    seconds: Annotated[float, Seconds(0, 604_800)] = Field(description="From now.")


class Registered(BaseModel):
    worker_id: UUID
    lease_s: float
    beat_s: float = Field(description="Beat this often: a third of the lease.")


class GrantOut(BaseModel):
    """The right to run one attempt, as long as `token` is the current one."""

    token: Token
    job_id: UUID
    tenant_id: UUID
    kind: str
    queue: str
    attempt: int
    max_attempts: int
    version: int
    timeout_s: float
    traceparent: str | None
    payload: Any


class Grants(BaseModel):
    data: list[GrantOut]


class Beaten(BaseModel):
    cancel: list[Token] = Field(description="Somebody asked for the cancel of these: stop soon, and report canceled.")
    lost: list[Token] = Field(description="These are another's by now: stop them, what they report is refused.")


class ItemOut(BaseModel):
    """What became of one item, as if it had been a request of its own."""

    token: Token
    status: Literal[200, 409, 422]
    code: Literal["accepted", "recorded", "lease_lost", "invalid"] = Field(
        description="`recorded`: this report had come before, and only its answer was lost."
    )
    detail: str | None


class Items(BaseModel):
    data: list[ItemOut]


class Extended(BaseModel):
    deadline: datetime


class Stopped(BaseModel):
    released: int = Field(description="Jobs that it held and that went back, uncounted.")
