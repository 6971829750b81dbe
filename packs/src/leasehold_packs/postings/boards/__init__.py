"""Job boards: which one an address belongs to, what to ask it, and what its answers say. Pure.

address (what all have in common)   hosted, paged (the boards)   schema (pages of companies)   unsupported (names only)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from leasehold_packs.postings.boards.address import Address, Board, Listing, Request, Unreadable
from leasehold_packs.postings.boards.hosted import Ashby, Greenhouse, Lever, Recruitee, Workable
from leasehold_packs.postings.boards.paged import Personio, SmartRecruiters, Teamtailor, Workday
from leasehold_packs.postings.boards.schema import CompanyPage

__all__ = ["BOARDS", "PAGE", "Address", "Board", "Listing", "Request", "Unreadable", "Unsupported", "find", "recognise"]

#: The board that is a page of the company itself.
PAGE = "page"
BOARDS: dict[str, Board] = {
    "ashby": Ashby(),
    "greenhouse": Greenhouse(),
    "lever": Lever(),
    PAGE: CompanyPage(),
    "personio": Personio(),
    "recruitee": Recruitee(),
    "smartrecruiters": SmartRecruiters(),
    "teamtailor": Teamtailor(),
    "workable": Workable(),
    "workday": Workday(),
}
#: Systems that are known by their hosts, and not read.
_UNSUPPORTED = {
    "BambooHR": r"[\w-]+\.bamboohr\.com",
    "Eightfold": r"[\w-]+\.eightfold\.ai",
    "Gem": r"jobs\.gem\.com",
    "HRMDirect": r"[\w-]+\.hrmdirect\.com",
    "iCIMS": r"[\w.-]+\.icims\.com",
    "Jobvite": r"jobs\.jobvite\.com",
    "NEOGOV": r"www\.governmentjobs\.com",
    "Oracle Recruiting": r"[\w.-]+\.oraclecloud\.com",
    "Paylocity": r"recruiting\.paylocity\.com",
    "Phenom": r"[\w.-]+\.phenom(?:people)?\.com",
    "Pinpoint": r"[\w-]+\.pinpointhq\.com",
    "Rippling": r"ats\.rippling\.com",
    "SuccessFactors": r"[\w.-]+\.(?:successfactors|sapsf)\.(?:com|eu)",
    "Taleo": r"[\w.-]+\.taleo\.net",
}
#: Those whose boards stand at the address of the company, by what is on every page of them.
_MARKS = {"Phenom": re.compile(r"\bphApp\.ddo\s*=")}
_HREF = re.compile(r"""https?://[^\s"'<>\\)]{4,500}""")
_EMBEDDED = re.compile(r"greenhouse\.io/embed/job_board(?:/js)?\?(?:[^\"']*&)?for=(?P<slug>[\w-]{1,100})")


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A system that is known and not read."""

    name: str


def recognise(url: str) -> Address | Unsupported | None:
    """The board that an address in a browser belongs to; None for a page that must be looked at."""
    parsed = urlsplit(url)
    host = (parsed.hostname or "").lower()
    path = [unquote(part) for part in parsed.path.split("/") if part]
    for board in BOARDS.values():
        if (address := board.recognise(host, path)) is not None:
            return address
    return next((Unsupported(name) for name, pattern in _UNSUPPORTED.items() if re.fullmatch(pattern, host)), None)


def find(markup: str) -> Address | Unsupported | None:
    """The board that a careers page leads to or embeds; a supported one before the others."""
    markup = markup.replace("\\/", "/")
    if embedded := _EMBEDDED.search(markup):
        return Address(board="greenhouse", slug=embedded["slug"], base="https://boards-api.greenhouse.io")
    found = [one for url in dict.fromkeys(_HREF.findall(markup)) if (one := _safely(url)) is not None]
    found += [Unsupported(name) for name, mark in _MARKS.items() if mark.search(markup)]
    return _first(found, Address) or _first(found, Unsupported)


def _first(found: Iterable[Address | Unsupported], type_: type) -> Address | Unsupported | None:
    return next((one for one in found if isinstance(one, type_)), None)


def _safely(url: str) -> Address | Unsupported | None:
    try:
        return recognise(url)
    except ValueError:
        return None
