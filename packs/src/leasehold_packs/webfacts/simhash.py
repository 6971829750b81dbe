"""SimHash: 64 bits that differ little where texts differ little.

A hint only. On real pages one changed price moves no bit of it in most cases, and different products lie within three
bits, so "near" never means "unchanged".
"""

import re
from collections import Counter
from hashlib import blake2b

BITS = 64
MIN_WORDS = 50

_SHINGLE = 3
_LANE = 32
_WORD = re.compile(r"\w+")
# For each byte, its eight bits in eight lanes of an int: one addition counts eight bits.
_SPREAD = tuple(sum(1 << (_LANE * bit) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def simhash(text: str) -> int | None:
    """The hash of a text's words, three by three; None for a text too short to be told from noise."""
    words = _WORD.findall(text.casefold())
    if len(words) < MIN_WORDS:
        return None
    shingles = Counter(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
    lanes = [0] * 8
    for shingle, times in shingles.items():
        digest = blake2b("\x1f".join(shingle).encode("utf-8", "replace"), digest_size=8).digest()
        for place, byte in enumerate(digest):
            lanes[place] += _SPREAD[byte] * times
    return _majority(lanes, shingles.total())


def distance(one: int, other: int) -> int:
    """How many bits differ; of signed values too."""
    return ((one ^ other) & (1 << BITS) - 1).bit_count()


def signed(value: int) -> int:
    """As PostgreSQL's bigint holds it."""
    return value - (1 << BITS) if value >> (BITS - 1) else value


def _majority(lanes: list[int], total: int) -> int:
    """The bits that more than half of the shingles have."""
    counts = [lane >> (_LANE * bit) & (1 << _LANE) - 1 for lane in lanes for bit in range(8)]
    return sum(1 << place for place, count in enumerate(counts) if 2 * count > total)
