"""The same site for the same seed and size.

The seed draws kinds, places, languages, encodings and markup.
"""

import random
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tests.sites.kinds import KINDS, TWINS
from tests.sites.markup import answer_of
from tests.sites.model import HEADERS, Answer, Draft, Kind
from tests.sites.site_draft import PNG, SiteDraft

SIZES = (12, 60, 400, 1200, 5000)
_PLANTED, _TWINS = 0.45, 0.15  # parts of the pages
_AGAIN = 0.25  # how often a page gets a second fault, in another slot
_MOST_HEAVY = 2


@dataclass(kw_only=True)
class BuiltSite:
    """Answers by whole address, and what is wrong with each."""

    seed: int
    home: str
    answers: dict[str, Answer]
    truth: dict[str, frozenset[str]]
    twins: dict[str, str]
    kinds: frozenset[str]  # the kinds of this seed


class _Builder(SiteDraft):
    def __init__(self, seed: int, size: int) -> None:
        super().__init__(random.Random(f"{seed} {size}"), SIZES[size])
        self.seed = seed

    def build(self) -> BuiltSite:
        self._site_answers()
        self._plant()
        self._plant_twins()
        for url, page in self.drafts.items():
            self.answers[url] = answer_of(page)
        self._robots_and_sitemap()
        planted = {name for names in self.faults.values() for name in names}
        assert planted <= KINDS.keys()
        urls = [*self.drafts, *(url for url in self.faults if url not in self.drafts)]
        return BuiltSite(
            seed=self.seed,
            home=f"{self.origin}/",
            answers=self.answers,
            truth={url: frozenset(self.faults.get(url, ())) for url in urls},
            twins=self.twins,
            kinds=frozenset(planted),
        )

    def _site_answers(self) -> None:
        self.answers[f"{self.origin}/favicon.ico"] = Answer(
            headers={"Content-Type": "image/x-icon", **HEADERS}, body=PNG
        )
        page = {"Content-Type": "text/html; charset=utf-8"}
        self.answers[f"https://{self.other}/"] = Answer(
            headers=page, body=b"<!doctype html><title>Another site</title>"
        )
        self.answers[f"http://{self.other}/"] = Answer(
            headers=page, body=b"<!doctype html><title>Another site</title>"
        )
        self.answers[f"http://{self.host}/"] = Answer(
            status=301, headers={"Location": f"{self.origin}/"}
        )

    def _plant(self) -> None:
        room = round(len(self.free) * (1 - _PLANTED))
        drawn: list[Kind] = []
        for one in KINDS.values():
            if one.of_site and self.dice.random() < 0.5:
                one.plant(self.home, self, self.dice)
        while len(self.free) > max(room, 3):
            pages = [one for one in KINDS.values() if not one.of_site]
            waiting = [one for one in pages if not one.is_heavy or drawn.count(one) < _MOST_HEAVY]
            fewest = min(drawn.count(one) for one in waiting)
            chosen = self.dice.choice([one for one in waiting if drawn.count(one) == fewest])
            page = self.partner()
            self._plant_in(page, chosen)
            drawn.append(chosen)
            others = [
                one
                for one in KINDS.values()
                if one.slot and one.slot != chosen.slot and not one.is_heavy
            ]
            if chosen.slot and self.dice.random() < _AGAIN:
                second = self.dice.choice(others)
                self._plant_in(page, second)

    def _plant_in(self, page: Draft, chosen: Kind) -> None:
        chosen.plant(page, self, self.dice)
        if chosen.slot:
            self.mark(page, chosen.name)

    def _plant_twins(self) -> None:
        count = min(len(self.free) - 1, max(2, round(self.size * _TWINS)))
        names: list[str] = []
        for _ in range(count):
            names = names or self.dice.sample(sorted(TWINS), len(TWINS))
            if len(self.free) < 4:
                return
            page, name = self.partner(), names.pop()
            TWINS[name].plant(page, self, self.dice)
            self.twins[page.url] = name

    def _robots_and_sitemap(self) -> None:
        rules = "".join(f"Disallow: {path}\n" for path in self.disallowed)
        # A group without rules would share those of the next one.
        others = f"User-agent: *\n{rules or 'Disallow:'}\n"
        robots = (
            f"User-agent: unwanted-bot\nDisallow: /\n\n{others}Sitemap: {self.origin}/sitemap.xml\n"
        )
        self._file("/robots.txt", "text/plain; charset=utf-8", robots.encode())
        urls = [url for url in self.drafts if url not in self.unlisted] + self.listed
        self.dice.shuffle(urls)
        items = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
        xml = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{items}</urlset>\n'
        )
        self._file("/sitemap.xml", "application/xml", xml.encode())

    def _file(self, path: str, media_type: str, body: bytes) -> None:
        self.answers[f"{self.origin}{path}"] = Answer(
            headers={"Content-Type": media_type, **HEADERS}, body=body
        )


def build(seed: int, size: int) -> BuiltSite:
    """``size`` is an index of ``SIZES``."""
    return _Builder(seed, size).build()


def truth(seed: int, size: int) -> dict[str, frozenset[str]]:
    """By address, the kinds of fault that are planted there; of every other kind there is none."""
    return build(seed, size).truth
