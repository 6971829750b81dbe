"""Small readings of a parsed page that more than one module needs: words of names, visible text, paths."""

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from leasehold_packs.webfacts.sanitize import tame

_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]
_MAX_NAME = 300
_NAMES = ("class", "id", "data-testid", "data-test", "itemprop")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME_WORD = re.compile(r"[^\W\d_]+")


def parse(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(tame(text))


def visible_text(tree: LexborHTMLParser) -> str:
    """What a reader sees, one line of single spaces. Takes what cannot be seen out of the tree: call it last."""
    tree.strip_tags(_UNSEEN)
    body = tree.body
    return flat(body.text(separator=" ")) if body else ""


def flat(text: str | None) -> str:
    return " ".join((text or "").split())


def attribute(node: LexborNode, name: str) -> str:
    return (node.attributes.get(name) or "").strip()


def name_words(node: LexborNode) -> list[str]:
    """The words that the class, id and test id of an element are made of, in lower case."""
    given = node.attributes  # made anew whenever it is asked for
    return list(_words_of(" ".join(value.strip()[:_MAX_NAME] for name in _NAMES if (value := given.get(name)))))


@lru_cache(maxsize=4096)
def _words_of(names: str) -> tuple[str, ...]:
    """Pages name hundreds of elements in the same few ways."""
    return tuple(word.lower() for word in _NAME_WORD.findall(_CAMEL.sub(" ", names)))


def ancestors(node: LexborNode, limit: int) -> list[LexborNode]:
    """From the parent up, not beyond the body."""
    found: list[LexborNode] = []
    parent = node.parent
    while parent is not None and parent.tag not in ("body", "html") and len(found) < limit:
        found.append(parent)
        parent = parent.parent
    return found


def path_of(node: LexborNode) -> str:
    """A short path a person can find the element by."""
    return " > ".join(reversed([_step(step) for step in (node, *ancestors(node, 2))]))


def _step(node: LexborNode) -> str:
    id_, classes = attribute(node, "id"), attribute(node, "class").split()
    return f"{node.tag}{'#' + id_ if id_ else ''}{''.join('.' + name for name in classes[:2])}"[:80]
