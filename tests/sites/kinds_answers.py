"""Kinds of fault in how a page is answered: headers, time, size, redirects inside of it."""

import random

from tests.sites.model import Answer, Draft, Element, Raw, kind
from tests.sites.site_draft import SiteDraft

_MDN = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/"
_GOOGLE = "https://developers.google.com/search/docs/"
_OWASP = "https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html"


@kind("the site answers without TLS, too", f"{_GOOGLE}advanced/security/https", of_site=True)
def https_not_enforced(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    insecure = f"http://{site.host}/"
    site.answers[insecure] = Answer(
        headers={"Content-Type": "text/html"}, body=b"<!doctype html><title>Home</title>"
    )
    site.mark(page, "https_not_enforced")


@kind("the site has no icon", f"{_GOOGLE}appearance/favicon-in-search", of_site=True)
def favicon_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    del site.answers[f"{site.origin}/favicon.ico"]
    site.mark(page, "favicon_missing")


@kind("no Strict-Transport-Security", "https://www.rfc-editor.org/rfc/rfc6797", slot="hsts")
def hsts_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    del page.headers["Strict-Transport-Security"]
    if dice.random() < 0.5:
        page.headers["Strict-Transport-Security"] = "max-age=0"


@kind("no Content-Security-Policy", "https://www.w3.org/TR/CSP3/", slot="policy")
def csp_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    del page.headers["Content-Security-Policy"]
    page.headers["X-Frame-Options"] = dice.choice(("DENY", "sameorigin"))


@kind(
    "other sites may frame the page",
    f"{_MDN}Content-Security-Policy/frame-ancestors",
    slot="policy",
)
def clickjacking(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.headers["Content-Security-Policy"] = "default-src 'self'"


@kind(
    "no X-Content-Type-Options",
    "https://fetch.spec.whatwg.org/#x-content-type-options-header",
    slot="nosniff",
)
def nosniff_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    del page.headers["X-Content-Type-Options"]


@kind("the answer names a version of the server", _OWASP, slot="server")
def server_leak(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    name, value = dice.choice(
        (("Server", "nginx/1.18.0"), ("X-Powered-By", "PHP/7.4.3"), ("Server", "Apache/2.4.41"))
    )
    page.headers[name] = value


@kind("a form is sent without TLS", "https://www.w3.org/TR/mixed-content/", slot="form")
def form_insecure(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(
        Element("form", {"action": f"http://{site.host}/{site.token()}", "method": "post"})
    )


@kind(
    "a secure page loads something without TLS",
    "https://www.w3.org/TR/mixed-content/",
    slot="mixed",
)
def mixed_content(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    name = site.token()
    if dice.random() < 0.5:
        url = f"http://{site.other}/{name}.js"
        page.body.append(Element("script", {"src": url, "async": None}))
    else:
        url = f"http://{site.other}/{name}"
        page.body.append(Element("iframe", {"src": url, "title": name}))
    site.answers[url] = Answer(headers={"Content-Type": "text/javascript"}, body=b"var a = 1;")


@kind("the first byte takes 1.5 s", "https://web.dev/articles/ttfb", is_heavy=True)
def slow_first_byte(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.delay_s = 1.5
    site.mark(page, "slow_first_byte")


@kind("a page of 2.2 MB", f"{_GOOGLE}crawling-indexing/googlebot", is_heavy=True)
def large_body(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(Raw(f"<!-- {'x' * 99_000} -->\n" * 23))
    site.mark(page, "large_body")


@kind("HTML that is called plain text", "https://mimesniff.spec.whatwg.org/", slot="")
def wrong_media_type(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.media_type = dice.choice(("text/plain", "application/octet-stream"))
    page.links = []
    site.mark(page, "wrong_media_type")


@kind(
    "the page sends its readers elsewhere by an element",
    f"{_GOOGLE}crawling-indexing/301-redirects#metarefresh",
)
def meta_refresh(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    content = f"{dice.choice('0025')}; {dice.choice(('url', 'URL'))}={site.home.url}"
    page.head.append(
        Element("meta", {"http-equiv": dice.choice(("refresh", "Refresh")), "content": content})
    )
    site.mark(page, "meta_refresh")


@kind(
    "the page sends its readers elsewhere by a script",
    f"{_GOOGLE}crawling-indexing/301-redirects#jslocation",
)
def script_redirect(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    url = site.home.url
    text = dice.choice(
        (f'location.href = "{url}";', f"window.location = '{url}'", f'location.replace("{url}");')
    )
    page.head.append(Element("script", {}, (text,)))
    site.mark(page, "script_redirect")
