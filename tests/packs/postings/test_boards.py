"""Boards: which one an address belongs to, and what real answers of each say."""

import csv
import json
from dataclasses import replace
from typing import Any

import pytest

from leasehold_packs.postings.boards import BOARDS, Address, Unreadable, Unsupported, find, recognise
from leasehold_packs.postings.posting import Facts, PublishedSalary, facts_of, merged
from tests.corpora.data import CORPORA, needs_corpora

FIXTURES = CORPORA / "postings" / "ats-fixtures"
#: Of each supported board: its slug and base, and whether its answer carries texts.
SUPPORTED = {
    "ashby": ("HighlightTA", "https://api.ashbyhq.com", True),
    "greenhouse": ("amplitude", "https://boards-api.greenhouse.io", True),
    "lever": ("idealistconsulting", "https://api.lever.co", True),
    "personio": ("acme", "https://acme.jobs.personio.com", False),
    "recruitee": ("acme", "https://acme.recruitee.com", True),
    "smartrecruiters": ("knight", "https://api.smartrecruiters.com", False),
    "teamtailor": ("career", "https://career.teamtailor.com", False),
    "workable": ("zaelab", "https://apply.workable.com", False),
    "workday": ("salesforce/External_Career_Site", "https://salesforce.wd12.myworkdayjobs.com", False),
}


def address(board: str) -> Address:
    slug, base, _ = SUPPORTED[board]
    return Address(board=board, slug=slug, base=base)


def fixture(name: str) -> bytes:
    return next(FIXTURES.glob(f"{name}.*")).read_bytes()


@needs_corpora
@pytest.mark.parametrize("board", SUPPORTED)
def test_a_real_answer_says_title_place_address_and_id(board: str) -> None:
    listing = BOARDS[board].read_list(fixture(board), address(board), 0)
    postings = merged(listing.postings)
    assert postings
    assert len({one.external_id for one in postings}) == len(postings)
    for one in postings:
        assert one.title
        assert one.external_id
        assert one.url.startswith("https://")
        assert one.locations or board == "workday", "Workday says how many places, and names them in the detail"
        if SUPPORTED[board][2]:
            assert len(one.description or "") > 200
            assert "<" not in (one.description or "")[:200]
            assert "&amp;" not in (one.description or "")
        elif BOARDS[board].details:
            assert one.description is None
            assert BOARDS[board].detail_request(address(board), one).url.startswith(SUPPORTED[board][1])


@needs_corpora
def test_details_of_real_answers_are_known() -> None:
    def facts(board: str, n: int = 0) -> Facts:
        return facts_of(merged(BOARDS[board].read_list(fixture(board), address(board), 0).postings)[n])

    ashby, recruitee = facts("ashby", 1), facts("recruitee")
    assert ashby.salary == PublishedSalary(
        min="102800", max="137000", currency="CAD", interval="year", text="CA$102.8K – CA$137K"
    )
    assert (ashby.remote, ashby.seniority, ashby.employment) == ("hybrid", "senior", "full_time")
    assert recruitee.salary
    assert recruitee.salary.max == "75000"
    assert facts("workable").locations == ["Portugal", "Spain"], "one posting that is listed for each of its places"
    assert facts("personio").locations == ["Berlin", "Munich"]
    assert facts("lever").employment == "contract"
    assert facts("teamtailor", 1).locations == ["København, Europe, DK", "Stockholm, Sweden, SE"]
    workday = BOARDS["workday"].read_list(fixture("workday"), address("workday"), 0)
    assert [one.external_id for one in workday.postings] == ["JR354232", "JR332446"]
    request = BOARDS["workday"].detail_request(address("workday"), workday.postings[1])
    assert request.url == (
        "https://salesforce.wd12.myworkdayjobs.com/wday/cxs/salesforce/External_Career_Site/job/Illinois---Chicago/"
        "Customer-Success-Manager---Global-Public-Sector--State---Local-Gov-_JR332446"
    )


