"""Postings for other programs: CSV and JSON, and an Atom feed of what a saved search was told of."""

from collections.abc import Sequence
from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from leasehold import csv_line
from leasehold_packs.postings.model_postings import Match, PostingSummary, SavedSearch

COLUMNS = (
    "posting_id", "company", "title", "state", "locations", "remote", "employment", "seniority", "department",
    "yearly_min", "yearly_max", "currency", "salary", "posted_at", "first_seen", "last_seen", "closed_at", "url",
)  # fmt: skip


def as_csv(postings: Sequence[PostingSummary]) -> str:
    """One line for each posting."""
    return csv_line(COLUMNS) + "".join(csv_line(_cell(one, name) for name in COLUMNS) for one in postings)


def _cell(posting: PostingSummary, name: str) -> object:
    if name == "locations":
        return " | ".join(posting.locations)
    if name == "salary":
        return posting.salary.text if posting.salary else None
    return getattr(posting, name)


def as_atom(search: SavedSearch, matches: Sequence[Match], *, address: str) -> str:
    """RFC 4287; an entry for each time that a posting was told of."""
    newest: datetime = matches[0].at if matches else search.created_at
    entries = "".join(_entry(one) for one in matches)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<id>urn:uuid:{search.search_id}</id><title>{_text(search.name)}</title>"
        f"<updated>{newest.isoformat()}</updated><author><name>Leasehold</name></author>"
        f'<link rel="self" href={quoteattr(address)}/>{entries}</feed>\n'
    )


def _entry(match: Match) -> str:
    title = f"{match.title} at {match.company}"
    return (
        f"<entry><id>urn:uuid:{match.posting_id}#{match.at.isoformat()}</id><title>{_text(title)}</title>"
        f"<updated>{match.at.isoformat()}</updated><link href={quoteattr(_clean(match.url))}/>"
        f"<category term={quoteattr(match.kind)}/><summary>{_text(match.place)}</summary></entry>"
    )


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(letter for letter in text if letter >= " " and letter not in "\ufffe\uffff")
