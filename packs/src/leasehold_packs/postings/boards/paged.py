"""Boards that list in pages, or whose lists lack the text: Workday, SmartRecruiters, Personio, Teamtailor."""

import json
import re
from typing import Any
from urllib.parse import quote, urljoin

from lxml import etree

from leasehold_packs.postings import html_text
from leasehold_packs.postings.boards.address import (
    Address,
    Listing,
    Request,
    Unreadable,
    each,
    items,
    joined,
    part,
    places,
    read_json,
)
from leasehold_packs.postings.boards.hosted import Whole
from leasehold_packs.postings.boards.schema import posting_of
from leasehold_packs.postings.html_text import short
from leasehold_packs.postings.posting import Posting

_WORKDAY_PAGE = 20
_SMART_PAGE = 100
_LANGUAGE = re.compile(r"[a-z]{2}-[A-Za-z]{2}")
_SEVERAL = re.compile(r"^\d+ \w+$")
_WORKDAY_HOST = re.compile(
    r"(?P<tenant>[a-z0-9_-]+)\.(?P<data>wd\d+)\.(?:myworkdayjobs(?:-impl)?\.com|myworkdaysite\.com)"
)


class Workday:
    """``slug`` is ``tenant/site``. Pages have at most 20 entries; the text and the places are in the detail."""

    details = True

    def recognise(self, host: str, path: list[str]) -> Address | None:
        found = _WORKDAY_HOST.fullmatch(host)
        if found is None:
            return None
        tenant = found["tenant"]
        if path[:2] == ["wday", "cxs"]:
            tenant, path = (path[2] if len(path) > 2 else tenant), path[3:]
        if path and _LANGUAGE.fullmatch(path[0]):
            path = path[1:]
        if path[:1] == ["recruiting"]:
            tenant, path = (path[1] if len(path) > 1 else tenant), path[2:]
        # Without a site in the address, most companies have called theirs External, as their tenant, or Careers.
        return Address(board="workday", slug=f"{tenant}/{path[0] if path else 'External'}", base=f"https://{host}")

    def list_request(self, address: Address, page: int) -> Request:
        body = {"appliedFacets": {}, "limit": _WORKDAY_PAGE, "offset": page * _WORKDAY_PAGE, "searchText": ""}
        return Request(url=f"{self._site(address)}/jobs", method="POST", body=json.dumps(body).encode())

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        found = items(read_json(body), "jobPostings")
        # The total is told on the first page alone, and may be more than can be reached: a short page is the last.
        return Listing(postings=each(found, lambda job: self._posting(job, address)), more=len(found) == _WORKDAY_PAGE)

    def detail_request(self, address: Address, posting: Posting) -> Request:
        path = posting.url.partition(f"/{address.slug.partition('/')[2]}/")[2]
        return Request(url=f"{self._site(address)}/{path}")

    def read_detail(self, body: bytes, address: Address, posting: Posting) -> Posting:
        job = part(read_json(body), "jobPostingInfo")
        if not isinstance(job, dict) or (title := short(job.get("title"))) is None:
            raise Unreadable("the answer has no jobPostingInfo", hint="the posting may be gone")
        also = job.get("additionalLocations")
        return Posting(
            external_id=posting.external_id,
            url=posting.url,
            title=title,
            locations=places(job.get("location"), *(also if isinstance(also, list) else [])),
            remote=short(job.get("remoteType")),
            employment=short(job.get("timeType")),
            requisition=short(job.get("jobReqId")),
            posted_at=short(job.get("startDate")),
            valid_through=short(job.get("endDate")),
            description=html_text.from_html(job.get("jobDescription")),
        )

    def _posting(self, job: dict[str, Any], address: Address) -> Posting | None:
        path, title = short(job.get("externalPath"), 1000), short(job.get("title"))
        if path is None or title is None:
            return None
        place, bullets = short(job.get("locationsText")), job.get("bulletFields")
        # The last part of the path ends in the requisition, which stays the same when the title does not.
        number = path.rpartition("_")[2] if "_" in path else path
        return Posting(
            external_id=number[:200],
            url=f"{address.base}/{address.slug.partition('/')[2]}{path}",
            title=title,
            locations=() if place is None or _SEVERAL.match(place) else (place,),
            remote=short(job.get("remoteType")),
            requisition=next(
                iter(places(*bullets if isinstance(bullets := job.get("bulletFields"), list) else [])), None
            ),
            mark=place,
        )

    def _site(self, address: Address) -> str:
        tenant, _, site = address.slug.partition("/")
        return f"{address.base}/wday/cxs/{quote(tenant, safe='')}/{quote(site, safe='')}"


