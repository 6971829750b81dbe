"""Boards that tell a whole list with its texts in one answer: Greenhouse, Lever, Ashby, Recruitee, Workable."""

from datetime import UTC, datetime
from typing import Any

from leasehold_packs.postings import html_text, pay
from leasehold_packs.postings.boards.address import (
    Address,
    Listing,
    Request,
    each,
    items,
    joined,
    part,
    places,
    read_json,
)
from leasehold_packs.postings.html_text import short
from leasehold_packs.postings.pay import Salary
from leasehold_packs.postings.posting import Posting


class Whole:
    """What such boards have in common: there is no second page, and no detail to ask for."""

    details = False

    def detail_request(self, address: Address, posting: Posting) -> Request:
        raise AssertionError(f"{address.board} tells everything in its list")

    def read_detail(self, body: bytes, address: Address, posting: Posting) -> Posting:
        raise AssertionError(f"{address.board} tells everything in its list")


class Greenhouse(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        if host not in _GREENHOUSE_HOSTS:
            return None
        if path[:2] == ["v1", "boards"]:
            path = path[2:]
        if path[:2] == ["embed", "job_board"] or not path:
            return None
        region = ".eu" if ".eu." in host else ""
        return Address(board="greenhouse", slug=path[0], base=f"https://boards-api{region}.greenhouse.io")

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/v1/boards/{address.quoted}/jobs?content=true")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        found = items(read_json(body), "jobs")
        company = next((name for job in found if (name := short(job.get("company_name")))), None)
        return Listing(postings=each(found, self._posting), company=company)

    def _posting(self, job: dict[str, Any]) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("title"))) is None:
            return None
        departments = [part(one, "name") for one in _list(job, "departments")]
        return Posting(
            external_id=id_,
            url=short(job.get("absolute_url"), 2000) or "",
            title=title,
            locations=places(part(job, "location", "name")),
            employment=_metadata(job, "employment type"),
            department=joined(*departments),
            requisition=short(job.get("internal_job_id")),
            posted_at=short(job.get("first_published")),
            valid_through=short(job.get("application_deadline")),
            language=short(job.get("language")),
            description=None if job.get("content") is None else html_text.from_escaped(str(job["content"])),
            salary=_greenhouse_pay(job),
            mark=short(job.get("updated_at")),
        )


class Lever(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        if host not in ("jobs.lever.co", "jobs.eu.lever.co", "api.lever.co", "api.eu.lever.co"):
            return None
        if path[:2] == ["v0", "postings"]:
            path = path[2:]
        api = "https://api.eu.lever.co" if ".eu." in host else "https://api.lever.co"
        return Address(board="lever", slug=path[0], base=api) if path else None

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/v0/postings/{address.quoted}?mode=json")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        return Listing(postings=each(items(read_json(body)), self._posting))

    def _posting(self, job: dict[str, Any]) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("text"))) is None:
            return None
        told = job.get("categories") or {}
        several = part(told, "allLocations")
        salary = job.get("salaryRange") or {}
        return Posting(
            external_id=id_,
            url=short(job.get("hostedUrl"), 2000) or "",
            title=title,
            locations=places(part(told, "location"), *(several if isinstance(several, list) else [])),
            remote=short(job.get("workplaceType")),
            employment=short(part(told, "commitment")),
            department=joined(part(told, "department"), part(told, "team")),
            salary=pay.of_fields(
                part(salary, "min"), part(salary, "max"), part(salary, "currency"), part(salary, "interval")
            ),
            posted_at=_of_epoch(job.get("createdAt")),
            description=self._text(job),
        )

    def _text(self, job: dict[str, Any]) -> str | None:
        sections = [
            f"<p>{part(one, 'text') or ''}</p><ul>{part(one, 'content') or ''}</ul>" for one in _list(job, "lists")
        ]
        opening = job.get("description") or f"{job.get('opening') or ''}{job.get('descriptionBody') or ''}"
        whole = "\n".join(map(str, (opening, *sections, job.get("additional") or "")))
        return html_text.from_html(whole) or html_text.plain(short(job.get("descriptionPlain"), html_text.MOST)) or None


class Ashby(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        if host == "api.ashbyhq.com" and path[:2] == ["posting-api", "job-board"]:
            path = path[2:]
        elif host != "jobs.ashbyhq.com":
            return None
        return Address(board="ashby", slug=path[0], base="https://api.ashbyhq.com") if path else None

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/posting-api/job-board/{address.quoted}?includeCompensation=true")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        listed = [job for job in items(read_json(body), "jobs") if job.get("isListed") is not False]
        return Listing(postings=each(listed, self._posting))

    def _posting(self, job: dict[str, Any]) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("title"))) is None:
            return None
        also = [part(one, "location") for one in _list(job, "secondaryLocations")]
        return Posting(
            external_id=id_,
            url=short(job.get("jobUrl"), 2000) or "",
            title=title,
            locations=places(job.get("location"), *also),
            remote=short(job.get("workplaceType")) or ("remote" if job.get("isRemote") is True else None),
            employment=_spaced(short(job.get("employmentType"))),
            department=joined(job.get("department"), job.get("team")),
            salary=_ashby_pay(job.get("compensation")),
            posted_at=short(job.get("publishedAt")),
            description=html_text.from_html(job.get("descriptionHtml"))
            or html_text.plain(job.get("descriptionPlain"))
            or None,
            mark=short(job.get("updatedAt")),
        )


