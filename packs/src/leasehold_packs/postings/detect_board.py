"""An address that somebody has pasted: which board it belongs to, and a look at what that lists."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from leasehold import Fail
from leasehold_packs.postings.boards import (
    BOARDS,
    PAGE,
    Address,
    Request,
    Unreadable,
    Unsupported,
    find,
    recognise,
)
from leasehold_packs.postings.model import DetectedBoard, PreviewedPosting, UnsupportedBoard
from leasehold_packs.postings.posting import Posting, facts_of, merged
from leasehold_packs.webfacts.decode import decode

#: Postings that a preview shows.
SHOWN = 20
Ask = Callable[[Request], Awaitable[bytes]]
_SUPPORTED = ", ".join(sorted(BOARDS.keys() - {PAGE}))


async def detect(ask: Ask, url: str) -> DetectedBoard | UnsupportedBoard:
    """The source behind an address and its first postings. A board that is known and not read is said to be so."""
    found = recognise(url)
    if found is None:
        markup = decode(await ask(Request(url=url)))
        found = find(markup) or Address(board=PAGE, slug="", base=url)
    if isinstance(found, Unsupported):
        return {"supported": False, "board": found.name, "hint": f"{found.name} is not read; these are: {_SUPPORTED}"}
    board = BOARDS[found.board]
    try:
        listing = board.read_list(await ask(board.list_request(found, 0)), found, 0)
    except Unreadable as problem:
        raise Fail(f"{found.board} board {found.slug or found.base}: {problem}") from None
    postings = merged(listing.postings)
    return {
        "supported": True,
        "board": found.board,
        "slug": found.slug,
        "base": found.base,
        "company": listing.company or _name(url),
        "listed": len(postings),
        "more": listing.more,
        "postings": [_preview(one) for one in postings[:SHOWN]],
    }


def _preview(posting: Posting) -> PreviewedPosting:
    facts = facts_of(posting)
    return {
        "title": facts.title,
        "locations": facts.locations,
        "remote": facts.remote,
        "seniority": facts.seniority,
        "salary": facts.salary,
        "url": facts.url,
    }


def _name(url: str) -> str:
    """A company by its address, for want of a better name."""
    known = recognise(url)
    if isinstance(known, Address) and known.slug:
        return known.slug.partition("/")[0]
    host = urlsplit(url).hostname or url
    return host.removeprefix("www.").removeprefix("careers.").removeprefix("jobs.").partition(".")[0]
