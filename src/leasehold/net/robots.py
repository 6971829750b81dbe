"""What a site asks of programs in its robots.txt (RFC 9309)."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from weakref import WeakValueDictionary

from protego import Protego

from leasehold.errors import BadResponse, FetchError, FetchTooLarge
from leasehold.net.fetch import Fetcher
from leasehold.net.urls import Url, parse_url

MAX_BYTES = 500 * 1024
#: How long an answer holds; a site that could not answer is asked again sooner.
KEPT_SECONDS = 24 * 3600.0
RETRY_SECONDS = 600.0
#: Of the files that are kept; in memory their rules take many times as much.
MAX_KEPT_BYTES = 4_000_000
MAX_KEPT_SITES = 10_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one site for one program; ``file`` is None where everything or nothing is allowed."""

    agent: str
    file: Protego | None
    otherwise: bool = True
    size: int = 0

    @classmethod
    def read(cls, status: int, body: bytes, *, user_agent: str) -> "Rules":
        """What an answer means: no file allows everything, a site in trouble nothing."""
        agent = product(user_agent)
        if status >= 500 or status == 429:
            return cls.nothing(user_agent)
        if not 200 <= status < 300:
            return cls(agent, None)
        text = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        return cls(agent, parse_robots(text, agent), size=len(text))

    @classmethod
    def nothing(cls, user_agent: str) -> "Rules":
        return cls(product(user_agent), None, otherwise=False)

    def allow(self, url: Url) -> bool:
        if url.target == "/robots.txt" or self.file is None:
            return self.otherwise or url.target == "/robots.txt"
        return self.file.can_fetch(str(url), self.agent)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds that the site wants between two requests."""
        return None if self.file is None else self.file.crawl_delay(self.agent)


def parse_robots(text: str, agent: str) -> Protego:
    """The rules for one program. Only what is about it is left for the parser, which would otherwise copy every rule
    to every agent of its group: a small file could keep it busy for minutes."""
    return Protego.parse("\n".join(_relevant(text, agent.lower())))


_AGENT = re.compile(r"[ \t]*user[- ]?agent[ \t]*:?[ \t]*([^\s#]*)", re.IGNORECASE)
_RULE = re.compile(r"[^:#]*(?:al+[ao]w|delay|rate|time)", re.IGNORECASE)
_SOMEBODY_ELSE = "\x7f"


def _relevant(text: str, agent: str) -> Iterator[str]:
    ours = {"*", agent, *re.split(r"[^\w-]+", agent)} - {""}
    group: set[str] = set()
    begun = False
    for line in text.splitlines():
        if found := _AGENT.match(line):
            name = found[1].lower().replace("*", "") or found[1]
            name = name if name in ours else _SOMEBODY_ELSE
            group = set() if begun else group
            begun = False
            if name not in group:
                yield f"User-agent: {name}"
            group.add(name)
        elif _RULE.match(line):  # a line that is neither does not end a group's list of agents
            begun = True
            yield line


def product(user_agent: str) -> str:
    """The name that rules are written for: ``ExampleBot`` of ``ExampleBot/1.0 (+https://example.com)``."""
    return user_agent.split("/")[0].split(" ")[0] or "*"


class Robots:
    """The rules of sites, fetched once and kept for a while."""

    def __init__(self, fetcher: Fetcher, *, user_agent: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher, self._user_agent, self._clock = fetcher, user_agent, clock
        self._kept: dict[str, tuple[float, Rules]] = {}
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, url: str) -> Rules:
        """The rules of the URL's site; where it cannot be reached, nothing is allowed for a while."""
        origin = parse_url(url).origin
        async with self._asking.setdefault(origin, asyncio.Lock()):  # many may want to know at once
            until, rules = self._kept.get(origin, (0.0, None))
            if rules is None or self._clock() >= until:
                rules = await self._fetched(origin)
                self._keep(origin, rules)
        return rules

    def _keep(self, origin: str, rules: Rules) -> None:
        seconds = KEPT_SECONDS if rules.file or rules.otherwise else RETRY_SECONDS
        self._kept.pop(origin, None)
        self._kept[origin] = (self._clock() + seconds, rules)
        while len(self._kept) > MAX_KEPT_SITES or sum(kept.size for _, kept in self._kept.values()) > MAX_KEPT_BYTES:
            del self._kept[next(iter(self._kept))]

    async def _fetched(self, origin: str) -> Rules:
        try:
            file = await self._fetcher.get(f"{origin}/robots.txt", max_bytes=MAX_BYTES, truncate=True)
        except (BadResponse, FetchTooLarge):
            return Rules.read(404, b"", user_agent=self._user_agent)
        except FetchError as problem:
            if not problem.transient:
                raise
            return Rules.nothing(self._user_agent)
        return Rules.read(file.status, file.body, user_agent=self._user_agent)