class Recruitee(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        name, _, domain = host.partition(".")
        if domain != "recruitee.com" or name in ("www", "api", "support", "docs", "blog"):
            return None
        return Address(board="recruitee", slug=name, base=f"https://{host}")

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/api/offers/")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        found = items(read_json(body), "offers")
        company = next((name for job in found if (name := short(job.get("company_name")))), None)
        return Listing(postings=each(found, self._posting), company=company)

    def _posting(self, job: dict[str, Any]) -> Posting | None:
        if (id_ := short(job.get("id"))) is None or (title := short(job.get("title"))) is None:
            return None
        told = [joined(part(one, "city"), part(one, "country")) for one in _list(job, "locations")]
        remote = "remote" if job.get("remote") else "hybrid" if job.get("hybrid") else None
        salary = job.get("salary") or {}
        text = f"{job.get('description') or ''}\n{job.get('requirements') or ''}"
        return Posting(
            external_id=id_,
            url=short(job.get("careers_url"), 2000) or "",
            title=title,
            locations=places(*told) or places(job.get("location")),
            remote=remote or ("onsite" if job.get("on_site") else None),
            employment=_spaced(short(job.get("employment_type_code"))),
            level=_spaced(short(job.get("experience_code"))),
            department=short(job.get("department")),
            salary=pay.of_fields(
                part(salary, "min"), part(salary, "max"), part(salary, "currency"), part(salary, "period")
            ),
            posted_at=short(job.get("published_at")),
            valid_through=short(job.get("close_at")),
            description=html_text.from_html(text) or None,
            mark=short(job.get("updated_at")),
        )


class Workable(Whole):
    def recognise(self, host: str, path: list[str]) -> Address | None:
        if host == "apply.workable.com":
            if path[:3] == ["api", "v1", "widget"]:
                path = path[4:]
            if not path or path[0] in ("j", "api"):
                return None
            return Address(board="workable", slug=path[0], base="https://apply.workable.com")
        name, _, domain = host.partition(".")
        if domain != "workable.com" or name in ("www", "jobs", "help", "get", "resources"):
            return None
        return Address(board="workable", slug=name, base="https://apply.workable.com")

    def list_request(self, address: Address, page: int) -> Request:
        return Request(url=f"{address.base}/api/v1/widget/accounts/{address.quoted}?details=true")

    def read_list(self, body: bytes, address: Address, page: int) -> Listing:
        document = read_json(body)
        return Listing(postings=each(items(document, "jobs"), self._posting), company=short(part(document, "name")))

    def _posting(self, job: dict[str, Any]) -> Posting | None:
        if (id_ := short(job.get("shortcode"))) is None or (title := short(job.get("title"))) is None:
            return None
        told = [
            joined(part(one, "city"), part(one, "region"), part(one, "country"))
            for one in _list(job, "locations")
            if part(one, "hidden") is not True
        ]
        return Posting(
            external_id=id_,
            url=short(job.get("url"), 2000) or "",
            title=title,
            locations=places(*told) or places(joined(job.get("city"), job.get("state"), job.get("country"))),
            remote="remote" if job.get("telecommuting") is True else None,
            employment=short(job.get("employment_type")),
            level=short(job.get("experience")),
            department=short(job.get("department")),
            requisition=short(job.get("code")),
            posted_at=short(job.get("published_on")),
            description=html_text.from_html(job.get("description")) or None,
        )


_GREENHOUSE_HOSTS = (
    "boards.greenhouse.io",
    "job-boards.greenhouse.io",
    "boards-api.greenhouse.io",
    "boards.eu.greenhouse.io",
    "job-boards.eu.greenhouse.io",
    "boards-api.eu.greenhouse.io",
)


def _list(job: dict[str, Any], name: str) -> list[Any]:
    found = job.get(name)
    return found if isinstance(found, list) else []


def _metadata(job: dict[str, Any], name: str) -> str | None:
    """A field that a company has added to its Greenhouse board."""
    return next(
        (short(part(one, "value")) for one in _list(job, "metadata") if str(part(one, "name")).lower() == name), None
    )


def _greenhouse_pay(job: dict[str, Any]) -> Salary | None:
    for told in _list(job, "pay_input_ranges"):
        cents = [part(told, name) for name in ("min_cents", "max_cents")]
        low, high = (one / 100 if isinstance(one, int | float) else None for one in cents)
        if salary := pay.of_fields(low, high, part(told, "currency_type"), part(told, "title") or "year"):
            return salary
    return None


def _ashby_pay(told: Any) -> Salary | None:
    for one in _list(told, "summaryComponents") if isinstance(told, dict) else []:
        if part(one, "compensationType") == "Salary":
            summary = short(part(told, "compensationTierSummary"))
            return pay.of_fields(
                part(one, "minValue"), part(one, "maxValue"), part(one, "currencyCode"), part(one, "interval"), summary
            )
    return None


def _of_epoch(value: Any) -> str | None:
    """Lever counts milliseconds."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**14:
        return None
    return datetime.fromtimestamp(value / 1000, UTC).isoformat()


def _spaced(word: str | None) -> str | None:
    """``FullTime`` and ``fulltime_permanent`` as words."""
    if word is None:
        return None
    apart = "".join(f" {letter}" if letter.isupper() else letter for letter in word)
    return apart.replace("_", " ").replace("fulltime", "full time").replace("parttime", "part time").strip()
