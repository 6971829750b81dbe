"""The words that postings are written with, so that a word that nobody writes can be put right."""

import re
from collections import Counter
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.postings.posting import Facts
from leasehold_packs.postings.store_settle import PostingRow

#: Words as they are counted, and as a question is split: letters alone.
WORD = re.compile(r"[^\W\d_]{3,40}")
_FURTHEST = 2


async def update(tx: Transaction, rows: list[PostingRow], before: dict[UUID, Facts]) -> None:
    """Count the words of new and changed postings; what those said before is no longer said."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(_words(row.title, row.description))
        if (old := before.get(row.posting_id)) is not None:
            counts.subtract(_words(old.title, old.description))
    await _add(tx, counts)


async def forget(tx: Transaction, source_id: UUID) -> None:
    """The words of a source that goes away."""
    rows = await tx.fetch("select title, description from leasehold_postings.posting where source_id = $1", source_id)
    counts: Counter[str] = Counter()
    for row in rows:
        counts.subtract(_words(row["title"], row["description"]))
    await _add(tx, counts)


async def _add(tx: Transaction, counts: Counter[str]) -> None:
    changed = sorted(word for word, n in counts.items() if n)  # in one order: two sources do not wait for each other
    await tx.execute(
        "select leasehold_postings.add_words($1, $2, $3)", tx.tenant_id, changed, [counts[word] for word in changed]
    )


def nearest(word: str, candidates: list[tuple[str, int]]) -> str | None:
    """The known word that was probably meant: fewest slips first, then the most used."""
    slips = 1 if len(word) < 5 else _FURTHEST
    judged = [(distance(word, known), -n, known) for known, n in candidates if abs(len(known) - len(word)) <= slips]
    best = min(judged, default=None)
    return best[2] if best and 0 < best[0] <= slips else None


def distance(one: str, other: str) -> int:
    """Letters left out, added, changed or swapped with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _words(title: str, description: str) -> set[str]:
    return {word.lower() for word in WORD.findall(f"{title} {description}")}
