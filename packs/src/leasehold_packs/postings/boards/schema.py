"""Pages of companies themselves: schema.org JobPosting where there is one, else the links of a list.

A page with one posting is a posting. A page with links to pages that look like postings is a list of them, whose texts
are in those pages.
"""

import re
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from leasehold.errors import BadInput
from leasehold_packs.postings import html_text, pay
from leasehold_packs.postings.boards.address import Address, Listing, Request, Unreadable, joined, part, places
from leasehold_packs.postings.html_text import short
from leasehold_packs.postings.posting import Posting
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.page import Page, read_page
from leasehold_packs.webfacts.structured import Node, read_structured, text_of, values
from leasehold_packs.webfacts.url_key import url_key

_POSTING_PATH = re.compile(
    r"(?i)/(?:jobs?|careers?|positions?|openings?|vacanc(?:y|ies)|stellen(?:angebote?)?|karriere|offres?|opportunit(?:y|ies)|o)"
    r"/(?:[^/?#]+/)*(?P<last>[^/?#]*[\w-]{4,}[^/?#]*)/?$"
)
_NO_POSTING = re.compile(
    r"(?i)^(?:all|search|benefits?|culture|life|teams?|about|faq|students?|departments?|locations?|login|apply|index)\b"
)
_MOST = 1000


class CompanyPage:
    """``slug`` is empty and ``base`` is the address of the page."""

    details = True

    def recognise(self, host: str, path: list[str]) -> Address | None:
        return None

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=address.base)

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        text = decode(body)
        told = [one for one in described(text, url=address.base) if one]
        if told:
            return Listing(postings=told, company=_company(text, address.base))
        return Listing(postings=_linked(read_page(text, url=address.base)))

    def detail_request(self, address: Address, posting: Posting) -> Request:
        return Request(url=posting.url)

    def read_detail(self, body: bytes, address: Address, posting: Posting) -> Posting:
        text = decode(body)
        found = described(text, url=posting.url)
        if found:
            return posting.with_detail(found[0])
        page = read_page(text, url=posting.url)
        if not page.text:
            raise Unreadable("the page has no text without its scripts", hint="no board behind it is known either")
        title = next((heading.text for heading in page.headings if heading.level == 1 and heading.text), posting.title)
        return posting.with_detail(
            Posting(external_id="", url="", title=short(title) or posting.title, description=html_text.plain(page.text))
        )


def described(text: str, *, url: str) -> list[Posting]:
    """Every JobPosting that a page tells to machines."""
    nodes: list[Node] = [node for node in read_structured(text, url=url).nodes() if "jobposting" in node.types]
    return [one for node in nodes if (one := posting_of(node.properties, url=url)) is not None]


def posting_of(told: dict[str, Any], *, url: str) -> Posting | None:
    """A schema.org JobPosting as ours."""
    title = text_of(told.get("title")) or text_of(told.get("name"))
    if title is None:
        return None
    own = text_of(told.get("url")) or url
    employment = [text for one in values(told, "employmentType") if (text := text_of(one))]
    remote = "remote" if "TELECOMMUTE" in str(told.get("jobLocationType") or "").upper() else None
    return Posting(
        external_id=identity(own),
        url=own,
        title=title[:300],
        locations=places(*(_place(one) for one in values(told, "jobLocation"))),
        remote=remote,
        employment=joined(*(one.replace("_", " ").lower() for one in employment)),
        level=None,
        department=text_of(told.get("occupationalCategory")),
        requisition=_identifier(told.get("identifier")),
        salary=_pay(told.get("baseSalary")),
        posted_at=text_of(told.get("datePosted")),
        valid_through=text_of(told.get("validThrough")),
        description=html_text.from_html(str(told["description"])) if told.get("description") else None,
    )


def identity(url: str) -> str:
    """The id of a posting that has only an address."""
    try:
        return sha256(url_key(url).encode()).hexdigest()[:32]
    except BadInput:
        return sha256(url.encode("utf-8", "replace")).hexdigest()[:32]


def _linked(page: Page) -> list[Posting]:
    """The links of a page that lead to postings by their address, each once."""
    found: dict[str, Posting] = {}
    for link in page.links:
        path = _POSTING_PATH.search(urlsplit(link.url or "").path)
        text = short(link.text)
        if not link.url or not path or _NO_POSTING.match(path["last"]) or text is None or len(text) < 4:
            continue
        id_ = identity(link.url)
        found.setdefault(id_, Posting(external_id=id_, url=link.url, title=text))
    return list(found.values())[:_MOST]


def _company(text: str, url: str) -> str | None:
    nodes = read_structured(text, url=url).nodes()
    return next(
        (
            name
            for node in nodes
            if "jobposting" in node.types
            if (name := text_of(node.properties.get("hiringOrganization")))
        ),
        None,
    )


def _place(place: Any) -> str | None:
    address = part(place, "address")
    if isinstance(address, dict):
        names = ("addressLocality", "addressRegion", "addressCountry")
        return joined(*(text_of(address.get(name)) for name in names))
    return text_of(address) or text_of(place)


def _identifier(value: Any) -> str | None:
    return short(part(value, "value")) or short(value)


def _pay(told: Any) -> pay.Salary | None:
    amount = part(told, "value")
    if isinstance(amount, dict):
        low = amount.get("minValue", amount.get("value"))
        return pay.of_fields(low, amount.get("maxValue", low), part(told, "currency"), amount.get("unitText"))
    return pay.of_fields(amount, amount, part(told, "currency"), part(told, "unitText"))
