"""A site that needs no internet: pages of a made-up magazine, with faults that come and go from week to week.

For the demo and for tests. The same seed makes the same site, and which faults it has in which week is known.
"""

import random
from dataclasses import dataclass
from functools import cached_property
from html import escape

_TOPICS = ("Gardens", "Rivers", "Bridges", "Kitchens", "Harbours", "Mountains")
_WORDS = (
    "old", "stone", "water", "wind", "carries", "people", "walk", "along", "narrow", "path", "morning", "light",
    "falls", "over", "roofs", "where", "birds", "gather", "before", "rain", "comes", "down", "from", "hills", "and",
    "every", "house", "keeps", "its", "own", "garden", "behind", "green", "doors", "that", "open", "only",
    "in", "summer",
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """``path`` is the page that has it; ``kind`` is a key of FAULTS."""

    path: str
    kind: str

    @property
    def findings(self) -> set[tuple[str, str]]:
        """What an audit must find: check and page."""
        if self.kind == "broken link":
            return {("link_broken", self.path), ("status_client_error", f"{self.path}/gone")}
        return {(FAULTS[self.kind], self.path)}


#: What can go wrong with a page, and the check that finds it.
FAULTS = {
    "no title": "title_missing",
    "a short title": "title_short",
    "no description": "description_missing",
    "two first headings": "h1_multiple",
    "an image without words": "image_alt_missing",
    "hidden from search": "noindex",
    "broken link": "link_broken",
}
_BAD_AT_FIRST = 4
_BAD_EACH_WEEK = 3
_MENDED_EACH_WEEK = 2


@dataclass(frozen=True)
class MadeSite:
    """``articles`` in six sections; in week 0 some are faulty, and every week some are mended and others broken."""

    seed: int = 1
    articles: int = 30

    @cached_property
    def paths(self) -> list[str]:
        sections = [f"/{topic.lower()}" for topic in _TOPICS]
        return ["/", *sections, *(f"{sections[n % len(sections)]}/{n}" for n in range(self.articles))]

    def faults(self, week: int) -> set[Fault]:
        """All that is wrong in a week."""
        dice = random.Random(f"{self.seed}/faults")
        faults: set[Fault] = set()
        for now in range(week + 1):
            mended = set(dice.sample(sorted(faults), min(_MENDED_EACH_WEEK, len(faults)))) if now else set()
            faulty = {fault.path for fault in faults}
            sound = [path for path in self.paths if path not in faulty and path.count("/") > 1]
            broken = dice.sample(sound, _BAD_EACH_WEEK if now else _BAD_AT_FIRST)
            faults = faults - mended | {Fault(path, dice.choice(sorted(FAULTS))) for path in broken}
        return faults

    def page(self, path: str, *, week: int, base: str) -> str | None:
        """The page at a path; None where there is none."""
        if path not in self.paths:
            return None
        faults = {fault.kind for fault in self.faults(week) if fault.path == path}
        return _html(self._title(path), self._body(path, faults), base + path, faults)

    def _title(self, path: str) -> str:
        if path == "/":
            return "A magazine that nobody prints"
        section = path.split("/")[1].capitalize()
        number = path.rpartition("/")[2]
        return f"{section}: letter {number} to the editor" if number.isdecimal() else f"{section}, all letters so far"

    def _body(self, path: str, faults: set[str]) -> str:
        dice = random.Random(f"{self.seed}{path}")
        text = "".join(f"<p>{_sentence(dice, 60)}</p>" for _ in range(5))
        links = "".join(f'<li><a href="{link}">{escape(self._title(link))}</a></li>' for link in self._links(path))
        alt = "" if "an image without words" in faults else ' alt="A drawing of what the letter tells"'
        more = f'<p><a href="{path}/gone">The letter that came before</a></p>' if "broken link" in faults else ""
        second = "<h1>Once more</h1>" if "two first headings" in faults else ""
        image = f'<img src="/drawing.png" width="80" height="60"{alt}>'
        return f"<h1>{escape(self._title(path))}</h1>{second}{image}{text}{more}<ul>{links}</ul>"

    def _links(self, path: str) -> list[str]:
        if path == "/":
            return [one for one in self.paths if one.count("/") == 1 and one != "/"]
        section = "/" + path.split("/")[1]
        inside = [one for one in self.paths if one.startswith(section + "/")]
        return ["/", section, *inside] if path == section else ["/", section]


def _html(title: str, body: str, address: str, faults: set[str]) -> str:
    named = {"no title": "", "a short title": f"<title>Letter {address.rpartition('/')[2]}</title>"}
    titled = next((text for kind, text in named.items() if kind in faults), f"<title>{escape(title)}</title>")
    said = f"{title}. Written by readers, set by hand, and sent out once a week to whoever asked for it in time."
    about = "" if "no description" in faults else f'<meta name="description" content="{escape(said)}">'
    hidden = '<meta name="robots" content="noindex">' if "hidden from search" in faults else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{titled}{about}{hidden}'
        f'<link rel="canonical" href="{address}"></head><body>{body}</body></html>'
    )


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choice(_WORDS) for _ in range(words)).capitalize() + "."
