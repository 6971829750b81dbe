"""A site while it is made: what plants find and change in it."""

import random
from collections import defaultdict

from tests.sites.model import HEADERS, Answer, Draft, Element
from tests.sites.words import LANGUAGES, fitting, heading, invented, paragraphs

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
_PER_SECTION = 60


class SiteDraft:
    def __init__(self, dice: random.Random, pages: int) -> None:
        self.dice, self.size = dice, pages
        self.host = f"www.{invented(self.dice).lower()}.example"
        self.origin = f"https://{self.host}"
        self.other = f"{invented(self.dice).lower()}.example"  # a host of somebody else
        self.answers: dict[str, Answer] = {}
        self.drafts: dict[str, Draft] = {}
        self.sections: list[Draft] = []
        self.free: list[Draft] = []
        self.hubs: dict[str, Draft] = {}  # the page of the section that links to a page
        self.faults: defaultdict[str, set[str]] = defaultdict(set)
        self.twins: dict[str, str] = {}
        self.slots: dict[str, str] = {}
        self.disallowed: list[str] = []
        self.listed: list[str] = []  # in the sitemap
        self.unlisted: set[str] = set()
        self._count = 0
        self._pages()

    def mark(self, page: Draft | str, *names: str) -> None:
        self.faults[page if isinstance(page, str) else page.url].update(names)

    def partner(self) -> Draft:
        """Another page that has nothing wrong with it, and gets nothing else."""
        return self.free.pop(self.dice.randrange(len(self.free)))

    def token(self) -> str:
        self._count += 1
        return f"{invented(self.dice).lower()}-{self._count:05d}"

    def address(self, begin: str = "") -> str:
        return f"{self.origin}/{begin}{self.token()}"

    def gone(self, status: int = 404) -> str:
        """An address that search engines and visitors run into."""
        url = self.address()
        self.answers[url] = _error(status)
        self.mark(url, "status_client_error" if status < 500 else "status_server_error")
        return url

    def moved(self, to: str, status: int = 301, *, begin: str = "") -> str:
        url = self.address(begin)
        self.answers[url] = Answer(status=status, headers={"Location": to, **HEADERS})
        return url

    def resource(self, media_type: str, body: bytes, ending: str) -> str:
        url = f"{self.address('files/')}.{ending}"
        self.answers[url] = Answer(headers={"Content-Type": media_type, **HEADERS}, body=body)
        return url

    def image(self, page: Draft, **changes: str | None) -> None:
        """With everything that it needs, but for what is changed; None leaves an attribute out."""
        src = self.resource("image/png", PNG, "png")
        given: dict[str, str | None] = {"src": src, "width": "40", "height": "30"}
        given |= {"alt": fitting(page.language, self.dice, page.code, at_least=12, at_most=60)}
        there: dict[str, str | None] = {
            name: value for name, value in (given | changes).items() if value is not None
        }
        page.images.append(Element("img", there))

    def new_page(self, path: str, language: str, hub: Draft | None) -> Draft:
        code = f"{invented(self.dice)} {self.dice.randint(100, 999)}{self._count}"
        self._count += 1
        url = f"{self.origin}{path}"
        title = fitting(language, self.dice, code, at_least=26, at_most=58)
        text = paragraphs(language, self.dice, words=240)
        middle = len(text) // 2
        page = Draft(
            url=url, language=language, code=code, titles=[title],
            descriptions=[fitting(language, self.dice, f"{code}:", at_least=92, at_most=150)],
            lang=language, canonicals=[url], h1=[(heading(language, self.dice, code),)],
            sections=[
                (2, heading(language, self.dice, "A"), text[:middle]),
                (2, heading(language, self.dice, "B"), text[middle:]),
            ],
            encoding=self.dice.choice(LANGUAGES[language].encodings),
            style=self.dice.randrange(2**32),
        )  # fmt: skip
        if self.dice.random() < 0.4:
            self.image(page)
        self.drafts[url] = page
        if hub is not None:
            hub.add_link(self._href(url), f"{LANGUAGES[hub.language].visit} {code}")
            self.hubs[url] = hub
        return page

    def unlink(self, page: Draft) -> None:
        """Its section no longer leads to it."""
        hub = self.hubs[page.url]
        ways = (page.url, page.url.removeprefix(self.origin))
        hub.links = [link for link in hub.links if link.attributes["href"] not in ways]

    def link(self, page: Draft, to: str) -> None:
        page.add_link(to, f"{LANGUAGES[page.language].visit} {invented(self.dice)}")

    def _pages(self) -> None:
        languages = list(LANGUAGES)
        main = self.dice.choice(("en", "de", "fr", "es"))
        self.home = home = self.new_page("/", main, None)
        count = max(2, -(-self.size // _PER_SECTION))
        for n in range(count):
            language = main if n == 0 else self.dice.choice(languages)
            self.sections.append(self.new_page(f"/{self.token()}/", language, home))
        for n in range(self.size - count - 1):
            hub = self.sections[n % count]
            path = hub.url.removeprefix(self.origin)
            page = self.new_page(f"{path}{self.token()}", hub.language, hub)
            self.link(page, self._href(hub.url))
            if self.dice.random() < 0.5:
                self.link(page, self._href(self.home.url))
            self.free.append(page)
        self.dice.shuffle(self.free)

    def _href(self, url: str) -> str:
        return url if self.dice.random() < 0.5 else url.removeprefix(self.origin)


def _error(status: int) -> Answer:
    headers = {"Content-Type": "text/plain; charset=utf-8", **HEADERS}
    return Answer(status=status, headers=headers, body=b"not here")