def test_details_are_read_where_lists_lack_them() -> None:
    told = {"jobPostingInfo": {"title": "Cook", "location": "Graz", "additionalLocations": ["Linz"],
                               "jobDescription": "<p>Soup.</p><p>Bread.</p>", "timeType": "Part time"}}  # fmt: skip
    entry = {"title": "Cook", "externalPath": "/job/x/Cook_R1", "locationsText": "2 Locations"}
    page = BOARDS["workday"].read_list(json.dumps({"jobPostings": [entry]}).encode(), address("workday"), 0)
    listed = page.postings[0]
    whole = listed.with_detail(BOARDS["workday"].read_detail(json.dumps(told).encode(), address("workday"), listed))
    assert (whole.locations, whole.description, whole.employment) == (("Graz", "Linz"), "Soup.\nBread.", "Part time")
    smart = {"id": "7", "name": "Cook", "location": {"city": "Graz", "remote": True},
             "jobAd": {"sections": {"jobDescription": {"title": "What", "text": "<p>Soup.</p>"}}}}  # fmt: skip
    one = BOARDS["smartrecruiters"].read_list(
        json.dumps({"content": [smart], "totalFound": 250}).encode(), address("smartrecruiters"), 1
    )
    assert one.more
    whole = BOARDS["smartrecruiters"].read_detail(
        json.dumps(smart).encode(), address("smartrecruiters"), one.postings[0]
    )
    assert (whole.description, whole.remote, whole.external_id) == ("What\nSoup.", "remote", "7")


@needs_corpora
def test_every_real_address_of_a_board_is_recognised() -> None:
    lists = {
        "greenhouse_greenhouse": "greenhouse", "lever_lever": "lever", "ashby": "ashby", "workday_workday": "workday",
        "smartrecruiters": "smartrecruiters", "workable_workable": "workable", "rippling_rippling": "Rippling",
        "gem_gem": "Gem",
    }  # fmt: skip
    seen = 0
    for name, board in lists.items():
        with (CORPORA / "postings" / "ats-company-lists" / f"{name}_companies.csv").open() as file:
            for row in csv.DictReader(file):
                found = recognise(row["url"])
                told = found.board if isinstance(found, Address) else found and found.name
                assert told == board or row["url"] == "https://apply.workable.com/j", row["url"]
                seen += 1
    assert seen == 14_670


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://boards.greenhouse.io/acme/jobs/1", "greenhouse acme https://boards-api.greenhouse.io"),
        ("https://job-boards.eu.greenhouse.io/acme", "greenhouse acme https://boards-api.eu.greenhouse.io"),
        ("https://boards-api.greenhouse.io/v1/boards/acme/jobs", "greenhouse acme https://boards-api.greenhouse.io"),
        ("https://jobs.eu.lever.co/acme/123", "lever acme https://api.eu.lever.co"),
        ("https://api.lever.co/v0/postings/acme?mode=json", "lever acme https://api.lever.co"),
        ("https://jobs.ashbyhq.com/A%20B", "ashby A B https://api.ashbyhq.com"),
        (
            "https://acme.wd5.myworkdayjobs.com/en-US/Careers/job/x",
            "workday acme/Careers https://acme.wd5.myworkdayjobs.com",
        ),
        ("https://acme.recruitee.com/o/cook", "recruitee acme https://acme.recruitee.com"),
        ("https://acme.jobs.personio.de/job/1", "personio acme https://acme.jobs.personio.de"),
        ("https://acme.teamtailor.com/jobs", "teamtailor acme https://acme.teamtailor.com"),
        ("https://acme.workable.com/", "workable acme https://apply.workable.com"),
        ("https://careers.smartrecruiters.com/Acme", "smartrecruiters Acme https://api.smartrecruiters.com"),
        ("https://careers-acme.icims.com/jobs/search", "iCIMS"),
        ("https://acme.bamboohr.com/careers", "BambooHR"),
        ("https://www.governmentjobs.com/careers/x", "NEOGOV"),
        ("https://jobs.jobvite.com/acme", "Jobvite"),
        ("https://acme.eightfold.ai/careers", "Eightfold"),
        ("https://acme.pinpointhq.com/postings", "Pinpoint"),
        ("https://recruiting.paylocity.com/Recruiting/Jobs/All/1", "Paylocity"),
        ("https://acme.hrmdirect.com/employment/job-openings.php", "HRMDirect"),
        ("https://acme.fa.us2.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX", "Oracle Recruiting"),
        ("https://ats.rippling.com/acme/jobs", "Rippling"),
        ("https://jobs.gem.com/acme", "Gem"),
        ("https://careers.phenom.com/global/en/search-results", "Phenom"),
        ("https://career5.successfactors.eu/career?company=acme", "SuccessFactors"),
        ("https://acme.taleo.net/careersection/2/jobsearch.ftl", "Taleo"),
        ("https://careers.phenom.com.example/global", None),
        ("https://www.acme.example/careers", None),
        ("https://evil-jobs.lever.co.example/acme", None),
        ("https://jobs.lever.co/", None),
    ],
)
def test_an_address_says_whose_board_it_is(url: str, wanted: str | None) -> None:
    found = recognise(url)
    told = f"{found.board} {found.slug} {found.base}" if isinstance(found, Address) else found and found.name
    assert told == wanted


