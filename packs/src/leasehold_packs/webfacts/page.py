"""What an HTML page says about itself: the facts that audits weigh and that crawls follow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

from leasehold_packs.webfacts.dom import attribute, flat, parse, visible_text
from leasehold_packs.webfacts.robots_meta import RobotsMeta, read_robots_meta

MAX_LINKS = 20_000
#: Crawlers of search engines, as pages name them.
SEARCHERS = ("googlebot", "bingbot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """``href`` is as written, ``url`` where it leads; None if that is no http(s) URL."""

    href: str
    url: str | None
    text: str
    rel: frozenset[str]

    @property
    def nofollow(self) -> bool:
        return not self.rel.isdisjoint(("nofollow", "ugc", "sponsored"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """``alt`` is None where there is none; an empty one says that the image is decoration."""

    src: str
    url: str | None
    alt: str | None
    sized: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternate:
    hreflang: str
    href: str
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Things a page should have once are tuples: how often they are there is a fact too."""

    url: str
    base: str
    lang: str | None
    titles: tuple[str, ...]
    descriptions: tuple[str, ...]
    viewport: str | None
    charset: str | None
    robots: RobotsMeta
    hidden_from: tuple[str, ...]  # search engines that are told by name not to list it
    canonicals: tuple[str, ...]
    alternates: tuple[Alternate, ...]
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    images: tuple[Image, ...]
    anchors: tuple[str, ...]
    ids: tuple[str, ...]
    misplaced: tuple[str, ...]
    form_actions: tuple[str, ...]
    has_icon: bool
    resources: tuple[str, ...]
    open_graph: tuple[tuple[str, str], ...]
    text: str

    @property
    def title(self) -> str | None:
        return self.titles[0] if self.titles else None

    @property
    def description(self) -> str | None:
        return self.descriptions[0] if self.descriptions else None

    @property
    def canonical(self) -> str | None:
        """Where the canonical link leads, resolved."""
        return resolve(self.canonicals[0], self.base) if self.canonicals else None

    @property
    def may_be_listed(self) -> bool:
        """Whether search engines may list it."""
        return self.robots.index and not self.hidden_from

    @property
    def images_without_alt(self) -> tuple[Image, ...]:
        return tuple(image for image in self.images if image.alt is None)

    @property
    def words(self) -> int:
        return len(self.text.split())


def read_page(text: str, *, url: str, agent: str = "", x_robots_tag: Iterable[str] = ()) -> Page:
    """The facts of a page that was fetched from ``url``. Never an error: what is not there is empty."""
    tree = parse(text)
    base = _base(tree, url)
    metas = [(attribute(node, "name").lower(), attribute(node, "content")) for node in tree.css("meta[name]")]
    named = dict(reversed(metas))
    headers = list(x_robots_tag)
    robots = read_robots_meta(metas, headers=headers, agent=agent)
    return Page(
        url=url,
        base=base,
        lang=_first(tree, "html", "lang"),
        titles=tuple(flat(node.text()) for node in tree.css("title") if not _inside(node, "svg")),
        descriptions=tuple(content for name, content in metas if name == "description"),
        viewport=named.get("viewport"),
        charset=_charset(tree),
        robots=robots,
        hidden_from=tuple(
            name
            for name in SEARCHERS
            if robots.index and not read_robots_meta(metas, headers=headers, agent=name).index
        ),
        canonicals=tuple(attribute(node, "href") for node in tree.css('head link[rel~="canonical" i]')),
        alternates=tuple(_alternates(tree, base)),
        headings=tuple(_headings(tree)),
        links=tuple(_links(tree, base)),
        images=tuple(_image(node, base) for node in tree.css("img")),
        anchors=tuple(_anchors(tree)),
        ids=tuple(attribute(node, "id") for node in tree.css("[id]")),
        misplaced=tuple(_misplaced(tree)),
        form_actions=tuple(_resolved(tree, "form[action]", "action", base)),
        has_icon=tree.css_first('link[rel~="icon" i][href]') is not None,
        resources=tuple(_resources(tree, base)),
        open_graph=tuple(
            (attribute(node, "property"), attribute(node, "content")) for node in tree.css("meta[property]")
        ),
        text=visible_text(tree),
    )