class SmartRecruiters:
    details = True

    def recognise(self, host: str, path: list[str]) -> Address | None:
        if host == "api.smartrecruiters.com" and path[:2] == ["v1", "companies"]:
            path = path[2:]
        elif host not in ("jobs.smartrecruiters.com", "careers.smartrecruiters.com"):
            return None
        if path[:1] == ["oneclick-ui"]:
            path = path[2:]
        return Address(board="smartrecruiters", slug=path[0], base="https://api.smartrecruiters.com") if path else None

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{self._postings(address)}?limit={_SMART_PAGE}&offset={page * _SMART_PAGE}")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        document = read_json(body)
        found = items(document, "content")
        company = next((name for job in found if (name := short(part(job, "company", "name")))), None)
        total = part(document, "totalFound")
        more = bool(found) and isinstance(total, int) and (page + 1) * _SMART_PAGE < total
        return Listing(postings=each(found, lambda job: self._posting(job, address)), more=more, company=company)

    def detail_request(self, address: Address, posting: Posting) -> Request:
        return Request(url=f"{self._postings(address)}/{quote(posting.external_id, safe='')}")

    def read_detail(self, body: bytes, address: Address, posting: Posting) -> Posting:
        job = read_json(body)
        found = self._posting(job, address) if isinstance(job, dict) else None
        if found is None:
            raise Unreadable("the answer is no posting", hint="it may be gone")
        sections = part(job, "jobAd", "sections")
        texts = [
            f"<p>{part(one, 'title') or ''}</p>{part(one, 'text') or ''}"
            for one in (sections.values() if isinstance(sections, dict) else ())
        ]
        return posting.with_detail(found).with_detail(
            Posting(external_id="", url="", title=found.title, description=html_text.from_html("\n".join(texts)))
        )

    def _posting(self, job: dict[str, Any], address: Address) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("name"))) is None:
            return None
        place = job.get("location") or {}
        remote = "remote" if part(place, "remote") else "hybrid" if part(place, "hybrid") else None
        shown = short(part(place, "fullLocation"))
        company = short(part(job, "company", "identifier")) or address.slug
        return Posting(
            external_id=id_,
            url=short(job.get("postingUrl"), 2000)
            or f"https://jobs.smartrecruiters.com/{quote(company, safe='')}/{id_}",
            title=title,
            locations=places(shown or joined(part(place, "city"), part(place, "region"), part(place, "country"))),
            remote=remote,
            employment=short(part(job, "typeOfEmployment", "label")),
            level=short(part(job, "experienceLevel", "label")),
            department=short(part(job, "department", "label")),
            requisition=short(job.get("refNumber")),
            posted_at=short(job.get("releasedDate")),
            language=short(part(job, "language", "code")),
            mark=short(job.get("releasedDate")),
        )

    def _postings(self, address: Address) -> str:
        return f"{address.base}/v1/companies/{address.quoted}/postings"


class Personio(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        found = re.fullmatch(r"([a-z0-9-]+)\.jobs\.personio\.(?:com|de|es)", host)
        return Address(board="personio", slug=found[1], base=f"https://{host}") if found else None

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/xml")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            root = etree.fromstring(body, parser)
        except etree.XMLSyntaxError as problem:
            raise Unreadable(f"the answer is no XML: {problem}", hint="the board may be gone") from None
        if root.tag != "workzag-jobs":
            raise Unreadable(f"the answer is a document {str(root.tag)[:50]}", hint="the board may be gone")
        found = root.findall("position")
        postings = [one for position in found if (one := self._posting(position, address)) is not None]
        if found and not postings:
            raise Unreadable("no position has an id and a name")
        company = next((name for position in found if (name := short(position.findtext("subcompany")))), None)
        return Listing(postings=postings, company=company)

    def _posting(self, job: Any, address: Address) -> Posting | None:
        if (id_ := short(job.findtext("id"))) is None or (title := short(job.findtext("name"))) is None:
            return None
        texts = [
            f"<p>{one.findtext('name') or ''}</p>{one.findtext('value') or ''}"
            for one in job.findall("jobDescriptions/jobDescription")
        ]
        return Posting(
            external_id=id_,
            url=f"{address.base}/job/{quote(id_, safe='')}",
            title=title,
            locations=places(job.findtext("office"), *(one.text for one in job.findall("additionalOffices/office"))),
            employment=joined(job.findtext("employmentType"), job.findtext("schedule")),
            level=short(job.findtext("seniority")),
            department=short(job.findtext("department")),
            posted_at=short(job.findtext("createdAt")),
            description=html_text.from_html("\n".join(texts)) or None,
        )


class Teamtailor(Whole):
    """A JSON Feed with a schema.org JobPosting in each entry."""

    def recognise(self, host: str, path: list[str]) -> Address | None:
        name, _, domain = host.partition(".")
        regions = ("teamtailor.com", "na.teamtailor.com")
        if domain not in regions or name in ("www", "api", "app", "support", "docs"):
            return None
        return Address(board="teamtailor", slug=name, base=f"https://{host}")

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/jobs.json")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        document = read_json(body)
        postings = each(items(document, "items"), lambda job: self._posting(job, address))
        return Listing(postings=postings, company=short(part(document, "title")))

    def _posting(self, job: dict[str, Any], address: Address) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("title"))) is None:
            return None
        url = urljoin(address.base, short(job.get("url"), 2000) or "")
        told = posting_of(part(job, "_jobposting") or {}, url=url)
        ours = Posting(
            external_id=id_,
            url=url,
            title=title,
            posted_at=short(job.get("date_published")),
            description=html_text.from_html(job.get("content_html"))
            or html_text.plain(job.get("content_text"))
            or None,
            mark=short(job.get("date_modified")),
        )
        return ours.with_detail(told) if told else ours
