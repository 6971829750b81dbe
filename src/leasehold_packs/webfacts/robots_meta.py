"""What a page allows crawlers to do with it: the robots meta elements and the X-Robots-Tag header."""

from collections.abc import Iterable
from dataclasses import dataclass

# Directives with a value of their own; the colon in them names no crawler.
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


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
    contents += [said for header in headers if (said := _addressed(header, us)) is not None]
    found = {directive.strip().lower() for content in contents for directive in content.split(",")} - {""}
    if "none" in found:
        found |= {"noindex", "nofollow"}
    return RobotsMeta(directives=frozenset(found - {"none"}))


def _addressed(header: str, us: set[str]) -> str | None:
    """``noindex`` is for all, ``otherbot: noindex`` is not for us."""
    name, colon, said = header.partition(":")
    name = name.strip().lower()
    if not colon or "," in name or name in _VALUED:
        return header
    return said if name in us else None
