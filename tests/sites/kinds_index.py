"""Kinds of fault in what a page and the sitemap say to search engines, and of translations."""

import random

from tests.sites.model import Draft, Element, kind
from tests.sites.site_draft import SiteDraft

_GOOGLE = "https://developers.google.com/search/docs/"
_CANONICAL = f"{_GOOGLE}crawling-indexing/consolidate-duplicate-urls"
_SITEMAP = f"{_GOOGLE}crawling-indexing/sitemaps/build-sitemap"
_HREFLANG = f"{_GOOGLE}specialty/international/localized-versions"
_ROBOTS = f"{_GOOGLE}crawling-indexing/robots-meta-tag"


@kind("the page asks not to be indexed", _ROBOTS)
def noindex(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _hide(page, site, dice)
    site.unlisted.add(page.url)


@kind("the sitemap names a page that asks not to be indexed", _SITEMAP)
def sitemap_noindex(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _hide(page, site, dice)
    site.mark(page, "sitemap_noindex")


def _hide(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    if dice.random() < 0.5:
        page.robots = dice.choice(("noindex", "NOINDEX, follow", "none"))
    else:
        page.headers["X-Robots-Tag"] = "noindex"
    site.mark(page, "noindex")


@kind("a page is linked that robots.txt closes", "https://www.rfc-editor.org/rfc/rfc9309")
def robots_blocked(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.disallowed.append(page.url.removeprefix(site.origin))
    site.unlisted.add(page.url)
    site.mark(page, "robots_blocked")


@kind("the sitemap names a page that robots.txt closes", _SITEMAP)
def sitemap_blocked(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.disallowed.append(page.url.removeprefix(site.origin))
    site.mark(page, "robots_blocked", "sitemap_blocked")


@kind("the sitemap names an address that answers with an error", _SITEMAP)
def sitemap_error(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    url = site.gone()
    site.listed.append(url)
    site.mark(url, "sitemap_error")


@kind("the sitemap names an address that redirects", _SITEMAP)
def sitemap_redirect(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    url = site.moved(page.url)
    site.listed.append(url)
    site.mark(url, "sitemap_redirect")


@kind("the sitemap names a page that names another one as canonical", _SITEMAP)
def sitemap_not_canonical(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals = [site.partner().url]
    site.mark(page, "sitemap_not_canonical")


@kind("no canonical address", _CANONICAL, slot="canonical")
def canonical_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals = []


@kind("a canonical address without scheme and host", _CANONICAL, slot="canonical")
def canonical_relative(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals = [page.url.removeprefix(site.origin)]


@kind("two canonical addresses", _CANONICAL)
def canonical_multiple(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals.append(site.partner().url)
    site.unlisted.add(page.url)
    site.mark(page, "canonical_multiple")


@kind("the header names another canonical address than the page", _CANONICAL, slot="canonical")
def canonical_conflict(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.headers["Link"] = f'<{site.partner().url}>; rel="canonical"'


@kind("the canonical address redirects", _CANONICAL)
def canonical_to_redirect(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _canonical(page, site, site.moved(site.home.url), "canonical_to_redirect")


@kind("the canonical address answers with an error", _CANONICAL)
def canonical_to_error(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _canonical(page, site, site.gone(), "canonical_to_error")


@kind("the canonical page asks not to be indexed", _CANONICAL)
def canonical_to_noindex(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = site.partner()
    noindex(other, site, dice)
    _canonical(page, site, other.url, "canonical_to_noindex")


@kind("the canonical page names a third one", _CANONICAL)
def canonical_to_other(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    second, third = site.partner(), site.partner()
    second.canonicals = [third.url]
    site.unlisted.add(second.url)
    _canonical(page, site, second.url, "canonical_to_other")


@kind("robots.txt closes the canonical page", _CANONICAL)
def canonical_to_blocked(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = site.partner()
    robots_blocked(other, site, dice)
    _canonical(page, site, other.url, "canonical_to_blocked")


@kind("a page of a section names the start page as canonical", _CANONICAL)
def canonical_to_home(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _canonical(page, site, site.home.url, "canonical_to_home")


@kind("the canonical address names a place in a page", _CANONICAL, slot="canonical")
def canonical_fragment(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals = [f"{page.url}#{site.token()}"]


@kind("the canonical element stands in the body", _CANONICAL)
def canonical_in_body(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(Element("link", {"rel": "canonical", "href": page.url}))
    page.canonicals = []
    site.mark(page, "canonical_in_body", "canonical_missing")


def _canonical(page: Draft, site: SiteDraft, to: str, name: str) -> None:
    page.canonicals = [to]
    site.unlisted.add(page.url)
    site.mark(page, name)


@kind("the second page of a list names the first one as canonical",
      f"{_GOOGLE}specialty/ecommerce/pagination-and-incremental-page-loading")  # fmt: skip
def pagination_canonical(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    second = site.new_page(f"{page.url.removeprefix(site.origin)}?page=2", page.language, page)
    site.link(
        page,
        site.new_page(f"{page.url.removeprefix(site.origin)}?page=3", page.language, second).url,
    )
    _canonical(second, site, page.url, "pagination_canonical")


def translations(page: Draft, site: SiteDraft) -> list[Draft]:
    """Three pages that name each other; the text of each stays in its language."""
    group = [page, site.partner(), site.partner()]
    regions = ("", "-CH", "-BE")
    names = [f"{one.language}{region}" for one, region in zip(group, regions, strict=True)]
    for one in group:
        one.alternates = [(name, other.url) for name, other in zip(names, group, strict=True)]
        one.alternates.append(("x-default", page.url))
    return group


@kind("a translation in a language or a region that is none", _HREFLANG)
def hreflang_invalid(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    translations(page, site)
    wrong = dice.choice(
        (f"{page.language}-UK", f"{page.language}-EUU1", f"{page.language}_{page.language.upper()}")
    )
    page.alternates.append((wrong, page.url))
    site.mark(page, "hreflang_invalid")


@kind("a translation by a relative address", _HREFLANG)
def hreflang_relative(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    translations(page, site)
    name, href = page.alternates[1]
    page.alternates[1] = (name, href.removeprefix(site.origin))
    site.mark(page, "hreflang_relative")


@kind("the page is not among its translations", _HREFLANG)
def hreflang_no_self(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _, other, third = translations(page, site)
    for one in (page, other, third):
        one.alternates[-1] = ("x-default", third.url)
    page.alternates = [(name, href) for name, href in page.alternates if href != page.url]
    site.mark(page, "hreflang_no_self")


@kind("no translation for all others", _HREFLANG)
def hreflang_no_default(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    translations(page, site)
    page.alternates.pop()
    site.mark(page, "hreflang_no_default")


@kind("a translation does not name the page", _HREFLANG)
def hreflang_no_return(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _, other, third = translations(page, site)
    other.alternates = []
    site.mark(page, "hreflang_no_return")
    site.mark(third, "hreflang_no_return")


@kind("a translation says that it is in another language", _HREFLANG)
def hreflang_mismatch(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    group = translations(page, site)
    wrong = dice.choice(("nl", "pt", "it"))
    for one in group:
        one.alternates[1] = (wrong, one.alternates[1][1])
        site.mark(one, "hreflang_mismatch")


@kind("a translation answers with an error", _HREFLANG)
def hreflang_to_error(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    translations(page, site)
    page.alternates.append(("it", site.gone()))
    site.mark(page, "hreflang_to_error")


@kind("a translation redirects", _HREFLANG)
def hreflang_to_redirect(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    group = translations(page, site)
    page.alternates.append(("it", site.moved(group[1].url)))
    site.mark(page, "hreflang_to_redirect")


@kind("a translation asks not to be indexed", _HREFLANG)
def hreflang_to_noindex(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    _, other, third = translations(page, site)
    noindex(other, site, dice)
    site.mark(page, "hreflang_to_noindex")
    site.mark(third, "hreflang_to_noindex")
