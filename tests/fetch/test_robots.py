"""What a site asks of programs."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.errors import FetchRefused
from leasehold.fetch.robots import (
    KEPT_SECONDS,
    MAX_BYTES,
    RETRY_SECONDS,
    Kept,
    Robots,
    Rules,
    product,
)
from leasehold.fetch.urls import parse_url
from tests.fetch.world import Site, World, moved, page, serving, world

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
RULES = b"User-agent: *\nDisallow: /private\n\nUser-agent: ExampleBot\nCrawl-delay: 2.5\nDisallow: /secret\n"


def allows(rules: Rules, path: str) -> bool:
    return rules.allow(parse_url(f"https://shop.test{path}"))


@pytest.mark.parametrize(
    ("status", "body", "allowed"),
    [
        (200, b"", True),
        (200, b"User-agent: *\nDisallow: /", False),
        (200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /", False),
        (200, b"\xff\xfe\x00<html>", True),
        (204, b"", True),
        (304, b"", True),
        (401, b"", True),
        (403, b"", True),
        (404, b"User-agent: *\nDisallow: /", True),
        (410, b"", True),
        (429, b"", False),
        (500, b"", False),
        (503, b"User-agent: *\nAllow: /", False),
    ],
)
def test_what_an_answer_means(status: int, body: bytes, allowed: bool) -> None:
    rules = Rules.read(status, body, user_agent=AGENT)
    assert allows(rules, "/page") is allowed
    assert allows(rules, "/robots.txt"), "the file itself may always be asked for"


def test_rules_are_those_for_our_name() -> None:
    ours, others = (Rules.read(200, RULES, user_agent=agent) for agent in (AGENT, "OtherBot/2"))
    assert (allows(ours, "/secret/x"), allows(ours, "/private")) == (False, True)
    assert (allows(others, "/secret/x"), allows(others, "/private")) == (True, False)
    assert (ours.crawl_delay, others.crawl_delay) == (2.5, None)


@pytest.mark.parametrize(
    ("agent", "path", "line"),
    [
        (AGENT, "/secret/x", "Disallow: /secret"),
        ("OtherBot/2", "/private", "Disallow: /private"),
        ("Third", "/a/b.php", "Disallow: /*.php$"),
    ],
)
def test_what_forbids_is_told(agent: str, path: str, line: str) -> None:
    file = (
        RULES + b"\nUser-agent: Fourth\nDisallow: /secret/x/y\n\nUser-agent: third\nDisallow: /a.\nDisallow: /*.php$\n"
    )
    rules = Rules.read(200, file, user_agent=agent)
    assert not allows(rules, path)
    assert rules.forbidding(parse_url(f"https://shop.test{path}")) == line


def test_what_is_past_the_limit_is_not_read() -> None:
    body = b"#" * MAX_BYTES + b"\nUser-agent: *\nDisallow: /"
    assert allows(Rules.read(200, body, user_agent=AGENT), "/")


@pytest.mark.parametrize("agents", [[f"bot{n}" for n in range(12_000)], ["*", "ExampleBot"] * 6000])
def test_a_file_cannot_keep_us_busy(agents: list[str]) -> None:
    body = "".join([*(f"User-agent: {name}\nSitemap: x\n" for name in agents), *["Disallow: /a*b*c\n"] * 5000])
    assert len(body) < MAX_BYTES
    started = time.process_time()
    assert allows(Rules.read(200, body.encode(), user_agent=AGENT), "/" + "a" * 1000)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("agent", "name"), [(AGENT, "ExampleBot"), ("leasehold", "leasehold"), ("a b", "a"), ("", "*")]
)
def test_our_name_is_the_first_word_of_what_we_call_ourselves(agent: str, name: str) -> None:
    assert product(agent) == name


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Nowhere:
    """Keeps nothing: what is asked twice was asked of the site, or is in memory."""

    async def load(self, origin: str, since: datetime | None) -> Kept | None:
        return None

    async def keep(self, origin: str, kept: Kept) -> None:
        assert kept.seconds in (KEPT_SECONDS, RETRY_SECONDS)


class Asker:
    def __init__(self, w: World, clock: Clock) -> None:
        self._robots = Robots(w.fetcher, clock=clock)

    async def rules(self, url: str, *, since: datetime | None = None) -> Rules:
        return await self._robots.rules(parse_url(url), user_agent=AGENT, store=Nowhere(), since=since)


def robots(w: World, clock: Clock) -> Asker:
    return Asker(w, clock)


async def test_a_file_is_fetched_once_a_day() -> None:
    site, clock = Site({"/robots.txt": page(RULES)}), Clock()
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        asker = robots(w, clock)
        await asyncio.gather(*(asker.rules(f"http://shop.test/{n}") for n in range(20)))
        assert len(site.asked) == 1
        clock.now += KEPT_SECONDS
        await asker.rules("http://shop.test/")
        assert len(site.asked) == 2


async def test_a_file_that_was_read_before_a_moment_is_read_again_once() -> None:
    site, clock = Site({"/robots.txt": page(RULES)}), Clock()
    run = datetime(2026, 1, 1, tzinfo=UTC)
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        asker = robots(w, clock)
        assert allows(await asker.rules("http://shop.test/"), "/closed")
        site.pages["/robots.txt"] = page(b"User-agent: *\nDisallow: /closed\n")
        assert allows(await asker.rules("http://shop.test/"), "/closed"), "it holds for a day"
        for _ in range(3):
            assert not allows(await asker.rules("http://shop.test/", since=run), "/closed")
        assert len(site.asked) == 2
        await asker.rules("http://shop.test/", since=run - timedelta(days=1))
        assert len(site.asked) == 2, "it is younger than that"
        await asker.rules("http://shop.test/", since=run + timedelta(seconds=1))
        assert len(site.asked) == 3


async def test_what_is_kept_is_bounded_and_the_oldest_goes_first() -> None:
    site = Site({"/robots.txt": page(b"#" * 400_000)})
    async with world() as w, serving(site) as server:
        asker = robots(w, Clock())
        for n in range(11):
            w.put(f"shop{n}.test", server)
            await asker.rules(f"http://shop{n}.test/")
        assert len(site.asked) == 11
        await asker.rules("http://shop10.test/")
        assert len(site.asked) == 11
        await asker.rules("http://shop0.test/")
        assert len(site.asked) == 12


async def test_a_site_in_trouble_is_left_alone_for_a_while() -> None:
    site, clock = Site({"/robots.txt": page(b"", status="503 Busy")}), Clock()
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        asker = robots(w, clock)
        assert not allows(await asker.rules("http://shop.test/"), "/")
        site.pages["/robots.txt"] = page(RULES)
        assert not allows(await asker.rules("http://shop.test/"), "/")
        clock.now += RETRY_SECONDS
        assert allows(await asker.rules("http://shop.test/"), "/")


async def test_a_site_that_cannot_be_reached_allows_nothing() -> None:
    async with world() as w:
        assert not allows(await robots(w, Clock()).rules("http://gone.test/"), "/")


async def test_a_refused_host_is_refused() -> None:
    async with world() as w:
        w.names.answers["db.internal"] = ["10.0.0.1"]
        with pytest.raises(FetchRefused):
            await robots(w, Clock()).rules("http://db.internal/")


@pytest.mark.parametrize("answer", [moved("/robots.txt"), page(b"x", "Content-Encoding: br")])
async def test_a_file_that_cannot_be_read_is_no_file(answer: bytes) -> None:
    async with world() as w, serving(Site({"/robots.txt": answer})) as server:
        w.put("shop.test", server)
        assert allows(await robots(w, Clock()).rules("http://shop.test/"), "/")


async def test_each_origin_has_its_own_file() -> None:
    async with world() as w, serving(Site({"/robots.txt": page(RULES)})) as server:
        w.put("shop.test", server)
        asker = robots(w, Clock())
        assert not allows(await asker.rules("http://shop.test/"), "/secret")
        assert not allows(await asker.rules("https://shop.test/"), "/"), "nobody answers there"