def test_a_page_leads_to_the_board_that_it_embeds() -> None:
    assert find('<script src="https://boards.greenhouse.io/embed/job_board/js?for=acme"></script>') == Address(
        board="greenhouse", slug="acme", base="https://boards-api.greenhouse.io"
    )
    assert find('{"url":"https:\\/\\/jobs.lever.co\\/acme"}') == Address(
        board="lever", slug="acme", base="https://api.lever.co"
    )
    both = '<a href="https://ats.rippling.com/a"></a><a href="https://jobs.ashbyhq.com/acme/1">'
    assert find(both) == Address(board="ashby", slug="acme", base="https://api.ashbyhq.com")
    assert find('<a href="https://acme.bamboohr.com/jobs">') == Unsupported("BambooHR")
    assert find("<a href='https://[broken'>") is None


@needs_corpora
def test_a_board_at_the_address_of_its_company_is_known_by_its_pages() -> None:
    assert find(fixture("phenom").decode()) == Unsupported("Phenom")
    assert find('<link href="https://cdn.phenompeople.com/a.css">') == Unsupported("Phenom")
    assert find("<script>var phApp = {}</script>") is None


@pytest.mark.parametrize("board", sorted(BOARDS))
def test_an_answer_of_another_shape_is_refused_and_an_empty_list_is_one(board: str) -> None:
    at = replace(address("lever"), board=board) if board not in SUPPORTED else address(board)
    empty = {"lever": b"[]", "personio": b"<workzag-jobs/>", "page": b"<html></html>"}
    names = {"recruitee": "offers", "workday": "jobPostings", "smartrecruiters": "content", "teamtailor": "items"}
    body = empty.get(board) or json.dumps({names.get(board, "jobs"): []}).encode()
    assert BOARDS[board].read_list(body, at, 0).postings == []
    if board == "page":
        return
    wrong = [b"", b"<html>busy</html>", b"null", b"7", b'{"error": "x"}', b'"x"', b"[1, 2" * 9, b"\xff\xfe", b"<a/>"]
    for text in wrong:
        with pytest.raises(Unreadable):
            BOARDS[board].read_list(text, at, 0)
    name = names.get(board, "jobs")
    nonsense: list[dict[str, Any]] = [
        {"id": {}, "title": [], "text": None, "name": True, "externalPath": 5, "shortcode": []}
    ]
    shaped = b"<workzag-jobs><position/></workzag-jobs>" if board == "personio" else json.dumps(
        nonsense if board == "lever" else {name: nonsense}
    ).encode()  # fmt: skip
    with pytest.raises(Unreadable):
        BOARDS[board].read_list(shaped, at, 0)
