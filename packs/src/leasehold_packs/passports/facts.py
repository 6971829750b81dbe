"""A fact: one value at one JSON pointer, and the place in the document that it was read from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

from typing_extensions import TypedDict

from leasehold_packs.passports.canonical import digest
from leasehold_packs.passports.errors import Finding, invalid
from leasehold_packs.passports.pointers import Leaf, order
from leasehold_packs.passports.quantities import decimal_text, number


class SourceJson(TypedDict):
    document: str
    ref: str


class FactJson(TypedDict):
    """A fact with its value as a type and a text: numbers are exact, and 1 is not the text "1"."""

    pointer: str
    type: str
    text: str
    unit: str | None
    source: SourceJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """``document`` is the SHA-256 of its bytes, ``ref`` a JSON pointer or a cell such as C4."""

    document: str
    ref: str

    def as_json(self) -> SourceJson:
        return {"document": self.document, "ref": self.ref}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    pointer: str
    value: Leaf
    source: Source
    unit: str | None = None

    def as_json(self) -> FactJson:
        kind, text = _typed(self.value)
        return {
            "pointer": self.pointer,
            "type": kind,
            "text": text,
            "unit": self.unit,
            "source": self.source.as_json(),
        }


def leaf_of(type_: str, text: str) -> Leaf:
    """What ``Fact.as_json`` took apart, put together again."""
    match type_:
        case "null":
            return None
        case "boolean":
            return text == "true"
        case "number":
            return number(text)
        case "text":
            return text
        case "object":
            return {}
        case "list":
            return []
    raise invalid("a fact in error has no value")


def typed(value: object) -> tuple[str, str]:
    """The type and the text of a value that a person states. Numbers come as JSON has them."""
    if isinstance(value, float):
        if not isfinite(value):
            raise invalid("this is no number that can be kept", hint="write it as text")
        value = Decimal(repr(value))
    return _typed(value)


def _typed(value: object) -> tuple[str, str]:
    if value is None:
        return "null", ""
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    if isinstance(value, int | Decimal):
        return "number", decimal_text(value)
    if isinstance(value, str):
        return "text", value
    if value in ({}, []):
        return ("object" if isinstance(value, dict) else "list"), ""
    raise invalid(f"a fact has one value, not a {type(value).__name__}")


class Snapshot(Mapping[str, Fact]):
    """Facts that do not change any more, by pointer. The same facts in another order have the same hash."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        found: dict[str, Fact] = {}
        twice = [fact for fact in facts if found.setdefault(fact.pointer, fact) is not fact]
        if twice:
            raise invalid(
                f"{len(twice)} pointers have more than one fact",
                hint="keep the newest version of each",
                findings=[Finding(at=fact.pointer, message="is there twice") for fact in twice],
            )
        self._facts = {pointer: found[pointer] for pointer in sorted(found, key=order)}
        self.values_only: dict[str, Leaf] = {pointer: fact.value for pointer, fact in self._facts.items()}

    def __getitem__(self, pointer: str) -> Fact:
        return self._facts[pointer]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def hash(self) -> str:
        return digest([fact.as_json() for fact in self._facts.values()])
