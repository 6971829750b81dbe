"""JSON-LD, microdata and Open Graph of a page, in one shape: nodes with types, properties and a pointer.

JSON with the usual mistakes is read all the same; not everybody does that, so ``invalid`` names it.

extruct reads them, script by script, so that one broken script costs only itself. RDFa is left out on purpose: hardly
a shop or board has it alone, and its reader is slow.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import lxml.html
from lxml.etree import LxmlError
from selectolax.lexbor import LexborHTMLParser

from leasehold import storable

Json = Any

# A page with more items than this is a list or an attack; microdata takes time with the square of them.
MAX_ITEMS = 2000
MAX_DEPTH = 40

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_WRAPPERS = re.compile(r"^\s*(?:<!--|(?://\s*)?<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|(?://\s*)?\]\]>|;)\s*$")
_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One thing somebody described; ``types`` are short names in lower case, such as ``product``."""

    source: str
    types: frozenset[str]
    properties: dict[str, Json]
    pointer: str


class Named(dict[str, Json]):
    """A node that stands where only its @id was written, and where it really is."""

    def __init__(self, node: dict[str, Json], pointer: str) -> None:
        super().__init__(node)
        self.pointer = pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured:
    json_ld: list[Json] = field(default_factory=list)
    microdata: list[Json] = field(default_factory=list)
    opengraph: dict[str, list[str]] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()  # scripts that are no JSON by the letter, also where they could be read

    def document(self) -> dict[str, Json]:
        """What the pointers of nodes and facts lead into."""
        return {"json-ld": self.json_ld, "microdata": self.microdata, "opengraph": self.opengraph}

    def nodes(self) -> Iterator[Node]:
        """Every described thing, outer before inner, JSON-LD before microdata."""
        for source in ("json-ld", "microdata"):
            things = list(_things(self.document()[source], f"/{source}"))
            known = {str(thing["@id"]): Named(thing, at) for at, thing in things if "@id" in thing and len(thing) > 1}
            for pointer, thing in things:
                if types := _types(thing):
                    yield Node(source=source, types=types, properties=_resolved(thing, known), pointer=pointer)


def read_structured(text: str, *, url: str, page: LexborHTMLParser | None = None) -> Structured:
    """What the page says to machines. Never an error: what cannot be read is named in ``errors``.

    ``page`` is the same text, parsed: then lxml is given no more of it than it needs, which takes half the time.
    """
    errors: list[str] = []
    tree = _tree(_for_machines(page, text) if page else text, errors)
    if tree is None:
        return Structured(errors=tuple(errors))
    invalid: list[str] = []
    return Structured(
        json_ld=_pruned(_json_ld(tree, errors, invalid)),
        microdata=_pruned(_attempt("microdata", lambda: _microdata(tree, url), errors) or []),
        opengraph=_attempt("opengraph", lambda: _opengraph(tree), errors) or {},
        errors=tuple(errors),
        invalid=tuple(invalid),
    )


def values(node: dict[str, Json], name: str) -> list[Json]:
    """A property as a list, whether it was given once, many times or not at all."""
    value = node.get(name)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def text_of(value: Json) -> str | None:
    """The words of a property: a text, a number, or a thing with a name. JSON may hold what PostgreSQL cannot keep."""
    if isinstance(value, list):
        return next((found for item in value if (found := text_of(item))), None)
    if isinstance(value, dict):
        return text_of(value.get("name") or value.get("@value") or value.get("value"))
    if isinstance(value, str):
        return " ".join(storable(html.unescape(value)).split()) or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


@cache
def _extruct() -> Any:
    """Not before it is needed: it brings all its readers along, and that takes a second."""
    return import_module("extruct")


def _tree(text: str, errors: list[str]) -> Any:
    """Parsed as bytes: lxml refuses text with an encoding declaration."""
    parser = lxml.html.HTMLParser(encoding="utf-8")
    return _attempt("html", lambda: lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser), errors)


def _for_machines(page: LexborHTMLParser, text: str) -> str:
    """The scripts and meta elements alone, if there is no microdata: that is woven into the whole page."""
    if page.css_first("[itemscope]") is not None:
        return text
    prefix = " ".join(node.attributes.get("prefix") or "" for node in page.css("html[prefix], head[prefix]"))
    kept = "".join(node.html or "" for node in page.css('script[type*="ld+json" i], head > meta[property]'))
    return f'<html prefix="{html.escape(prefix)}"><head>{kept}</head></html>'


def _attempt(what: str, read: Callable[[], Any], errors: list[str]) -> Any:
    try:
        return read()
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, LxmlError, RecursionError) as problem:
        errors.append(f"{what}: {str(problem)[:200] or type(problem).__name__}")
        return None


