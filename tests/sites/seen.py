"""What stands in the bytes of a site, read by Python's own parser and protego alone."""

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

from protego import Protego

from tests.sites.model import Answer

_OF_HEAD = {
    "html",
    "head",
    "title",
    "meta",
    "link",
    "script",
    "style",
    "base",
    "noscript",
    "template",
}
_VOID = {"meta", "link", "img", "br", "hr", "input", "base", "source"}
_INLINE = {"a", "i", "img"}
_CHARSET = re.compile(rb"<meta[^>]*charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@dataclass
class Node:
    name: str
    attributes: dict[str, str]
    in_head: bool
    in_svg: bool
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[Node] = []
        self.open: list[Node] = []
        self.in_head = True
        self.svg = 0
        self.said: list[str] = []
        self.first = ""  # what stands before the first element

    def handle_decl(self, decl: str) -> None:
        if not self.nodes:
            self.first = decl.lower()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.svg += tag == "svg"
        self.in_head = self.in_head and tag in _OF_HEAD
        if tag not in _INLINE:
            self.said.append(" ")
        node = Node(tag, {name: value or "" for name, value in attrs}, self.in_head, self.svg > 0)
        self.nodes.append(node)
        if tag == "img":
            for one in self.open:
                one.words.append(node.get("alt"))
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        self.svg -= tag == "svg"
        if any(one.name == tag for one in self.open):
            while self.open.pop().name != tag:
                pass

    def handle_data(self, data: str) -> None:
        for one in self.open:
            one.words.append(data)
        if not self.in_head and not any(
            one.name in ("script", "style", "title") for one in self.open
        ):
            self.said.append(data)


@dataclass
class Seen:
    """One address: its answer, and its page if it is one."""

    url: str
    answer: Answer

    @property
    def is_page(self) -> bool:
        return self.answer.status == 200 and self.header("content-type").startswith("text/html")

    def header(self, name: str) -> str:
        return next(
            (value for given, value in self.answer.headers.items() if given.lower() == name), ""
        )

    @cached_property
    def charset(self) -> str:
        """As it is declared: by the header, else by the first 1024 bytes."""
        declared = self.header("content-type").partition("charset=")[2]
        found = _CHARSET.search(self.answer.body[:1024])
        return declared or (found[1].decode() if found else "")

    @cached_property
    def source(self) -> str:
        if self.charset:
            return self.answer.body.decode(self.charset, "replace")
        late = _CHARSET.search(self.answer.body)
        try:
            return self.answer.body.decode(late[1].decode() if late else "utf-8")
        except UnicodeDecodeError:
            return self.answer.body.decode("windows-1252", "replace")

    @cached_property
    def _reader(self) -> _Reader:
        reader = _Reader()
        if self.is_page:
            reader.feed(self.source)
            reader.close()
        return reader

    @property
    def begins(self) -> str:
        return self._reader.first

    @property
    def nodes(self) -> list[Node]:
        return self._reader.nodes

    def all(self, *names: str) -> list[Node]:
        return [one for one in self.nodes if one.name in names]

    @cached_property
    def text(self) -> str:
        return " ".join("".join(self._reader.said).split())

    def meta(self, name: str) -> list[str]:
        return [one.get("content") for one in self.all("meta") if one.get("name").lower() == name]

    @cached_property
    def titles(self) -> list[str]:
        return [one.text for one in self.all("title") if not one.in_svg]

    @cached_property
    def canonicals(self) -> list[str]:
        return [
            one.get("href")
            for one in self.all("link")
            if one.get("rel") == "canonical" and one.in_head
        ]

    @cached_property
    def canonical(self) -> str:
        """The first one, in the page or else in the header; without a fragment."""
        given = [*self.canonicals, *re.findall(r'<([^>]*)>; rel="canonical"', self.header("link"))]
        return urldefrag(urljoin(self.url, given[0]))[0] if given else self.url

    @cached_property
    def is_hidden(self) -> bool:
        rules = " ".join([*self.meta("robots"), self.header("x-robots-tag")]).lower()
        return bool(re.search(r"\b(noindex|none)\b", rules))

    @cached_property
    def is_listed(self) -> bool:
        return self.is_page and not self.is_hidden and self.canonical == self.url

    @cached_property
    def links(self) -> list[tuple[Node, str]]:
        hrefs = ((one, one.get("href")) for one in self.all("a") if "href" in one.attributes)
        return [(one, urljoin(self.url, href)) for one, href in hrefs]

    @cached_property
    def alternates(self) -> list[tuple[str, str]]:
        found = [one for one in self.all("link") if one.get("hreflang")]
        return [(one.get("hreflang"), one.get("href")) for one in found]

    @cached_property
    def data(self) -> list[Any]:
        """Of each script of JSON-LD what it says; None where it is no JSON."""
        return [
            _json(one.words)
            for one in self.all("script")
            if one.get("type") == "application/ld+json"
        ]


def _json(words: list[str]) -> Any:
    try:
        return json.loads("".join(words))
    except ValueError:
        return None


class Web:
    """All addresses together."""

    def __init__(self, answers: Mapping[str, Answer], home: str, urls: list[str]) -> None:
        self.answers, self.home = answers, home
        self.host = urlsplit(home).hostname
        self.seen = {url: Seen(url, answers[url]) for url in urls}
        self.robots = Protego.parse(answers[f"{home}robots.txt"].body.decode())
        tree = ElementTree.fromstring(answers[f"{home}sitemap.xml"].body)
        self.sitemap = {one.text for one in tree.iter(_SITEMAP)}
        self.pages = [one for one in self.seen.values() if one.is_page]

    def is_own(self, url: str) -> bool:
        return urlsplit(url).hostname == self.host and url.startswith("https:")

    def is_blocked(self, url: str) -> bool:
        return not self.robots.can_fetch(url, "any-bot")

    def follow(self, url: str) -> tuple[int, Answer | None]:
        """How many redirects there are, and the answer at the end; None where there is none."""
        url, hops = urldefrag(url)[0], 0
        while hops < 10:
            answer = self.answers.get(url, Answer(status=404))
            if not 300 <= answer.status < 400:
                return hops, answer
            url, hops = urljoin(url, answer.headers["Location"]), hops + 1
        return hops, None

    def is_broken(self, url: str) -> bool:
        answer = self.follow(url)[1]
        return answer is None or answer.status >= 400

    @cached_property
    def linked_from(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for page in self.pages:
            for _, url in page.links:
                found.setdefault(urldefrag(url)[0], set()).add(page.url)
        return found

    @cached_property
    def clicks(self) -> dict[str, int]:
        found, waiting = {self.home: 0}, deque([self.home])
        while waiting:
            url = waiting.popleft()
            for _, link in self.seen[url].links if url in self.seen else []:
                to = urldefrag(link)[0]
                if to not in found and self.is_own(to):
                    found[to] = found[url] + 1
                    waiting.append(to)
        return found

    def alike(self, what: str) -> dict[str, int]:
        """How many listed pages say the same."""
        if what not in self._alike:
            counts: dict[str, int] = {}
            for page in self.pages:
                if page.is_listed:
                    counts[self.said(page, what)] = counts.get(self.said(page, what), 0) + 1
            self._alike[what] = counts
        return self._alike[what]

    @cached_property
    def _alike(self) -> dict[str, dict[str, int]]:
        return {}

    @staticmethod
    def said(page: Seen, what: str) -> str:
        if what == "title":
            return (page.titles or [""])[0]
        if what == "description":
            return (page.meta("description") or [""])[0]
        if what == "h1":
            return " ".join(one.text for one in page.all("h1"))
        return page.text

    @cached_property
    def near(self) -> set[str]:
        """Listed pages that share four fifths of their groups of words with an unequal one."""
        holders: dict[int, list[str]] = {}
        groups: dict[str, set[int]] = {}
        for page in self.pages:
            if page.is_listed:
                words = page.text.split()
                groups[page.url] = {hash(tuple(words[n : n + 4])) for n in range(len(words) - 3)}
                for group in sorted(groups[page.url])[:40]:
                    holders.setdefault(group, []).append(page.url)
        found = set()
        for urls in holders.values():
            for a, b in ((a, b) for a in urls for b in urls if a < b):
                same = len(groups[a] & groups[b]) / len(groups[a] | groups[b])
                if same > 0.8 and self.seen[a].text != self.seen[b].text:
                    found |= {a, b}
        return found
