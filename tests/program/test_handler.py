import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from leasehold import json_codec
from leasehold.errors import BadInput
from leasehold.program.context import Context
from leasehold.program.handler import Handler
from leasehold.program.outcomes import Fail, InvalidPayload, Retry, Snooze, describe


@dataclass(frozen=True, slots=True)
class Parcel:
    weight: float
    to: str = "nobody"


class Order(BaseModel):
    order_id: UUID
    amount: int = Field(gt=0)
    parcels: list[Parcel] = []


class Listener:
    """What a context says, kept."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None, float | None]] = []

    async def say(
        self, type_: str, *, message: str | None = None, progress: float | None = None, data: str | None = None
    ) -> None:
        self.said.append((type_, message, progress))

    async def extend(self, seconds: float) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=seconds)

    async def enqueue(self, kind: str, payloads: Any, *, keys: Any, options: Any) -> list[Any]:
        raise AssertionError("nobody enqueues here")

    def transaction(self) -> Any:
        raise AssertionError("nobody writes here")

    async def emit(self, emitted: Any) -> None:
        raise AssertionError("nobody tells of anything here")

    async def complete(self, result: str | None) -> None:
        raise AssertionError("nothing was emitted here")

    async def ask_leave(self, url: str, agent: str | None, rules_since: datetime | None) -> float:
        raise AssertionError("nobody is polite here")

    async def secret(self, name: str) -> str:
        raise AssertionError("nobody has secrets here")

    bodies: Any = None

    async def parents(self) -> list[Any]:
        raise AssertionError("nobody is in a flow here")

    fetcher: Any = None
    db: Any = None
    secret_keys: Any = None


def context(listener: Listener | None = None) -> Context:
    return Context(
        job_id=UUID(int=1),
        tenant_id=UUID(int=2),
        kind="t.work",
        attempt=1,
        max_attempts=5,
        link=listener or Listener(),
    )


def handler(function: Callable[..., Any]) -> Handler:
    return Handler.of("t.work", function, {})


# -- payloads -------------------------------------------------------------------------------------------------------


async def test_a_handler_without_a_payload_gets_none() -> None:
    async def work(ctx: Context) -> str:
        return ctx.kind

    assert await handler(work).run(context(), '{"ignored": 1}') == '"t.work"'


async def test_a_dataclass_is_made_from_the_payload() -> None:
    async def work(ctx: Context, parcel: Parcel) -> list[Any]:
        assert isinstance(parcel, Parcel)
        return [parcel.weight, parcel.to]

    assert json.loads(await handler(work).run(context(), '{"weight": 2}') or "") == [2.0, "nobody"]


async def test_a_pydantic_model_is_made_from_the_payload_with_what_is_in_it() -> None:
    async def work(ctx: Context, order: Order) -> Order:
        assert order.parcels == [Parcel(weight=1.5)]
        return order

    text = f'{{"order_id": "{UUID(int=7)}", "amount": 3, "parcels": [{{"weight": 1.5}}]}}'
    assert json.loads(await handler(work).run(context(), text) or "") == {
        "order_id": str(UUID(int=7)),
        "amount": 3,
        "parcels": [{"weight": 1.5, "to": "nobody"}],
    }


async def test_a_payload_without_a_type_comes_as_plain_json() -> None:
    async def work(ctx, order):  # type: ignore[no-untyped-def]
        return order

    text = '{"a": [1, null]}'
    assert json.loads(await handler(work).run(context(), text) or "") == json.loads(text)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('{"order_id": "x", "amount": 3}', ["order_id"]),
        (f'{{"order_id": "{UUID(int=7)}", "amount": 0}}', ["amount"]),
        ('{"amount": "many"}', ["order_id", "amount"]),
        (f'{{"order_id": "{UUID(int=7)}", "amount": 1, "parcels": [{{"weight": "x"}}]}}', ["parcels.0.weight"]),
        ("[]", ["payload"]),
    ],
)
async def test_a_payload_that_does_not_fit_fails_for_good_and_names_the_fields(text: str, faults: list[str]) -> None:
    async def work(ctx: Context, order: Order) -> None:
        raise AssertionError("not called")

    with pytest.raises(InvalidPayload) as problem:
        await handler(work).run(context(), text)
    assert isinstance(problem.value, Fail), "another attempt would not help"
    for fault in faults:
        assert f"{fault}: " in str(problem.value)


# -- results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "text"),
    [(None, None), ("é", '"é"'), ({"a": 1}, '{"a": 1}'), ((1, 2), "[1, 2]"), (1.5, "1.5")],
)
async def test_a_result_is_kept_as_json_and_none_as_none(result: Any, text: str | None) -> None:
    async def work(ctx: Context) -> Any:
        return result

    kept = await handler(work).run(context(), "{}")
    assert kept is None if text is None else kept and json.loads(kept) == json.loads(text)


async def test_a_result_of_a_type_is_written_by_its_type() -> None:
    async def work(ctx: Context) -> dict[str, datetime]:
        return {"at": datetime(2026, 11, 15, tzinfo=UTC)}

    assert json.loads(await handler(work).run(context(), "{}") or "") == {"at": "2026-11-15T00:00:00Z"}


@pytest.mark.parametrize(
    "result", [object(), float("nan"), "\0", "x" * (json_codec.LIMIT + 1)], ids=["object", "nan", "nul", "large"]
)
async def test_a_result_that_cannot_be_kept_fails_for_good(result: Any) -> None:
    async def work(ctx):  # type: ignore[no-untyped-def]
        return result

    with pytest.raises(Fail, match="result"):
        await handler(work).run(context(), "{}")


# -- signatures -----------------------------------------------------------------------------------------------------


async def no_context() -> None: ...
async def too_many(ctx: Context, order: Order, more: int) -> None: ...
async def by_name_only(ctx: Context, *, order: Order) -> None: ...


@pytest.mark.parametrize("function", [no_context, too_many, by_name_only])
def test_a_function_that_cannot_be_a_handler_is_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(BadInput, match=rf"handler {function.__name__} for t\.work"):
        handler(function)


# -- what a handler says --------------------------------------------------------------------------------------------


async def test_progress_is_said_with_its_message() -> None:
    listener = Listener()
    await context(listener).progress(50, "half")
    assert listener.said == [("progress", "half", 50)]


def test_outcomes_carry_their_delay() -> None:
    assert (Retry().after, Retry("busy", after=3).after, Snooze(after=9).after) == (None, 3, 9)
    assert str(Retry("busy")) == "busy"


def test_an_error_is_described_by_type_message_and_the_end_of_its_traceback() -> None:
    try:
        raise ValueError("no such card")
    except ValueError as error:
        described = json.loads(describe(error))
    assert (described["type"], described["message"]) == ("ValueError", "no such card")
    assert "test_handler.py" in described["traceback"]


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a\0b \ud800"),  # neither NUL nor a lone surrogate can be kept
        ValueError("x" * 1_000_000),
        ValueError("\x01" * 100_000),  # six bytes each as JSON
        ValueError("🥚" * 100_000),
        Mute(),
        KeyError(),
    ],
    ids=["unstorable", "long", "control", "wide", "mute", "empty"],
)
def test_every_error_can_be_described(error: Exception) -> None:
    text = describe(error)
    assert json.loads(text)["type"] == type(error).__name__
    assert len(text.encode()) <= json_codec.LIMIT
    assert "\\u0000" not in text


def test_an_option_of_a_handler_is_data() -> None:
    async def send(ctx: Context, parcel: Parcel) -> None: ...

    assert Handler.of("t.send", send, {"gate": "to:{to}"}).job_options == {"gate": "to:{to}"}
    with pytest.raises(BadInput, match=r"t\.send: the option gate is a function, and options are data") as problem:
        Handler.of("t.send", send, {"gate": lambda parcel: f"to:{parcel.to}"})
    assert 'gate="stripe:{customer}"' in str(problem.value.hint)
    with pytest.raises(BadInput, match="the option priority is a function"):
        Handler.of("t.send", send, {"priority": lambda parcel: 1})


def test_an_outcome_that_holds_the_gate_says_for_how_long() -> None:
    for outcome in (Retry("busy", after=30, gate=True), Snooze("busy", after=30, gate=True)):
        assert json.loads(describe(outcome))["gate_after_s"] == 30
    assert "gate_after_s" not in json.loads(describe(Retry("busy", after=30)))
    with pytest.raises(BadInput, match="for a while"):
        Retry("busy", gate=True)
