"""How much evidence is kept."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MOST = 10
_LONGEST = 200


def some(things: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One piece of evidence for all of them: how many, and the first ones."""
    found: Sequence[str] = list(things)
    if found:
        yield {"count": len(found), "examples": [thing[:_LONGEST] for thing in found[:MOST]]}
