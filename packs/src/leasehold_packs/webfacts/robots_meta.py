"""What a page allows crawlers to do with it: the robots meta elements and the X-Robots-Tag header."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Directives with a value of their own; the colon in them names no crawler.
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_NAME = re.compile(r"[a-z][\w.*-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsMeta:
    """All directives that are about us, the most restrictive together; ``none`` is spelled out."""

    directives: frozenset[str]

    @property
    def index(self) -> bool:
        return "noindex" not in self.directives

    @property
    def follow(self) -> bool:
        return "nofollow" not in self.directives


def read_robots_meta(metas: Iterable[tuple[str, str]], *, headers: Iterable[str] = (), agent: str = "") -> RobotsMeta:
    """``metas`` are pairs of name and content; ``agent`` is our own name as sites would spell it."""
    us = {"robots", agent.lower()} - {""}
    contents = [content for name, content in metas if name.strip().lower() in us]
    contents += [_addressed(header, us) for header in headers]
    found = {directive.strip().lower() for content in contents for directive in content.split(",")} - {""}
    if "none" in found:
        found |= {"noindex", "nofollow"}
    return RobotsMeta(directives=frozenset(found - {"none"}))


def _addressed(header: str, us: set[str]) -> str:
    """``noindex`` is for all, ``otherbot: noindex, nofollow`` is not for us. A header may be several in a row."""
    said: list[str] = []
    is_ours = True
    for part in header.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip().lower()
        if colon and name not in _VALUED and _NAME.fullmatch(name):
            is_ours, part = name in us, rest
        if is_ours:
            said.append(part)
    return ",".join(said)
