"""What a source is asked for."""

import os
import re
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leasehold.errors import BadSetting
from leasehold_packs.postings import normalize
from leasehold_packs.postings.posting import Posting

Word = Annotated[str, Field(min_length=1, max_length=100)]
Words = Annotated[list[Word], Field(max_length=50)]
#: Seconds between two requests to one host, in the environment of servers and workers alike.
GAP = "LEASEHOLD_POSTINGS_GAP_SECONDS"


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Options:
    """Filters choose what is taken in; a posting that is known is followed to its end. Words, not patterns."""

    title_include: Words = Field(default_factory=list)  # one of them is in the title
    title_exclude: Words = Field(default_factory=list)  # none of them is
    locations: Words = Field(default_factory=list)  # one of them is in a place
    remote: Annotated[list[Literal["remote", "hybrid", "onsite"]], Field(max_length=3)] = Field(default_factory=list)
    detail_hours: Annotated[float, Field(ge=0, le=8760)] = 24  # texts that are older are read again
    guard_share: Annotated[float, Field(gt=0, le=1)] = 0.3  # if more than this share of a board
    guard_count: Annotated[int, Field(ge=0, le=100_000)] = 5  # and more than so many vanish at once, a person decides

    def wants(self, posting: Posting) -> bool:
        place = " | ".join(posting.locations)
        remote = normalize.remote_of(posting.remote, place, posting.title)
        return (
            (not self.title_include or _has(posting.title, self.title_include))
            and not _has(posting.title, self.title_exclude)
            # Boards that tell places in the detail alone cannot be filtered by them in the list.
            and (not self.locations or not place or _has(place, self.locations))
            and (not self.remote or remote is None or remote in self.remote)
        )


def gap_seconds() -> float:
    """How long a host is left alone between two requests."""
    text = os.environ.get(GAP, "2")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.001 <= seconds <= 3600:
        raise BadSetting(f"{GAP}={text[:50]} is no number of seconds", hint="0.001 to 3600; 2 if it is not set")
    return seconds


def _has(text: str, words: list[str]) -> bool:
    return any(re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text) for word in words)
