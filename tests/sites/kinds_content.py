"""Kinds of fault in what a page says to its readers, in its headings, texts and images."""

import random

from tests.sites.model import Draft, Element, kind
from tests.sites.site_draft import PNG, SiteDraft
from tests.sites.words import fitting, heading, invented, paragraphs

_GOOGLE = "https://developers.google.com/search/docs/"
_WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
_HTML = "https://html.spec.whatwg.org/multipage/"
_LOREM = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor"
    " incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam."
)


@kind("no heading of the first level", f"{_WCAG}headings-and-labels", slot="h1")
def h1_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.h1 = []


@kind("two headings of the first level", f"{_HTML}sections.html#headings-and-outlines", slot="h1")
def h1_multiple(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.h1.append((heading(page.language, dice, site.token()),))


@kind("two pages with one first heading", f"{_GOOGLE}appearance/title-link")
def h1_duplicate(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = site.partner()
    other.h1 = page.h1
    site.mark(page, "h1_duplicate")
    site.mark(other, "h1_duplicate")


@kind("a heading two levels below the one before it", "https://dequeuniversity.com/rules/axe/4.10/heading-order",
      slot="sections")  # fmt: skip
def heading_order(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections.append((dice.choice((4, 5)), heading(page.language, dice, "C"), [page.code]))


@kind("a page of some forty words", f"{_GOOGLE}fundamentals/creating-helpful-content")
def thin(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections = [
        (2, heading(page.language, dice, "A"), paragraphs(page.language, dice, words=10)[:1])
    ]
    site.mark(page, "thin")


@kind("text that holds a place", f"{_GOOGLE}essentials/spam-policies#thin-affiliation", slot="text")
def placeholder(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections.insert(1, (2, heading(page.language, dice, "L"), [_LOREM] * dice.randint(2, 3)))


@kind(
    "the text is not in the language that the page names", f"{_WCAG}language-of-page", slot="lang"
)
def lang_mismatch(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.lang = dice.choice([one for one in ("en", "de", "fr", "es") if one != page.language])


@kind("two pages with one text", f"{_GOOGLE}crawling-indexing/consolidate-duplicate-urls")
def exact_duplicate(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = _same_language(page, site)
    if other is None:
        return
    other.h1, other.sections, other.images, other.links = (
        page.h1,
        page.sections,
        page.images,
        page.links,
    )
    other.body, other.encoding = page.body, page.encoding
    site.mark(page, "exact_duplicate", "h1_duplicate")
    site.mark(other, "exact_duplicate", "h1_duplicate")


@kind(
    "two pages whose texts differ by a sentence",
    f"{_GOOGLE}crawling-indexing/consolidate-duplicate-urls",
)
def near_duplicate(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = _same_language(page, site)
    if other is None:
        return
    long = paragraphs(page.language, dice, words=900)
    page.sections = [(2, heading(page.language, dice, "A"), long)]
    other.sections = [(2, page.sections[0][1], [*long, f"{invented(dice)} {invented(dice)}."])]
    other.links, other.images = page.links, page.images
    other.h1 = [(f"{words} {invented(dice)}",) for (words, *_) in page.h1]
    site.mark(page, "near_duplicate")
    site.mark(other, "near_duplicate")


def _same_language(page: Draft, site: SiteDraft) -> Draft | None:
    found = next((one for one in site.free if one.language == page.language), None)
    if found is not None:
        site.free.remove(found)
    return found


@kind(
    "the page of an error with the status of a success",
    f"{_GOOGLE}crawling-indexing/http-network-errors#soft-404-errors",
)
def soft_404(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    words = {
        "en": ("Page not found", "The page you asked for is no longer available"),
        "de": ("Seite nicht gefunden", "Die gewünschte Seite ist nicht mehr verfügbar"),
        "fr": ("Page introuvable", "La page demandée n'est plus disponible"),
        "es": ("Página no encontrada", "La página solicitada ya no está disponible"),
        "ru": ("Страница не найдена", "Запрошенная страница больше не доступна"),
    }[page.language]
    page.titles = [f"404 {page.code}: {words[0]}"]
    page.h1 = [(f"404: {words[0]} ({page.code})",)]
    page.sections.insert(0, (2, f"{words[1]} {page.code}", [f"{words[1]}: {page.code}."]))
    site.mark(page, "soft_404")


@kind("an image without an alternative text", f"{_WCAG}non-text-content", slot="alt")
def image_alt_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, alt=None)


@kind(
    "an alternative text of a paragraph",
    "https://www.w3.org/WAI/tutorials/images/tips/",
    slot="alt",
)
def image_alt_long(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, alt=fitting(page.language, dice, page.code, at_least=220, at_most=300))


@kind("an image without width and height", "https://web.dev/articles/optimize-cls#images-without-dimensions",
      slot="sized")  # fmt: skip
def image_unsized(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, **dict.fromkeys(dice.choice((("width",), ("height",), ("width", "height")))))


@kind("an image of 700 kB", "https://developer.chrome.com/docs/lighthouse/performance/uses-optimized-images",
      slot="image", is_heavy=True)  # fmt: skip
def image_large(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, src=site.resource("image/png", PNG + bytes(700_000), "png"))


@kind("an image that is not there", f"{_HTML}images.html", slot="image")
def image_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, src=f"{site.address('files/')}.png")


@kind(
    "one of the candidates of srcset is not there",
    f"{_HTML}images.html#srcset-attributes",
    slot="image",
)
def srcset_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    there = site.resource("image/png", PNG, "png")
    site.image(page, srcset=f"{there} 1x, {site.address('files/')}.png 2x")


@kind("a style sheet that is not there", f"{_HTML}links.html#link-type-stylesheet", slot="style")
def stylesheet_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.head.append(
        Element("link", {"rel": "stylesheet", "href": f"{site.address('files/')}.css"})
    )


@kind("a script that is not there", f"{_HTML}scripting.html", slot="script")
def script_broken(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.head.append(Element("script", {"src": f"{site.address('files/')}.js", "defer": None}))
