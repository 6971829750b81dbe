"""What looks like a fault and is none."""

import json
import random
from dataclasses import replace

from tests.sites.kinds_head import ld, product
from tests.sites.kinds_index import translations
from tests.sites.model import Draft, Element, Raw, twin
from tests.sites.site_draft import PNG, SiteDraft
from tests.sites.words import LANGUAGES, paragraphs


@twin("image_alt_missing", "a decoration has an empty alternative text")
def decorative_image(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, alt="")


@twin("title_duplicate", "a variant has the same title and names the other page as canonical")
def canonical_variant(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    variant = site.new_page(f"{page.url.removeprefix(site.origin)}?sort=price", page.language, page)
    variant.titles, variant.descriptions, variant.h1 = page.titles, page.descriptions, page.h1
    variant.sections, variant.canonicals = page.sections, [page.url]
    site.unlisted.add(variant.url)
    site.twins[variant.url] = "canonical_variant"


@twin("title_multiple", "a drawing in the body has a title of its own")
def svg_title(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    inner = f"<title>{page.code}</title><path d='M0 0h9v9'/>"
    page.body.append(Raw(f"<svg width='9' height='9'>{inner}</svg>"))


@twin("h1_missing", "the first heading is a picture with an alternative text")
def picture_heading(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page)
    page.h1 = [(page.images.pop(),)]


@twin("heading_order", "headings go up by two levels")
def headings_up(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections = [
        page.sections[0],
        (3, f"B {page.code}", [page.code]),
        (4, f"C {page.code}", [page.code]),
        page.sections[1],
    ]


@twin("placeholder", "a page on typography that names the text once")
def lorem_named(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections[1][2].append(f"“Lorem ipsum”: {page.code}")


@twin("lang_mismatch", "a quotation in another language is marked as such")
def quotation(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    other = dice.choice([one for one in LANGUAGES if one != page.language])
    text = " ".join(paragraphs(other, dice, words=15)[:1])
    page.body.append(Element("blockquote", {"lang": other}, (Element("p", {}, (text,)),)))


@twin("soft_404", "a page on how to write the page of an error")
def on_errors(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.sections[1][2].append(f"404: {page.code}. HTTP 404, 410, 500.")


@twin("lang_invalid", "a language with a script and a region")
def long_language(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    script = "Cyrl" if page.language == "ru" else "Latn"
    region = {"ru": "RU", "en": "GB"}.get(page.language, "CH")
    page.lang = f"{page.language}-{script}-{region}"


@twin("charset_missing", "only the header declares the encoding")
def charset_by_header(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.charset_in_head, page.charset_in_header = False, True


@twin("doctype_missing", "a comment stands before the doctype")
def comment_first(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.comment_first = f"<!-- {page.code} -->"


@twin("canonical_missing", "only the header names the canonical address")
def canonical_by_header(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals = []
    page.headers["Link"] = f'<{page.url}>; rel="canonical"'


@twin("canonical_multiple", "the canonical address is there twice, and the same")
def canonical_twice(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.canonicals *= 2


@twin("meta_refresh", "a redirect stands in a comment")
def refresh_in_comment(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.head.append(Raw(f'<!-- <meta http-equiv="refresh" content="0; url={site.home.url}"> -->'))


@twin("script_redirect", "a script leads elsewhere when a reader clicks")
def click_handler(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    text = f'function go() {{ location.href = "{site.home.url}"; }}'
    page.head.append(Element("script", {}, (text,)))


@twin("render_blocking", "a script in the head that waits")
def deferred_script(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    src = site.resource("text/javascript", b"var a = 1;", "js")
    ways: list[dict[str, str | None]] = [{"defer": None}, {"async": None}, {"type": "module"}]
    how = dice.choice(ways)
    page.head.append(Element("script", {"src": src, **how}))


@twin("json_ld_invalid", "JSON-LD with escapes, blanks and a graph")
def graph(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    nodes = [product(page), {"@type": "Organization", "name": "Ö </ä>"}]
    data = {"@context": "https://schema.org/", "@graph": nodes}
    page.head.append(ld("\n" + json.dumps(data, indent=2).replace("</", "<\\/") + "\n"))


@twin("structured_incomplete", "a product with an aggregate offer")
def aggregate_offer(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    offer = {"@type": "AggregateOffer", "lowPrice": 3, "highPrice": 9, "priceCurrency": "EUR"}
    page.head.append(ld(json.dumps(product(page) | {"offers": offer})))


@twin("link_text_empty", "a link whose name is an alternative text or a label")
def named_icon(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    if dice.random() < 0.5:
        page.add_link(site.home.url, Element("i", {"class": "icon"}), **{"aria-label": page.code})
    else:
        site.image(page)
        page.add_link(site.home.url, page.images.pop())


@twin("link_uncrawlable", "a link to an address of mail or a telephone")
def mail_link(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.add_link(dice.choice((f"mailto:info@{site.host}", "tel:+4930123456")), page.code)


@twin("fragment_broken", "links to the top, to a text and to an old anchor")
def fragments(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(Element("p", {}, (Element("a", {"name": "old place"}, ()), page.code)))
    for fragment in ("top", "", ":~:text=a", "old%20place"):
        site.link(page, f"#{fragment}")


@twin("nofollow_internal", "a link to another site is marked nofollow")
def nofollow_outside(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.add_link(f"https://{site.other}/", page.code, rel="nofollow sponsored")


@twin("mixed_content", "addresses without TLS that nothing is loaded from")
def namespaces(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.body.append(Raw('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'))
    page.head.append(ld(json.dumps(product(page) | {"@context": "http://schema.org"})))


@twin("clickjacking", "only the older header forbids frames")
def framed_by_header(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.headers["Content-Security-Policy"] = "default-src 'self'"
    page.headers["X-Frame-Options"] = "SAMEORIGIN"


@twin("noindex", "rules for robots that do not hide the page")
def harmless_robots(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    harmless = ("noimageindex", "index, follow, max-image-preview:large", "noarchive")
    page.robots = dice.choice(harmless)


@twin("robots_blocked", "a rule that ends with $ closes a shorter address")
def shorter_rule(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.disallowed.append(page.url.removeprefix(site.origin)[:-1] + "$")


@twin("image_broken", "an image answers with a redirect to one that is there")
def moved_image(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    site.image(page, src=site.moved(site.resource("image/png", PNG, "png"), begin="files/"))


@twin("hreflang_no_return", "three pages that all name each other")
def mutual(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    for one in translations(page, site):
        site.twins[one.url] = "mutual"


@twin("pagination_canonical", "the second page of a list is its own canonical page")
def second_page(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    second = site.new_page(f"{page.url.removeprefix(site.origin)}?page=2", page.language, page)
    site.twins[second.url] = "second_page"


@twin("slow_first_byte", "the first byte takes 0.2 s")
def not_slow(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    page.delay_s = 0.2


@twin("sitemap_redirect", "the sitemap of another host names a redirect")
def foreign_sitemap(page: Draft, site: SiteDraft, dice: random.Random) -> None:
    xml = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://{site.other}/a</loc></url></urlset>"
    answer = site.answers[f"https://{site.other}/"]
    site.answers[f"https://{site.other}/sitemap.xml"] = replace(
        answer, headers={**answer.headers, "Content-Type": "application/xml"}, body=xml.encode()
    )
    site.answers[f"https://{site.other}/a"] = replace(
        answer, status=301, headers={"Location": f"https://{site.other}/"}
    )
    site.link(page, f"https://{site.other}/")