def _json_ld(tree: Any, errors: list[str], invalid: list[str]) -> list[Json]:
    found: list[Json] = []
    for script in tree.iter("script"):
        if (script.get("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            script.set("type", "application/ld+json")
            if fault := _fault(script.text or ""):
                invalid.append(f"json-ld: {fault}")
            found += _script_items(script, errors)
    return found


def _fault(text: str) -> str | None:
    """Why a script is no JSON; marks around the whole, which XHTML needs, are no fault."""
    plain = _WRAPPERS.sub("", _WRAPPERS.sub("", text)).removeprefix("\ufeff").strip()
    try:
        json.loads(plain, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        return str(problem)[:200] or type(problem).__name__
    return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _script_items(script: Any, errors: list[str]) -> list[Json]:
    """As it is, else with the usual mistakes repaired, else an error."""
    original = script.text or ""
    problems: list[str] = []
    for repair in (None, _unwrapped, _unescaped, _joined):
        if repair:
            script.text = repair(original)
        items = _attempt("json-ld", lambda: _extruct().JsonLdExtractor().extract_items(script), problems)
        if items is not None:
            return list(items)
    errors.append(problems[0])
    return []


def _unwrapped(text: str) -> str:
    """Without control characters, comments around the whole and commas before a closing bracket."""
    return _COMMA.sub(r"\1", _WRAPPERS.sub("", _WRAPPERS.sub("", _CONTROL.sub(" ", text))))


def _unescaped(text: str) -> str:
    return _unwrapped(html.unescape(text))


def _joined(text: str) -> str:
    """Two objects in one script, one behind the other."""
    return "[" + re.sub(r"\}\s*\{", "},{", _unwrapped(text)) + "]"


def _pruned(value: Json, depth: int = MAX_DEPTH) -> Json:
    """What lies too deep is cut off, so that nobody further on need fear for the stack."""
    if not isinstance(value, dict | list):
        return value
    if not depth:
        return None
    if isinstance(value, list):
        return [_pruned(item, depth - 1) for item in value]
    return {name: _pruned(item, depth - 1) for name, item in value.items()}


def _microdata(tree: Any, url: str) -> list[Json]:
    scopes = int(tree.xpath("count(//*[@itemscope])"))
    if scopes > MAX_ITEMS:
        raise ValueError(f"{scopes} items, more than {MAX_ITEMS}")
    if not scopes:
        return []
    if scopes > MAX_DEPTH and tree.xpath(f"boolean(//*[@itemscope][count(ancestor::*[@itemscope]) > {MAX_DEPTH}])"):
        raise ValueError(f"items nested more than {MAX_DEPTH} deep")
    return [_as_json_ld(item) for item in _microdata_reader().extract_items(tree, url)]


def _microdata_reader() -> Any:
    """With expressions of its own. A page whose items refer to each other in a long chain may still exhaust the stack,
    and an expression that this strikes keeps its lock for ever: nobody may share it.
    """
    reader = _extruct().MicrodataExtractor()
    sets = {"set": "http://exslt.org/sets"}
    for name in ("_xp_item", "_xp_prop", "_xp_clean_text"):
        setattr(reader, name, lxml.etree.XPath(getattr(reader, name).path, namespaces=sets))
    return reader


def _as_json_ld(value: Json) -> Json:
    """``{"type": …, "properties": {…}}`` in the shape that JSON-LD has."""
    if isinstance(value, list):
        return [_as_json_ld(item) for item in value]
    if not isinstance(value, dict):
        return value
    node = {name: _as_json_ld(item) for name, item in value.get("properties", {}).items()}
    if "value" in value:
        node["@value"] = value["value"]
    return {"@type": value.get("type", ""), **node}


def _opengraph(tree: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in _extruct().OpenGraphExtractor().extract_items(tree):
        for name, value in item["properties"]:
            found.setdefault(name.lower(), []).append(value.strip())
    return found


def _things(value: Json, pointer: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every object, with its pointer."""
    if isinstance(value, dict):
        yield pointer, value
    children: Iterable[tuple[object, Json]] = value.items() if isinstance(value, dict) else enumerate(value)
    for name, child in children:
        if isinstance(child, dict | list):
            yield from _things(child, f"{pointer}/{escaped(str(name))}")


def _types(thing: dict[str, Json]) -> frozenset[str]:
    return frozenset(
        re.split(r"[/#:]", name.strip())[-1].lower()
        for given in values(thing, "@type")
        if isinstance(given, str)
        for name in given.split()
    )


def _resolved(thing: dict[str, Json], known: dict[str, Named]) -> dict[str, Json]:
    """A property that only names another node by its @id becomes that node."""
    return {name: _resolve(value, known) for name, value in thing.items()}


def _resolve(value: Json, known: dict[str, Named]) -> Json:
    if isinstance(value, list):
        return [_resolve(item, known) for item in value]
    if isinstance(value, dict) and set(value) == {"@id"}:
        return known.get(str(value["@id"]), value)
    return value


def escaped(name: str) -> str:
    """A name as a step of a JSON pointer."""
    return storable(name).replace("~", "~0").replace("/", "~1")
