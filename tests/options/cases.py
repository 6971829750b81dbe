"""What is compared: each option, given by the caller, by the handler of the kind, and by both.

A case says what its job must be like: as a plain SQL call that gives every option itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Options = Mapping[str, Any]

PAYLOAD = {"customer": "acme", "order": {"id": 7}, "url": "https://Shop.example.com:8080/a?b"}
LATER = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
LATEST = datetime(2032, 5, 6, 7, 8, 9, tzinfo=UTC)
PARENT = "0190a000-0000-7000-8000-0000000000aa"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Two values of an option; ``beside`` is what the caller has to say besides, for the option to mean anything."""

    caller: Any
    handler: Any = None
    beside: Options = field(default_factory=dict)
    key: str | None = None
    filled: str | None = None  # what the handler's template becomes


#: A new option fails the comparison until it has a line here.
SAMPLES = {
    "queue": Sample(handler="money", caller="mail"),
    "priority": Sample(handler=3, caller=0),
    "max_attempts": Sample(handler=9, caller=1),
    "retry_base_s": Sample(handler=7.5, caller=0.25),
    "retry_cap_s": Sample(handler=77.0, caller=88.0),
    "timeout_s": Sample(handler=70.0, caller=80.0),
    "delay_s": Sample(handler=100_000.0, caller=0.0),
    "version": Sample(handler=3, caller=2),
    "tags": Sample(handler=["of the kind"], caller=["vip", "eu"]),
    "meta": Sample(handler={"of": "the kind"}, caller={"order": {"id": 7, "a": None}, "ü": [1]}),
    "group": Sample(handler="of the kind", caller="account-17"),
    "group_limit": Sample(handler=4, caller=2, beside={"group": "account-17"}),
    "group_hold": Sample(handler=True, caller=False, beside={"group": "account-17"}),
    "group_gap_s": Sample(handler=3.0, caller=2.0, beside={"group": "account-17"}),
    "gate": Sample(handler="stripe:{customer}", filled="stripe:acme", caller="host:example.com"),
    "run_at": Sample(caller=LATER),
    "expires_at": Sample(caller=LATEST),
    "key_window_s": Sample(handler=500_000.0, caller=900_000.0, key="order-7"),
    "unique": Sample(caller="order-7"),
    "on_duplicate": Sample(handler="replace", caller="keep", beside={"unique": "order-7"}),
    "copied_from": Sample(caller=PARENT),
    "traceparent": Sample(caller=TRACE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Options of a handler and of a caller, and those that they make together; None where they must be refused."""

    name: str
    option: str
    handler: Options = field(default_factory=dict)
    caller: Options = field(default_factory=dict)
    key: str | None = None
    wanted: Options | None
    payload: Any = field(default_factory=lambda: PAYLOAD)

    @property
    def kind(self) -> str:
        return "t." + self.name.replace(" ", "_")


def cases(options: Iterable[str], of_kinds: Iterable[str]) -> list[Case]:
    """Each of these options by each giver, and what is decided about several of them."""
    return [*_of_each(options, of_kinds), *DECIDED]


def _of_each(options: Iterable[str], of_kinds: Iterable[str]) -> Iterable[Case]:
    for option in options:
        sample = SAMPLES[option]
        beside = dict(sample.beside)
        common: dict[str, Any] = {"option": option, "key": sample.key}
        by_caller = beside | {option: sample.caller}
        yield Case(name=f"{option} by caller", caller=by_caller, wanted=by_caller, **common)
        if option in of_kinds:
            handler = {option: sample.handler}
            wanted = beside | {option: sample.filled or sample.handler}
            yield Case(name=f"{option} by handler", handler=handler, caller=beside, wanted=wanted, **common)
            yield Case(name=f"{option} by both", handler=handler, caller=by_caller, wanted=by_caller, **common)


#: What several options mean together, and templates.
DECIDED = [
    Case(name="nothing given", option="", wanted={}),
    Case(name="none is not given", option="priority", handler={"priority": 3}, caller={"priority": None},
         wanted={"priority": 3}),
    Case(name="a moment before a delay", option="run_at", handler={"delay_s": 100_000}, caller={"run_at": LATER},
         wanted={"run_at": LATER}),
    Case(name="a template by caller", option="gate", caller={"gate": "order:{order.id}"}, wanted={"gate": "order:7"}),
    Case(name="a template of a host", option="gate", handler={"gate": "host:{url|host}"},
         wanted={"gate": "host:shop.example.com"}),
    Case(name="a template in vain", option="gate", handler={"gate": "stripe:{customer}"}, payload={"other": 1},
         wanted=None),
    Case(name="a group under a unique key", option="unique", handler={"group": "g"}, caller={"unique": "u"},
         wanted=None),
    Case(name="a limit under a unique key", option="unique", handler={"group_limit": 5, "on_duplicate": "replace"},
         caller={"unique": "u"}, wanted={"unique": "u", "on_duplicate": "replace", "group_limit": 1}),
    Case(name="an option that is not there", option="?", caller={"colour": "red"}, wanted=None),
]  # fmt: skip
