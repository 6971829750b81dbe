"""Questions to a person in the place of a page, and pages that only speak of them."""

import pytest

from leasehold_packs.monitors.extract import read
from leasehold_packs.webfacts.decode import decode
from tests.corpora.data import needs_corpora
from tests.packs.webfacts.corpora import pages

URL = "https://shop.example/"
MENU = "".join(f"<a href='/{n}'>{name}</a> " for n, name in enumerate(("Lamps", "Tables", "Chairs", "About")))
QUESTIONS = {
    "nothing": "",
    "cloudflare": "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>"
    "<h1>shop.example</h1><p>Checking if the site connection is secure</p>",
    "cloudflare blocks": "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>",
    "perimeterx": "<title>Access to this page has been denied.</title><div id='px-captcha'></div>",
    "imperva": "<title></title><iframe src='/_Incapsula_Resource?x=1'></iframe><p>Request unsuccessful.</p>",
    "imperva asks": "<title>Pardon Our Interruption</title><p>As you were browsing something made us think.</p>",
    "datadome": "<title>shop.example</title><p>Please enable JS and disable any ad blocker</p>"
    "<script src='https://geo.captcha-delivery.com/c.js'></script>",
    "akamai": "<title>Access Denied</title><h1>Access Denied</h1><p>You don't have permission to access /p/1.</p>",
    "amazon": "<title>Amazon.com</title><h4>Enter the characters you see below</h4>"
    "<p>Sorry, we just need to make sure you're not a robot.</p><a href='/c'>Conditions</a>",
    "german": "<title>Einen Augenblick</title><p>Bitte bestätigen Sie, dass Sie kein Roboter sind.</p>",
    "captcha": "<title>Robot check</title><p>Please solve this captcha.</p>",
}
PAGES = {
    "a link": f"<title>Acme</title><h1>Acme</h1>{MENU}<a href='/captcha'>captcha</a><p>Lamps since 1990</p>",
    "a link alone": "<title>Acme</title><p>Welcome to our shop</p><a href='/captcha'>Solve the captcha</a>",
    "a short home page": f"<title>Acme</title><h1>Acme</h1>{MENU}",
    "a very short home page": "<title>Acme</title><p>Acme lamps</p>",
    "a guarded form": f"<title>Contact</title><h1>Write to us</h1>{MENU}<form><input name=mail></form>"
    "<p>This site is protected by reCAPTCHA and the privacy policy of Google applies.</p>"
    "<script src='https://www.google.com/recaptcha/api.js'></script>",
    "a maker of them": "<title>Captcha for shops - Acme</title><h1>Bot detection that works</h1>"
    f"{MENU}<p>We keep bots out.</p>",
    "a script in passing": f"<title>Acme</title>{MENU}<p>Lamps</p>"
    "<script src='/cdn-cgi/challenge-platform/scripts/jsd'></script>",
    "a product": "<title>Security check kit</title><h1>Security check kit</h1><p class=price>20.00 €</p>",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_known(name: str) -> None:
    assert read(QUESTIONS[name], url=URL).is_challenge


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_no_question(name: str) -> None:
    assert not read(PAGES[name], url=URL).is_challenge


@needs_corpora
@pytest.mark.long
def test_no_real_page_is_a_question() -> None:
    found = [
        truth["url"]
        for folder in ("product-extraction", "article-extraction")
        for _, body, truth in pages(folder)
        if read(decode(body, content_type="text/html; charset=utf-8"), url=truth["url"]).is_challenge
    ]
    assert found == []