def resolve(href: str, base: str) -> str | None:
    """Where a link leads, or None if that is no http(s) URL."""
    try:
        parsed = ada_url.URL(href, base)
    except ValueError:
        return None
    return parsed.href if parsed.protocol in ("http:", "https:") else None


def _base(tree: LexborHTMLParser, url: str) -> str:
    """The first base element counts, also for those before it."""
    href = _first(tree, "base[href]", "href")
    return (resolve(href, url) if href else None) or url


def _first(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    node = tree.css_first(selector)
    return attribute(node, name) or None if node else None


def _charset(tree: LexborHTMLParser) -> str | None:
    declared = _first(tree, "meta[charset]", "charset")
    content = _first(tree, 'meta[http-equiv="content-type" i]', "content")
    return declared or (content.partition("charset=")[2].strip() or None if content else None)


def _alternates(tree: LexborHTMLParser, base: str) -> Iterator[Alternate]:
    for node in tree.css('head link[rel~="alternate" i][hreflang]'):
        href = attribute(node, "href")
        yield Alternate(hreflang=attribute(node, "hreflang"), href=href, url=resolve(href, base))


def _headings(tree: LexborHTMLParser) -> Iterator[Heading]:
    for node in tree.css("h1, h2, h3, h4, h5, h6"):
        yield Heading(level=int((node.tag or "h1")[1]), text=flat(node.text()))


def _links(tree: LexborHTMLParser, base: str) -> Iterator[Link]:
    for node in tree.css("a[href], area[href]")[:MAX_LINKS]:
        href = attribute(node, "href")
        yield Link(
            href=href,
            url=resolve(href, base),
            text=flat(node.text()) or _spoken(node),
            rel=frozenset(attribute(node, "rel").lower().split()),
        )


def _spoken(node: LexborNode) -> str:
    """What a link without words is called: its label, or that of the image in it."""
    image = node.css_first("img[alt]")
    return attribute(node, "aria-label") or (attribute(image, "alt") if image else "") or attribute(node, "title")


def _image(node: LexborNode, base: str) -> Image:
    given = node.attributes
    src = attribute(node, "src") or attribute(node, "data-src")
    return Image(
        src=src,
        url=resolve(src, base) if src else None,
        alt=attribute(node, "alt") if "alt" in given else None,
        sized="width" in given and "height" in given,
    )


def _anchors(tree: LexborHTMLParser) -> Iterator[str]:
    """What a fragment can point to, in order and with repeats."""
    for node in tree.css("[id], a[name]"):
        if name := attribute(node, "id") or attribute(node, "name"):
            yield name


def _misplaced(tree: LexborHTMLParser) -> Iterator[str]:
    """What counts in the head only, and stands where the parser has begun the body."""
    for node in tree.css("body meta[name]"):
        if (name := attribute(node, "name").lower()) in ("description", "robots", "viewport"):
            yield f"meta {name}"
    yield from ("link canonical" for _ in tree.css('body link[rel~="canonical" i]'))


def _resources(tree: LexborHTMLParser, base: str) -> Iterator[str]:
    """What a browser would load by itself."""
    yield from _resolved(tree, "script[src], img[src], iframe[src], video[src], audio[src], source[src]", "src", base)
    yield from _resolved(tree, 'link[rel~="stylesheet" i][href], link[rel~="icon" i][href]', "href", base)


def _resolved(tree: LexborHTMLParser, selector: str, name: str, base: str) -> Iterator[str]:
    for node in tree.css(selector):
        if url := resolve(attribute(node, name), base):
            yield url


def _inside(node: LexborNode, tag: str) -> bool:
    """An SVG has titles of its own."""
    parent = node.parent
    while parent is not None and parent.tag != tag:
        parent = parent.parent
    return parent is not None
