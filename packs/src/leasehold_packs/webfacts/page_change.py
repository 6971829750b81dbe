"""Has a page changed? The ladder, cheapest first: not modified, same bytes, same facts.

A SimHash is no rung of it. It only says, of a page that has changed, whether it was rebuilt.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from hashlib import sha256
from typing import Any

import rfc8785

from leasehold_packs.webfacts.simhash import distance, simhash

# Beyond this many bits two texts share little; see simhash.
REBUILT = 16

_EXACT = 2**53


class Rung(StrEnum):
    """What settled the question."""

    FIRST = "first"
    NOT_MODIFIED = "not_modified"
    SAME_BODY = "same_body"
    SAME_FACTS = "same_facts"
    OTHER_FACTS = "other_facts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an extractor makes of a body: the facts that count, and the text a reader sees."""

    facts: Mapping[str, Any]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is remembered of a page. ``extractor`` is the version of the rules that made the facts."""

    body: str
    facts: str
    simhash: int | None
    extractor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    rung: Rung
    snapshot: Snapshot
    rebuilt: bool = False

    @property
    def changed(self) -> bool:
        return self.rung in (Rung.FIRST, Rung.OTHER_FACTS)


def judge(
    before: Snapshot | None, *, status: int, body: bytes, read: Callable[[bytes], Reading], extractor: str
) -> Verdict:
    """Climbs until a rung answers; ``read`` is called only if the bytes or the extractor are others than before."""
    if before and status == 304:
        return Verdict(rung=Rung.NOT_MODIFIED, snapshot=before)
    digest = sha256(body).hexdigest()
    if before and (before.body, before.extractor) == (digest, extractor):
        return Verdict(rung=Rung.SAME_BODY, snapshot=before)
    reading = read(body)
    after = Snapshot(body=digest, facts=facts_digest(reading.facts), simhash=simhash(reading.text), extractor=extractor)
    if before is None:
        return Verdict(rung=Rung.FIRST, snapshot=after)
    rung = Rung.SAME_FACTS if before.facts == after.facts else Rung.OTHER_FACTS
    return Verdict(rung=rung, snapshot=after, rebuilt=_rebuilt(before.simhash, after.simhash))


def facts_digest(facts: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON (RFC 8785) of facts; what is None counts as absent."""
    return sha256(rfc8785.dumps(_plain(facts))).hexdigest()


def _rebuilt(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and distance(before, after) > REBUILT


def _plain(value: Any) -> Any:
    """JSON in one spelling: 10.50 and 10.5 are one price, and no number is rounded."""
    match value:
        case Enum():
            return _plain(value.value)
        case None | bool() | str():
            return _text(value) if isinstance(value, str) else value
        case Decimal():
            return format(value.normalize(), "f")
        case int():
            return value if abs(value) < _EXACT else str(value)
        case float():
            return value
        case date():
            return value.isoformat()
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items() if item is not None}
        case set() | frozenset():
            return sorted((_plain(item) for item in value), key=rfc8785.dumps)
        case list() | tuple():
            return [_plain(item) for item in value]
    if is_dataclass(value):
        return _plain({field.name: getattr(value, field.name) for field in fields(value)})
    raise TypeError(f"{type(value).__name__} is no fact")


def _text(value: str) -> str:
    """Half a character, as broken JSON has it, cannot be hashed."""
    return value.encode("utf-8", "replace").decode("utf-8")
