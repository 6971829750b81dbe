"""Facts of postings: pay, place, level, and what counts as a change."""

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from leasehold.errors import BadSetting
from leasehold_packs.postings import html_text, normalize, pay, report
from leasehold_packs.postings.clusters import likeness, places_of
from leasehold_packs.postings.model import GAP, Options, gap_seconds
from leasehold_packs.postings.model_postings import PostingSummary
from leasehold_packs.postings.posting import Posting, compare, digest_of, facts_of
from tests.corpora.data import needs_corpora
from tests.packs.postings.conftest import uber

POSTING = Posting(
    external_id="1", url="https://a.example/1", title="Senior Engineer", locations=("Berlin", "Paris"),
    description="You build things. " * 30 + "Salary: $100,000 - $120,000 per year.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("USD$171,000 per year - USD$190,000 per year.", "171000 190000 USD year"),
        ("$120k - $150k", "120000 150000 USD year"),
        ("€60.000 – 75.000 per year", "60000 75000 EUR year"),
        ("£50,000 to £60,000 p.a.", "50000 60000 GBP year"),
        ("The hourly rate is $34.50 per hour", "34.5 34.5 USD hour"),
        ("100,000 - 120,000 USD annually", "100000 120000 USD year"),
        ("85-95k EUR", "85000 95000 EUR year"),
        ("CA$100,000-CA$120,000", "100000 120000 CAD year"),
        ("CHF 8'000 - 9'500 a month", "8000 9500 CHF month"),
        ("from 2-3 years, 10 - 20 people, 401(k)", None),
        ("We raised $50 million", None),
        ("teams of 5 to 10", None),
    ],
)
def test_a_salary_is_read_as_it_is_written(text: str, wanted: str | None) -> None:
    found = pay.of_text(text)
    told = found and f"{found.low:f} {found.high:f} {found.currency} {found.interval}".replace(".50 ", ".5 ")
    assert told == wanted


def test_pay_of_fields_is_compared_by_the_year_and_never_across_currencies() -> None:
    salary = pay.of_fields("2500", 3000, "eur", "1 MONTH")
    assert salary is not None
    assert (salary.currency, salary.interval) == ("EUR", "month")
    assert (pay.by_year(salary.low, "month"), pay.by_year(salary.high, "month")) == (Decimal(30000), Decimal(36000))
    assert pay.of_fields(None, 0, "USD", "year") is None
    assert pay.interval_of("per-hour-wage") == "hour"
    assert pay.by_year(Decimal(20), "hour") == Decimal(41600)
    assert pay.by_year(Decimal(20), None) is pay.by_year(None, "year") is None
    assert pay.amounts("from $5 to USD 1,000 and 7 €, not 12") == ["EUR 7", "USD 1000", "USD 5"]


def test_words_of_boards_become_one_word() -> None:
    assert normalize.remote_of(None, "Berlin (Hybrid)", "Engineer") == "hybrid"
    assert normalize.remote_of("OnSite", "Remote") == "onsite"
    assert normalize.remote_of("Berlin", None) is None
    levels = {"Sr. Engineer": "senior", "Senior Manager": "manager", "Staff Engineer": "staff", "Engineer II": "mid",
              "Intern, Data": "intern", "VP of Sales": "executive", "International Sales": None,
              "Staffing Lead": "lead"}  # fmt: skip
    assert {title: normalize.seniority_of(title) for title in levels} == levels
    kinds = {
        "FullTime": "full_time",
        "Part-time": "part_time",
        "Contract": "contract",
        "Regular": "full_time",
        "?": "other",
    }
    assert {text: normalize.employment_of(text) for text in kinds} == kinds


def test_text_is_what_a_reader_sees() -> None:
    assert html_text.from_html("<p>a&nbsp;<b>b</b></p><ul><li>c</li><li>d</li></ul><script>x</script>") == "a b\nc\nd"
    assert html_text.from_escaped("&lt;p&gt;a &amp;amp; b&lt;/p&gt;") == "a & b"
    assert html_text.from_html("a\u200bb<!-- 7 -->") == "ab"
    assert html_text.from_html(None) == html_text.plain(None) == ""


def test_a_change_of_pay_or_place_counts_and_noise_does_not() -> None:
    before, text = facts_of(POSTING), str(POSTING.description)
    changes: list[tuple[dict[str, Any], bool]] = [
        ({"locations": ("Berlin", "Lyon")}, False),
        ({"title": "Engineer"}, False),
        ({"description": text.replace("120,000", "121,000")}, False),
        ({"description": text.replace("$100,000 - $120,000", "$100,000 to $120,000") + " Also $5."}, False),
        ({"description": f"{text} Hurry."}, True),
        ({"description": "Something else entirely. Salary: $100,000 - $120,000 per year."}, False),
    ]
    for changed, minor in changes:
        after = facts_of(replace(POSTING, **changed))
        assert digest_of(before) != digest_of(after)
        assert compare(before, after).minor is minor, changed
    for same in (
        replace(POSTING, locations=("Paris", "Berlin")), replace(POSTING, mark="2026"), replace(POSTING, url="https://b"),
        replace(POSTING, description=text.replace(" ", "\n ")), replace(POSTING, posted_at="2026-01-01"),
    ):  # fmt: skip
        assert digest_of(facts_of(same)) == digest_of(before)


@needs_corpora
def test_every_amount_in_real_postings_is_a_fact() -> None:
    told = [facts_of(Posting(external_id="1", url="", title=job.title, description=job.text)) for job in uber()[:150]]
    paid = [facts for facts in told if "base salary range" in facts.description]
    assert len(paid) > 50
    assert all(facts.salary and facts.salary.interval == "year" for facts in paid)
    texts = [(str(facts.salary and facts.salary.text), " ".join(facts.description.split())) for facts in paid]
    assert all(text in description for text, description in texts), "the original is kept"


def test_filters_are_words_and_the_gap_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Options().wants(POSTING)
    assert not Options(title_exclude=["senior"]).wants(POSTING)
    assert Options(title_include=["ENGINEER"], locations=["paris"]).wants(POSTING)
    assert not Options(title_include=["engine"]).wants(POSTING)
    assert not Options(remote=["remote"]).wants(replace(POSTING, remote="hybrid"))
    monkeypatch.delenv(GAP, raising=False)
    assert gap_seconds() == 2
    for wrong in ("x", "0", "nan", "99999"):
        monkeypatch.setenv(GAP, wrong)
        with pytest.raises(BadSetting, match=GAP):
            gap_seconds()


def test_cities_are_compared_without_their_countries() -> None:
    assert places_of(["Berlin, Germany", "PARIS"]) == places_of(["Paris, France", "Berlin"])
    assert places_of(["Paris, Texas"]) != places_of(["Lyon, France"])
    assert likeness("a b c d", "a b c d") == 1
    assert likeness("a b c d", "a b c e") == pytest.approx(1 / 3)


def test_a_table_has_no_formulas() -> None:
    rest: dict[str, Any] = dict.fromkeys(field.name for field in fields(PostingSummary))
    assert "'=1+1" in report.as_csv([PostingSummary(**rest | {"locations": ["A"], "title": "=1+1"})])
