"""Kinds of fault in the head of a page, and in what it says to machines."""

import json
import random

from tests.sites.model import Draft, Element, Raw, kind
from tests.sites.site_draft import SiteDraft
from tests.sites.words import fitting

_HTML = "https://html.spec.whatwg.org/multipage/"
_GOOGLE = "https://developers.google.com/search/docs/"

_LIGHTHOUSE = "https://developer.chrome.com/docs/lighthouse/"


@kind("no title", f"{_HTML}semantics.html#the-title-element", slot="title")
def title_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.titles = []


@kind("a title of a word", f"{_GOOGLE}appearance/title-link", slot="title")
def title_short(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.titles = [page.code.split()[0][:9] + str(dice.randint(1000, 9999))]


@kind("a title that is cut in results", f"{_GOOGLE}appearance/title-link", slot="title")
def title_long(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.titles = [fitting(page.language, dice, page.code, at_least=100, at_most=150)]


@kind("two titles in the head", f"{_HTML}semantics.html#the-title-element", slot="title")
def title_multiple(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.titles.append(fitting(page.language, dice, site.token(), at_least=26, at_most=58))


@kind("two pages with one title", f"{_GOOGLE}appearance/title-link")
def title_duplicate(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = site.partner()
    other.titles = page.titles
    site.mark(page, "title_duplicate")
    site.mark(other, "title_duplicate")


@kind("no description", f"{_GOOGLE}appearance/snippet", slot="description")
def description_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.descriptions = []


@kind("a description of three words", f"{_GOOGLE}appearance/snippet", slot="description")
def description_short(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.descriptions = [page.code]


@kind("a description that is cut in results", f"{_GOOGLE}appearance/snippet", slot="description")
def description_long(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.descriptions = [fitting(page.language, dice, page.code, at_least=240, at_most=300)]


@kind("two descriptions", f"{_HTML}semantics.html#standard-metadata-names", slot="description")
def description_multiple(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.descriptions.append(fitting(page.language, dice, site.token(), at_least=92, at_most=150))


@kind("two pages with one description", f"{_GOOGLE}appearance/snippet")
def description_duplicate(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = site.partner()
    other.descriptions = page.descriptions
    site.mark(page, "description_duplicate")
    site.mark(other, "description_duplicate")


@kind("no viewport", f"{_LIGHTHOUSE}pwa/viewport", slot="viewport")
def viewport_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.viewport = None


@kind(
    "a viewport that forbids zooming",
    "https://www.w3.org/WAI/WCAG22/Understanding/resize-text",
    slot="viewport",
)
def viewport_fixed(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.viewport = "width=device-width, " + dice.choice(
        ("user-scalable=no", "maximum-scale=1", "user-scalable=0")
    )


@kind(
    "no encoding, neither in the head nor in the answer",
    f"{_HTML}semantics.html#charset",
    slot="charset",
)
def charset_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.charset_in_head = page.charset_in_header = False


@kind("the encoding stands after 1024 bytes", f"{_HTML}semantics.html#charset", slot="charset")
def charset_late(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.first_in_head.insert(0, Raw(f"<!-- {'- '.join(site.token() for _ in range(130))} -->"))
    page.charset_in_header = False


@kind("bytes of one encoding are declared as another one",
      f"{_HTML}parsing.html#determining-the-character-encoding",
      slot="charset")  # fmt: skip
def charset_wrong(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.encoding, page.declared = (
        "windows-1251" if page.language == "ru" else "windows-1252",
        "utf-8",
    )
    letters = "Дом стоит" if page.language == "ru" else "Café Ö ñandú"
    page.sections[0][2].append(f"{letters} {page.code}")


@kind("no doctype", f"{_HTML}syntax.html#the-doctype", slot="doctype")
def doctype_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.has_doctype = False


@kind(
    "the robots element stands in the body",
    f"{_GOOGLE}crawling-indexing/valid-page-metadata",
    slot="place",
)
def meta_in_body(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(Element("meta", {"name": "robots", "content": "max-snippet:50"}))


@kind("one id for two elements", f"{_HTML}dom.html#the-id-attribute", slot="ids")
def duplicate_ids(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    name = site.token()
    page.body += [
        Element("p", {"id": name}, (page.code,)),
        Element("div", {"id": name}, (page.code,)),
    ]


@kind("a script in the head that holds up the page",
      f"{_LIGHTHOUSE}performance/render-blocking-resources",
      slot="script")  # fmt: skip
def render_blocking(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    src = site.resource("text/javascript", b"var a = 1;", "js")
    page.head.append(Element("script", {"src": src}))


@kind("no language", "https://www.w3.org/WAI/WCAG22/Understanding/language-of-page", slot="lang")
def lang_missing(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.lang = None


@kind("a language that is none", "https://www.rfc-editor.org/info/bcp47", slot="lang")
def lang_invalid(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.lang = dice.choice(("english", "xx", "zz-ZZ", "deutsch"))


@kind("JSON-LD that is no JSON", "https://www.rfc-editor.org/rfc/rfc8259", slot="data")
def json_ld_invalid(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    text = json.dumps(product(page))
    page.head.append(
        ld(
            dice.choice(
                (text[:-1], text.replace(",", ",,", 1), text[:-1] + ",}", text.replace('"', "'"))
            )
        )
    )


@kind("a product without a name, or without all of offer, review and rating",
      f"{_GOOGLE}appearance/structured-data/product-snippet", slot="data")  # fmt: skip
def structured_incomplete(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    data = product(page)
    del data[dice.choice(("name", "offers"))]
    page.head.append(ld(json.dumps(data)))


@kind("a price or a date that is none", "https://schema.org/price", slot="data")
def structured_wrong_value(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    data = product(page)
    if dice.random() < 0.5:
        data["offers"] = {
            "@type": "Offer",
            "price": dice.choice(("cheap", "on request")),
            "priceCurrency": "EUR",
        }
    else:
        data["releaseDate"] = dice.choice(("soon", "31/31/2024", "2024-13-45"))
    page.head.append(ld(json.dumps(data)))


@kind("a type that schema.org does not have", "https://schema.org/docs/full.html", slot="data")
def structured_wrong_type(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.head.append(
        ld(
            json.dumps(
                product(page) | {"@type": dice.choice(("Prodcut", "Produkt", "product_item"))}
            )
        )
    )


def product(page: Draft) -> dict[str, object]:
    offer = {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": page.code,
        "offers": offer,
    }


def ld(text: str) -> Element:
    return Element("script", {"type": "application/ld+json"}, (text,))


__all__ = ["ld", "product"]
