"""Kinds of fault in links, and in the addresses of pages."""

import random

from tests.sites.model import Draft, Element, kind
from tests.sites.site_draft import SiteDraft

_GOOGLE = "https://developers.google.com/search/docs/"
_WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
_HTML = "https://html.spec.whatwg.org/multipage/"
_WORDS = {
    "en": "read more",
    "de": "mehr erfahren",
    "fr": "en savoir plus",
    "es": "leer más",
    "ru": "подробнее",
}


@kind(
    "an address that is linked and answers with 404 or 410",
    "https://www.rfc-editor.org/rfc/rfc9110#name-404-not-found",
)
def status_client_error(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, site.gone(dice.choice((404, 410))))
    site.mark(page, "link_broken")


@kind(
    "an address that is linked and answers with 500",
    "https://www.rfc-editor.org/rfc/rfc9110#name-500-internal-server-error",
)
def status_server_error(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, site.gone(500))
    site.mark(page, "link_broken")


@kind(
    "a link to an address that answers with an error",
    f"{_GOOGLE}crawling-indexing/http-network-errors",
    slot="link",
)
def link_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, site.gone(404))


@kind(
    "a link to another site whose page is not there",
    f"{_GOOGLE}crawling-indexing/links-crawlable",
    slot="outside",
)
def link_broken_outside(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, f"https://{site.other}/gone-{site.token()}")


@kind(
    "a link to an address that has moved for good",
    f"{_GOOGLE}crawling-indexing/301-redirects",
    slot="link",
)
def link_to_redirect(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, site.moved(site.home.url, dice.choice((301, 308))))


@kind(
    "a link to a place that the page does not have",
    f"{_HTML}browsing-the-web.html#scroll-to-fragid",
    slot="fragment",
)
def fragment_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, f"{dice.choice(('', site.home.url))}#{site.token()}")


@kind("a link without words", f"{_WCAG}link-purpose-in-context", slot="words")
def link_text_empty(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    inner = dice.choice(((), (Element("i", {"class": "icon"}),), (" ",)))
    page.add_link(site.home.url, *inner)


@kind(
    "a link whose words say nothing",
    "https://developer.chrome.com/docs/lighthouse/seo/link-text",
    slot="words",
)
def link_text_generic(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.add_link(site.home.url, _WORDS[page.language])


@kind(
    "a link that only a script can follow",
    f"{_GOOGLE}crawling-indexing/links-crawlable",
    slot="uncrawlable",
)
def link_uncrawlable(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.add_link(
        dice.choice(("javascript:void(0)", f"javascript:go('{site.token()}')")), site.token()
    )


@kind(
    "a hundred and forty links",
    "https://www.bing.com/webmasters/help/webmasters-guidelines-30fba23a",
    slot="many",
)
def links_too_many(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    for _ in range(140):
        site.link(page, site.home.url)


@kind(
    "a link to the machine of whoever wrote the page",
    "https://www.rfc-editor.org/rfc/rfc6761#section-6.3",
    slot="local",
)
def link_localhost(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(
        page,
        dice.choice(("http", "https"))
        + f"://{dice.choice(('localhost', '127.0.0.1'))}:8000/{site.token()}",
    )


@kind("a link without TLS", "https://web.dev/articles/what-is-mixed-content", slot="insecure")
def link_insecure(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.link(page, f"http://{site.other}/")


@kind(
    "a link within the site is marked nofollow",
    f"{_GOOGLE}crawling-indexing/qualify-outbound-links",
    slot="nofollow",
)
def nofollow_internal(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.add_link(
        site.home.url, f"{site.token()}", rel=dice.choice(("nofollow", "noopener nofollow"))
    )


@kind("two redirects one after the other", f"{_GOOGLE}crawling-indexing/301-redirects")
def redirect_chain(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    to = site.moved(site.moved(site.home.url))
    site.link(page, to)
    site.mark(to, "redirect_chain")
    site.mark(page, "link_to_redirect")


@kind("redirects in a circle", "https://www.rfc-editor.org/rfc/rfc9110#name-redirection-3xx")
def redirect_loop(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    first = site.address()
    site.answers[first] = site.answers[site.moved(site.moved(first))]
    site.link(page, first)
    site.mark(first, "redirect_loop")
    site.mark(page, "link_broken")


@kind("a page that has moved for good, by 302", f"{_GOOGLE}crawling-indexing/301-redirects")
def redirect_temporary(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    to = site.moved(site.home.url, dice.choice((302, 307)), begin="old/")
    site.link(page, to)
    site.mark(to, "redirect_temporary")
    site.mark(page, "link_to_redirect")


@kind("a page that only the sitemap names", f"{_GOOGLE}crawling-indexing/links-crawlable")
def orphan(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.unlink(page)
    site.mark(page, "orphan")


@kind("six clicks from the start", f"{_GOOGLE}crawling-indexing/large-site-managing-crawl-budget")
def deep(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    before = page  # two clicks from the start
    for depth in range(3, 7):
        path = f"{page.url.removeprefix(site.origin)}-{depth}"
        before = site.new_page(path, page.language, before)
        if depth > 4:
            site.mark(before, "deep")


@kind("the address holds a session", f"{_GOOGLE}crawling-indexing/url-structure")
def url_session(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    name = dice.choice(("PHPSESSID", "sid", "jsessionid"))
    url = f"{site.address()}?{name}={dice.randrange(16**12):012x}"
    _at(page, site, url)
    site.mark(url, "url_session")


@kind(
    "the address has capitals, underscores or spaces", f"{_GOOGLE}crawling-indexing/url-structure"
)
def url_unreadable(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    a, b = site.token(), site.token()
    url = f"{site.origin}/{dice.choice((f'{a}_{b}', f'{a}%20{b}', f'{a}-{b}'.title()))}"
    _at(page, site, url)
    site.mark(url, "url_unreadable")


def _at(page: Draft, site: SiteDraft, url: str) -> None:
    """The page moves to another address, and all that is said of it, too."""
    site.unlink(page)
    hub = site.hubs.pop(page.url)
    del site.drafts[page.url]
    page.url, page.canonicals = url, [url]
    site.drafts[url], site.hubs[url] = page, hub
    site.link(hub, url)
