"""For each kind of fault whether it stands in the bytes of an address."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from itertools import pairwise
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from tests.sites.seen import Seen, Web

Witness = Callable[[Web, Seen], bool]
_LOCAL = ("localhost", "127.0.0.1")
_GENERIC = {"read more", "mehr erfahren", "en savoir plus", "leer más", "подробнее"}
_NOT_FOUND = re.compile(
    "not found|nicht gefunden|introuvable|no encontrada|не найдена", re.IGNORECASE
)
_SPOKEN = {
    "en": {"the", "is", "and", "it", "was", "has", "they"},
    "de": {"die", "ist", "und", "nicht", "das", "der", "dem"},
    "fr": {"est", "les", "et", "une", "dans", "avec", "pour"},
    "es": {"el", "los", "que", "una", "es", "para", "del"},
}
_TYPES = {"Product", "Offer", "AggregateOffer", "Organization"}
_LANGUAGE = re.compile(r"(en|de|fr|es|ru|it|nl|pt)(-(Latn|Cyrl))?(-(GB|CH|BE|RU))?")
_AWAY = re.compile(r"^\s*(window\.)?location(\.href)?\s*=|^\s*location\.replace\(")


def _own_links(web: Web, page: Seen) -> list[str]:
    return [url for _, url in page.links if web.is_own(url)]


def _sources(page: Seen, *names: str) -> list[str]:
    return [urljoin(page.url, one.get("src")) for one in page.all(*names) if one.get("src")]


def _srcset(page: Seen) -> Iterator[str]:
    for one in page.all("img"):
        for candidate in filter(None, one.get("srcset").split(",")):
            yield urljoin(page.url, candidate.split()[0])


def _levels(page: Seen) -> list[int]:
    return [int(one.name[1]) for one in page.all("h1", "h2", "h3", "h4", "h5", "h6")]


def _spoken(page: Seen) -> str | None:
    words = Counter(page.text.lower().split())
    if sum("а" <= letter <= "я" for letter in page.text.lower()) > len(page.text) / 3:
        return "ru"
    counts = {name: sum(words[word] for word in known) for name, known in _SPOKEN.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 10 else None


def _things(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "@type" in value:
            yield value
        for inner in value.values():
            yield from _things(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _things(inner)


def _is_incomplete(thing: dict[str, Any]) -> bool:
    return thing["@type"] == "Product" and not (
        thing.get("name") and any(thing.get(one) for one in ("offers", "review", "aggregateRating"))
    )


def _has_wrong_value(thing: dict[str, Any]) -> bool:
    try:
        float(thing.get("price", 0))
        date.fromisoformat(thing.get("releaseDate", "2024-01-01"))
    except ValueError:
        return True
    return False


def _canonical_of(web: Web, page: Seen) -> Seen | None:
    return web.seen.get(page.canonical) if page.is_page and page.canonical != page.url else None


def _translations(web: Web, page: Seen) -> list[tuple[str, str, Seen | None]]:
    """Names and addresses, and the pages that are there at once."""
    found = []
    for name, href in page.alternates:
        url = urljoin(page.url, href)
        there = web.seen.get(url)
        found.append((name, url, there if there and there.is_page else None))
    return found


def _policy(page: Seen) -> str:
    return page.header("content-security-policy")


def _has_late_charset(page: Seen) -> bool:
    at = re.search(rb"<meta[^>]*charset", page.answer.body, re.IGNORECASE)
    return bool(at and at.start() > 1024)


def _is_shared(what: str) -> Witness:
    return lambda web, page: (
        page.is_listed and bool(said := web.said(page, what)) and web.alike(what)[said] > 1
    )


def _first(values: list[str]) -> str:
    return values[0] if values else ""


#: Of an answer of any kind.
OF_ANSWERS: dict[str, Witness] = {
    "status_client_error": lambda web, page: 400 <= page.answer.status < 500,
    "status_server_error": lambda web, page: page.answer.status >= 500,
    "redirect_chain": lambda web, page: (
        web.follow(page.url)[0] > 1 and web.follow(page.url)[1] is not None
    ),
    "redirect_loop": lambda web, page: web.follow(page.url)[1] is None,
    "redirect_temporary": lambda web, page: page.answer.status in (302, 303, 307),
    "slow_first_byte": lambda web, page: page.answer.delay_s > 0.8,
    "large_body": lambda web, page: len(page.answer.body) > 2_000_000,
    "wrong_media_type": lambda web, page: (
        page.answer.status == 200
        and not page.is_page
        and b"<html" in page.answer.body[:500].lower()
    ),
    "robots_blocked": lambda web, page: web.is_blocked(page.url),
    "sitemap_blocked": lambda web, page: page.url in web.sitemap and web.is_blocked(page.url),
    "sitemap_error": lambda web, page: page.url in web.sitemap and page.answer.status >= 400,
    "sitemap_redirect": lambda web, page: (
        page.url in web.sitemap and 300 <= page.answer.status < 400
    ),
    "sitemap_noindex": lambda web, page: page.url in web.sitemap and page.is_hidden,
    "https_not_enforced": lambda web, page: (
        page.url == web.home and web.answers[page.url.replace("https", "http")].status == 200
    ),
    "favicon_missing": lambda web, page: (
        page.url == web.home and web.is_broken(f"{page.url}favicon.ico")
    ),
    "url_session": lambda web, page: bool(re.search("sess|[?&]sid=", page.url, re.IGNORECASE)),
    "url_unreadable": lambda web, page: bool(re.search("[A-Z_]|%20", urlsplit(page.url).path)),
}

#: Of a page of HTML.
OF_PAGES: dict[str, Witness] = {
    "title_missing": lambda web, page: not _first(page.titles),
    "title_short": lambda web, page: 0 < len(_first(page.titles)) < 20,
    "title_long": lambda web, page: len(_first(page.titles)) > 70,
    "title_multiple": lambda web, page: len(page.titles) > 1,
    "title_duplicate": _is_shared("title"),
    "description_missing": lambda web, page: not page.meta("description"),
    "description_short": lambda web, page: 0 < len(_first(page.meta("description"))) < 60,
    "description_long": lambda web, page: len(_first(page.meta("description"))) > 200,
    "description_multiple": lambda web, page: len(page.meta("description")) > 1,
    "description_duplicate": _is_shared("description"),
    "viewport_missing": lambda web, page: not page.meta("viewport"),
    "viewport_fixed": lambda web, page: bool(
        re.search(r"user-scalable=(no|0)|maximum-scale=1\b", _first(page.meta("viewport")))
    ),
    "charset_missing": lambda web, page: not page.charset and not _has_late_charset(page),
    "charset_late": lambda web, page: _has_late_charset(page),
    "charset_wrong": lambda web, page: "\ufffd" in page.source,
    "doctype_missing": lambda web, page: page.begins != "doctype html",
    "meta_in_body": lambda web, page: any(not one.in_head for one in page.all("meta")),
    "duplicate_ids": lambda web, page: any(
        times > 1
        for times in Counter(one.get("id") for one in page.nodes if one.get("id")).values()
    ),
    "render_blocking": lambda web, page: any(
        one.in_head
        and one.get("src")
        and one.get("type") != "module"
        and not {"defer", "async"} & one.attributes.keys()
        for one in page.all("script")
    ),
    "lang_missing": lambda web, page: not page.all("html")[0].get("lang"),
    "lang_invalid": lambda web, page: (
        bool(lang := page.all("html")[0].get("lang")) and not _LANGUAGE.fullmatch(lang)
    ),
    "lang_mismatch": lambda web, page: (
        bool(_LANGUAGE.fullmatch(lang := page.all("html")[0].get("lang")))
        and _spoken(page) not in (None, lang.partition("-")[0])
    ),
    "json_ld_invalid": lambda web, page: None in page.data,
    "structured_incomplete": lambda web, page: any(
        _is_incomplete(one) for one in _things(page.data)
    ),
    "structured_wrong_value": lambda web, page: any(
        _has_wrong_value(one) for one in _things(page.data)
    ),
    "structured_wrong_type": lambda web, page: any(
        one["@type"] not in _TYPES for one in _things(page.data)
    ),
    "h1_missing": lambda web, page: not any(one.text for one in page.all("h1")),
    "h1_multiple": lambda web, page: len(page.all("h1")) > 1,
    "h1_duplicate": _is_shared("h1"),
    "heading_order": lambda web, page: any(b > a + 1 for a, b in pairwise(_levels(page))),
    "thin": lambda web, page: len(page.text.split()) < 150,
    "placeholder": lambda web, page: "ipsum dolor sit amet" in page.text,
    "exact_duplicate": _is_shared("text"),
    "near_duplicate": lambda web, page: page.url in web.near,
    "soft_404": lambda web, page: any(
        _NOT_FOUND.search(one) for one in [*page.titles, web.said(page, "h1")]
    ),
    "image_alt_missing": lambda web, page: any(
        "alt" not in one.attributes for one in page.all("img")
    ),
    "image_alt_long": lambda web, page: any(len(one.get("alt")) > 150 for one in page.all("img")),
    "image_unsized": lambda web, page: any(
        not (one.get("width") and one.get("height")) for one in page.all("img")
    ),
    "image_large": lambda web, page: any(
        (answer := web.follow(url)[1]) is not None and len(answer.body) > 500_000
        for url in _sources(page, "img")
    ),
    "image_broken": lambda web, page: any(web.is_broken(url) for url in _sources(page, "img")),
    "srcset_broken": lambda web, page: any(web.is_broken(url) for url in _srcset(page)),
    "stylesheet_broken": lambda web, page: any(
        one.get("rel") == "stylesheet" and web.is_broken(one.get("href"))
        for one in page.all("link")
    ),
    "script_broken": lambda web, page: any(web.is_broken(url) for url in _sources(page, "script")),
    "link_broken": lambda web, page: any(web.is_broken(url) for url in _own_links(web, page)),
    "link_broken_outside": lambda web, page: any(
        url.startswith("http")
        and not web.is_own(url)
        and urlsplit(url).hostname not in _LOCAL
        and web.is_broken(url)
        for _, url in page.links
    ),
    "link_to_redirect": lambda web, page: any(
        web.follow(url)[0] > 0 and not web.is_broken(url) for url in _own_links(web, page)
    ),
    "fragment_broken": lambda web, page: any(
        _is_nowhere(web, url) for url in _own_links(web, page)
    ),
    "link_text_empty": lambda web, page: any(
        not one.text and not one.get("aria-label") for one, _ in page.links
    ),
    "link_text_generic": lambda web, page: any(one.text in _GENERIC for one, _ in page.links),
    "link_uncrawlable": lambda web, page: any(
        one.get("href").startswith("javascript:") for one, _ in page.links
    ),
    "links_too_many": lambda web, page: len(page.links) > 130,
    "link_localhost": lambda web, page: any(
        urlsplit(url).hostname in _LOCAL for _, url in page.links
    ),
    "link_insecure": lambda web, page: any(
        url.startswith("http:") and urlsplit(url).hostname not in _LOCAL for _, url in page.links
    ),
    "nofollow_internal": lambda web, page: any(
        "nofollow" in one.get("rel").split() and web.is_own(url) for one, url in page.links
    ),
    "orphan": lambda web, page: (
        page.is_listed and page.url != web.home and not web.linked_from.get(page.url)
    ),
    "deep": lambda web, page: web.clicks.get(page.url, 0) > 4,
    "noindex": lambda web, page: page.is_hidden,
    "sitemap_not_canonical": lambda web, page: (
        page.url in web.sitemap and page.canonical != page.url
    ),
    "canonical_missing": lambda web, page: (
        not page.canonicals and "canonical" not in page.header("link")
    ),
    "canonical_relative": lambda web, page: any(
        not one.startswith("http") for one in page.canonicals
    ),
    "canonical_multiple": lambda web, page: len(set(page.canonicals)) > 1,
    "canonical_conflict": lambda web, page: (
        bool(page.canonicals and page.header("link"))
        and f"<{page.canonicals[0]}>" not in page.header("link")
    ),
    "canonical_to_redirect": lambda web, page: (
        page.canonical != page.url and web.follow(page.canonical)[0] > 0
    ),
    "canonical_to_error": lambda web, page: (
        page.canonical != page.url and web.is_broken(page.canonical)
    ),
    "canonical_to_noindex": lambda web, page: bool(
        (to := _canonical_of(web, page)) and to.is_hidden
    ),
    "canonical_to_other": lambda web, page: bool(
        (to := _canonical_of(web, page)) and to.canonical != to.url
    ),
    "canonical_to_blocked": lambda web, page: bool(
        _canonical_of(web, page) and web.is_blocked(page.canonical)
    ),
    "canonical_to_home": lambda web, page: (
        page.canonical == web.home and len(page.canonicals) == 1 and page.url != web.home
    ),
    "canonical_fragment": lambda web, page: any("#" in one for one in page.canonicals),
    "canonical_in_body": lambda web, page: any(
        one.get("rel") == "canonical" and not one.in_head for one in page.all("link")
    ),
    "pagination_canonical": lambda web, page: "page=" in page.url and "page=" not in page.canonical,
    "hreflang_invalid": lambda web, page: any(
        name != "x-default" and not _LANGUAGE.fullmatch(name) for name, _ in page.alternates
    ),
    "hreflang_relative": lambda web, page: any(
        not href.startswith("http") for _, href in page.alternates
    ),
    "hreflang_no_self": lambda web, page: (
        bool(page.alternates)
        and all(urljoin(page.url, href) != page.url for _, href in page.alternates)
    ),
    "hreflang_no_default": lambda web, page: (
        bool(page.alternates) and all(name != "x-default" for name, _ in page.alternates)
    ),
    "hreflang_no_return": lambda web, page: any(
        to
        and not to.is_hidden
        and page.url not in [urljoin(to.url, href) for _, href in to.alternates]
        for _, _, to in _translations(web, page)
    ),
    "hreflang_mismatch": lambda web, page: any(
        to and name != "x-default" and name[:2] != to.all("html")[0].get("lang")[:2]
        for name, _, to in _translations(web, page)
    ),
    "hreflang_to_error": lambda web, page: any(
        web.is_broken(url) for _, url, _ in _translations(web, page)
    ),
    "hreflang_to_redirect": lambda web, page: any(
        web.follow(url)[0] for _, url, _ in _translations(web, page)
    ),
    "hreflang_to_noindex": lambda web, page: (
        any(to and to.is_hidden and to is not page for _, _, to in _translations(web, page))
        and not page.is_hidden
    ),
    "hsts_missing": lambda web, page: page.header("strict-transport-security") in ("", "max-age=0"),
    "csp_missing": lambda web, page: not _policy(page),
    "nosniff_missing": lambda web, page: page.header("x-content-type-options") != "nosniff",
    "clickjacking": lambda web, page: (
        "frame-ancestors" not in _policy(page) and not page.header("x-frame-options")
    ),
    "server_leak": lambda web, page: bool(
        re.search(r"\d\.\d", page.header("server") + page.header("x-powered-by"))
    ),
    "form_insecure": lambda web, page: any(
        one.get("action").startswith("http:") for one in page.all("form")
    ),
    "mixed_content": lambda web, page: any(
        url.startswith("http:") for url in _sources(page, "script", "iframe", "img")
    ),
    "meta_refresh": lambda web, page: any(
        one.get("http-equiv").lower() == "refresh" for one in page.all("meta")
    ),
    "script_redirect": lambda web, page: any(
        _AWAY.search("".join(one.words)) for one in page.all("script")
    ),
}


def _is_nowhere(web: Web, url: str) -> bool:
    to, fragment = urldefrag(url)
    there = web.seen.get(to)
    if not there or not there.is_page or fragment in ("", "top") or fragment.startswith(":~:"):
        return False
    places = {one.get("id") or one.get("name") for one in there.nodes}
    return fragment.replace("%20", " ") not in places


def kinds_in(web: Web, page: Seen) -> frozenset[str]:
    """All kinds of fault that stand in the bytes."""
    known = OF_ANSWERS | OF_PAGES if page.is_page else OF_ANSWERS
    return frozenset(name for name, witness in known.items() if witness(web, page))
