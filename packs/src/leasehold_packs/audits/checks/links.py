"""Where the page leads, and what its links are called."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from leasehold_packs.audits.checks.evidence import Evidence, some
from leasehold_packs.audits.crawled_page import CrawledPage
from leasehold_packs.webfacts.page import Link

MOST_LINKS = 100
_LOCAL = re.compile(r"localhost|127(\.\d+){3}|\[::1\]|.*\.localhost", re.IGNORECASE)
_NOWHERE = re.compile(r"javascript:|file:|data:|about:|$", re.IGNORECASE)
# Words that say nothing about where a link leads, in the languages that pages have most.
_GENERIC = frozenset(
    word
    for words in (
        "click here|click this|go|here|information|learn more|more|more info|more information|read more",
        "right here|start|this|details|link|continue|weiter|mehr|mehr erfahren|weiterlesen|hier|hier klicken",
        "klicke hier|klicken sie hier|mehr lesen|aquí|haga clic aquí|más|más información|leer más|ver más|ici",
        "cliquez ici|en savoir plus|lire la suite|plus|qui|clicca qui|di più|leggi di più|scopri di più|aqui",
        "clique aqui|leia mais|mais|saiba mais|meer|lees meer|klik hier|tutaj|kliknij tutaj|więcej",
        "czytaj więcej|här|läs mer|klicka här|her|læs mere|klik her|les mer",
    )
    for word in words.split("|")
)


def link_text_empty(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(link.href for link in _followed(crawled) if not link.text)


def link_text_generic(crawled: CrawledPage) -> Iterator[Evidence]:
    """Links within the page and those that nobody shall follow need no words for search engines."""
    told = (link for link in _followed(crawled) if not link.nofollow and not link.href.startswith("#"))
    yield from some(f"{link.text}: {link.href}" for link in told if _plain(link.text) in _GENERIC)


def link_uncrawlable(crawled: CrawledPage) -> Iterator[Evidence]:
    """A link that only a script can follow."""
    yield from some(
        link.href or "(empty)" for link in crawled.page.links if link.url is None and _NOWHERE.match(link.href)
    )


def links_too_many(crawled: CrawledPage) -> Iterator[Evidence]:
    if len(crawled.page.links) > MOST_LINKS:
        yield {"count": len(crawled.page.links)}


def link_localhost(crawled: CrawledPage) -> Iterator[Evidence]:
    if not _LOCAL.fullmatch(crawled.host):
        yield from some(link.href for link in _followed(crawled) if _LOCAL.fullmatch(_host(link)))


def link_insecure(crawled: CrawledPage) -> Iterator[Evidence]:
    if crawled.visit.is_secure:
        yield from some(link.href for link in _followed(crawled) if (link.url or "").startswith("http:"))


def nofollow_internal(crawled: CrawledPage) -> Iterator[Evidence]:
    yield from some(link.href for link in _followed(crawled) if link.nofollow and crawled.is_internal(link.url or ""))


def _followed(crawled: CrawledPage) -> list[Link]:
    return [link for link in crawled.page.links if link.url]


def _host(link: Link) -> str:
    return urlsplit(link.url or "").hostname or ""


def _plain(text: str) -> str:
    return text.casefold().strip(" .…»›>→")


CHECKS = (
    link_text_empty,
    link_text_generic,
    link_uncrawlable,
    links_too_many,
    link_localhost,
    link_insecure,
    nofollow_internal,
)
