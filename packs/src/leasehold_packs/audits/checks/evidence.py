"""What a check says of a page, and how much of it is kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Small JSON: what a person needs to find the fault in the page.
Evidence = Mapping[str, object]
MOST = 10
_LONGEST = 200


def some(things: Iterable[str]) -> Iterator[Evidence]:
    """One piece of evidence for all of them: how many, and the first ones."""
    found: Sequence[str] = list(things)
    if found:
        yield {"count": len(found), "examples": [thing[:_LONGEST] for thing in found[:MOST]]}
