"""What a site asks of programs in its robots.txt (RFC 9309)."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from weakref import WeakValueDictionary

from protego import Protego

from leasehold.errors import BadResponse, FetchError, FetchTooLarge
from leasehold.fetch.fetcher import Fetcher
from leasehold.fetch.urls import Url

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
    text: str = field(default="", repr=False)

    @classmethod
    def read(cls, status: int | None, body: bytes, *, user_agent: str) -> "Rules":
        """What an answer means: no file allows everything, a site in trouble nothing."""
        agent = product(user_agent)
        if status is None or status >= 500 or status == 429:
            return cls(agent, None, otherwise=False)
        if not 200 <= status < 300:
            return cls(agent, None)
        text = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        return cls(agent, parse_robots(text, agent), text=text)

    def allow(self, url: Url) -> bool:
        if url.target == "/robots.txt" or self.file is None:
            return self.otherwise or url.target == "/robots.txt"
        return self.file.can_fetch(str(url), self.agent)

    def forbidding(self, url: Url) -> str:
        """The line of the file that is why ``allow`` said no: of those that fit, the longest."""
        for line in sorted(_forbidding(self.text, self.agent.lower()), key=len, reverse=True):
            if not Protego.parse(f"User-agent: *\n{line}").can_fetch(str(url), "*"):
                return line.strip()
        return "Disallow"

    @property
    def in_trouble(self) -> bool:
        """The site could not answer: nothing is allowed, for a while."""
        return self.file is None and not self.otherwise

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
#: Rules that are tried to find the one that forbids.
_LOOKED_AT = 1000


def _forbidding(text: str, agent: str) -> list[str]:
    """The Disallow lines of the groups that are about one program; where there are none, of those about all."""
    found: dict[bool, list[str]] = {True: [], False: []}  # by whether its group names us
    group: list[str] = []
    begun = False
    for line in _relevant(text, agent):
        if line.startswith("User-agent: "):
            group = [] if begun else group
            group.append(line.removeprefix("User-agent: "))
            begun = False
        else:
            begun = True
            names = {name for name in group if name != _SOMEBODY_ELSE}
            if names and "dis" in line.lower():
                found[names != {"*"}].append(line)
    return (found[True] or found[False])[:_LOOKED_AT]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An answer to the question for robots.txt, and for how many seconds it holds; no status: there was no answer."""

    status: int | None
    file: bytes
    seconds: float


class Store(Protocol):
    """Where answers are kept for other processes. One that was asked for before ``since`` is not loaded."""

    async def load(self, origin: str, since: datetime | None) -> Kept | None: ...

    async def keep(self, origin: str, kept: Kept) -> None: ...


@dataclass(frozen=True, slots=True)
class _Known:
    """Rules in memory: until when they hold by our clock, and since when they are known by that of the store."""

    rules: Rules
    until: float
    since: datetime | None

    def holds(self, now: float, since: datetime | None) -> bool:
        return now < self.until and (since is None or (self.since is not None and since <= self.since))


class Robots:
    """The rules of sites, fetched once and kept for a while."""

    def __init__(self, fetcher: Fetcher, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher, self._clock = fetcher, clock
        self._kept: dict[tuple[str, str], _Known] = {}
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, url: Url, *, user_agent: str, store: Store, since: datetime | None = None) -> Rules:
        """The rules of the URL's site; where it cannot be reached, nothing is allowed for a while.

        Rules that were asked for before ``since``, by the clock of the store, are asked for again.
        """
        origin = url.origin
        async with self._asking.setdefault(origin, asyncio.Lock()):  # many may want to know at once
            known = self._kept.get((origin, user_agent))
            if known is None or not known.holds(self._clock(), since):
                kept = await store.load(origin, since) or await self._asked(origin, store)
                rules = Rules.read(kept.status, kept.file, user_agent=user_agent)
                known = _Known(rules, self._clock() + kept.seconds, since)
                self._keep(origin, user_agent, known)
        return known.rules

    def _keep(self, origin: str, user_agent: str, known: _Known) -> None:
        self._kept.pop((origin, user_agent), None)
        self._kept[origin, user_agent] = known
        while (
            len(self._kept) > MAX_KEPT_SITES
            or sum(len(kept.rules.text) for kept in self._kept.values()) > MAX_KEPT_BYTES
        ):
            del self._kept[next(iter(self._kept))]

    async def _asked(self, origin: str, store: Store) -> Kept:
        status, file = await self._fetched(origin)
        in_trouble = status is None or status >= 500 or status == 429
        # Only a file with rules is worth its place.
        kept = Kept(
            status=status,
            file=file if status is not None and 200 <= status < 300 else b"",
            seconds=RETRY_SECONDS if in_trouble else KEPT_SECONDS,
        )
        await store.keep(origin, kept)
        return kept

    async def _fetched(self, origin: str) -> tuple[int | None, bytes]:
        try:
            answer = await self._fetcher.get(f"{origin}/robots.txt", max_bytes=MAX_BYTES, truncate=True)
        except (BadResponse, FetchTooLarge):
            return 404, b""
        except FetchError as problem:
            if not problem.transient:
                raise
            return None, b""
        return answer.status, answer.body
