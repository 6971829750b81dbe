"""The judge itself: what is planted stands in the bytes, and nothing else is wrong."""

import ast
import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sites.builder import SIZES, BuiltSite, build, truth
from tests.sites.kinds import KINDS, TWINS
from tests.sites.model import Answer
from tests.sites.seen import Web
from tests.sites.server import serving
from tests.sites.witnesses import OF_ANSWERS, OF_PAGES, kinds_in

Wrong = set[tuple[str, str]]
BUILT = build(7, 2)


def disagreements(site: BuiltSite, answers: dict[str, Answer] | None = None) -> tuple[Wrong, Wrong]:
    """Planted kinds that do not stand in the bytes, and kinds that only stand there."""
    web = Web(answers or site.answers, site.home, list(site.truth))
    lacking: Wrong = set()
    extra: Wrong = set()
    for url, page in web.seen.items():
        found = kinds_in(web, page)
        lacking |= {(kind, url) for kind in site.truth[url] - found}
        extra |= {(kind, url) for kind in found - site.truth[url]}
    return lacking, extra


def test_there_are_sixty_kinds_twenty_twins_and_five_sizes() -> None:
    assert len(KINDS) >= 60
    assert len(TWINS) >= 20
    assert (len(SIZES), SIZES[0], SIZES[-1]) == (5, 12, 5000)
    assert KINDS.keys() == OF_ANSWERS.keys() | OF_PAGES.keys(), "each kind has a witness"
    assert {one.of for one in TWINS.values()} <= KINDS.keys()
    assert all(one.what and one.reference.startswith("https://") for one in KINDS.values())
    assert all(one.what for one in TWINS.values())


@pytest.mark.parametrize(("size", "seeds"), [(0, range(10)), (1, range(2)), (2, range(7, 8))])
def test_what_is_planted_stands_in_the_bytes_and_nothing_else(size: int, seeds: range) -> None:
    for seed in seeds:
        assert disagreements(build(seed, size)) == (set(), set()), f"seed {seed}"


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 2, 3])
def test_other_seeds_and_a_larger_site_hold_what_is_planted(size: int) -> None:
    for seed in range(100, 103 if size < 3 else 101):
        assert disagreements(build(seed, size)) == (set(), set()), f"seed {seed}"


def test_a_site_of_four_hundred_pages_has_all_kinds_and_all_twins() -> None:
    site = BUILT
    of_pages = {name for name, one in KINDS.items() if not one.of_site}
    assert of_pages <= site.kinds
    assert set(site.twins.values()) == TWINS.keys()
    clean = [url for url, kinds in site.truth.items() if not kinds]
    assert len(clean) > len(site.truth) / 3


def test_a_seed_gives_the_same_site_and_another_seed_another_one() -> None:
    assert build(3, 1).answers == build(3, 1).answers
    assert truth(3, 1) == build(3, 1).truth
    assert build(3, 1).kinds != build(4, 1).kinds
    assert len({build(seed, 0).home for seed in range(5)}) == 5


def test_a_fault_that_is_not_planted_where_it_should_be_is_found() -> None:
    """The judge of the judge: each planted title, header or address that is put right shows."""
    site = BUILT
    clean = next(url for url, kinds in site.truth.items() if not kinds and url not in site.twins)
    mended = {
        (kind, next(url for url, kinds in site.truth.items() if kind in kinds))
        for kind in ("title_missing", "hsts_missing", "status_client_error", "sitemap_noindex")
    }
    answers = site.answers | {url: site.answers[clean] for _, url in mended}
    lacking, _ = disagreements(site, answers)
    assert mended <= lacking


def test_a_fault_that_stands_where_none_is_planted_is_found() -> None:
    site = build(7, 1)
    url = next(
        url
        for url, kinds in site.truth.items()
        if not kinds and url not in site.twins and url != site.home
    )
    answer = site.answers[url]
    spoiled = {
        "noindex": replace(answer, headers={**answer.headers, "X-Robots-Tag": "noindex"}),
        "server_leak": replace(answer, headers={**answer.headers, "Server": "nginx/1.18.0"}),
        "status_client_error": replace(answer, status=404),
        "slow_first_byte": replace(answer, delay_s=2),
        "image_alt_missing": replace(
            answer, body=answer.body + b"<p><img src='/favicon.ico' width=1 height=1></p>"
        ),
        "link_broken": replace(
            answer, body=answer.body + b"<p><a href='/not-there'>a page</a></p>"
        ),
    }
    for kind, one in spoiled.items():
        _, extra = disagreements(site, {**site.answers, url: one})
        assert (kind, url) in extra


def test_the_judge_imports_nothing_of_what_it_judges() -> None:
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.partition(".")[0]
                is_ours = name.startswith("tests.sites")
                assert is_ours or top in {*sys.stdlib_module_names, "pytest", "protego"}, (
                    f"{path.name}: {name}"
                )


async def test_a_site_is_served_with_status_headers_and_hosts() -> None:
    page = Answer(status=404, headers={"X-A": "b"}, body=b"gone")
    async with serving(
        {"http://a.example/x": page, "http://b.example/x": Answer(body=b"other")}
    ) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 404 Not Found\r\n")
        assert b"X-A: b" in head
        assert await reader.readexactly(4) == b"gone"
        writer.write(
            b"HEAD /x HTTP/1.1\r\nhost: b.example\r\n\r\nGET /x HTTP/1.1\r\nhost: b.example\r\n\r\n"
        )
        assert b"Content-Length: 5" in await reader.readuntil(b"\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")
        assert await reader.readexactly(5) == b"other"
        writer.close()
