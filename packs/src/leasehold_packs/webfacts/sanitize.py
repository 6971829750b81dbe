"""Hostile HTML made harmless, before a parser sees it.

For many a tag a parser looks at all elements that are open, and for each attribute at all others of its element: its
time grows with the square of both, and nothing else of the process runs meanwhile. So from some number on, opening tags
and attributes are left out; browsers have such numbers too.

Where it is not clear what a parser would see, an element counts as opened and an end as no end: rather too many are
counted than too few.
"""

import re
from collections import defaultdict
from functools import cache

MAX_ATTRIBUTES = 500
#: So many tags may nest as they like.
_HARMLESS = 3000
#: Looks at open elements in the whole page: a second or two.
_LOOKS = 500_000_000
_MIN_DEPTH = 500
#: Formats that are opened again because they were not ended, in the whole page: some hundred megabytes.
_COPIES = 1_000_000

#: As the standard's tokenizer reads it: an equals sign may begin a name, and quotes hide everything until their end.
#: Groups are not possessive: before Python 3.11.5 those are broken. Nothing behind them fails, so none is tried again.
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>]*+))?"""
_MARK = re.compile(
    rf"""<(?:
      (?P<comment>!--(?:-?>)?)
    | (?P<data>!\[CDATA\[[^>]*+)
    | (?:[!?]|/[^a-zA-Z>])[^>]*+  # no tag: it ends at the next bracket
    | /(?P<closed>[a-zA-Z][^\s/>]*+)(?:{_ATTRIBUTE})*
    | (?P<opened>[a-zA-Z][^\s/>]*+)
      (?P<attributes>(?:{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}})(?P<more>(?:{_ATTRIBUTE})*)(?P<tail>[\s/]*+)
    )""",
    re.VERBOSE,
)
_COMMENT_END = re.compile("--!?>")
#: What they hold is text, but not inside of the others.
_RAW = {"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"}
_NOT_RAW_IN = ("frameset", "math", "select", "svg")
_IN_SCRIPT = re.compile(r"(?P<begin><!--)|(?P<end>-->)|(?P<script><script)(?=[\s/>])|</script(?=[\s/>])", re.IGNORECASE)
#: These hold nothing, or end where the next of their kind begins: they nest only in others, which are counted.
_UNCOUNTED = {
    "area", "base", "basefont", "bgsound", "body", "br", "col", "colgroup", "embed", "frame", "head", "hr", "html",
    "image", "img", "input", "keygen", "link", "meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th",
    "thead", "tr", "track", "wbr",
}  # fmt: skip
#: There is one root and one body, which get the attributes of all others; and a list looks at all choices for each.
_MOST = {"html": 20, "body": 20, "option": 2000}
#: Each ends those that stand beside it.
_ITEMS = {"li": {"li"}, "dd": {"dd", "dt"}, "dt": {"dd", "dt"}}
#: These end though others are open inside of them, which may be so in our list alone: but not through a wall.
_BLOCKS = {
    "address", "article", "aside", "blockquote", "button", "center", "dd", "details", "dialog", "dir", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "li", "listing", "main", "menu", "nav",
    "ol", "pre", "search", "section", "summary", "ul",
}  # fmt: skip
_WALLS = ("applet", "caption", "frameset", "marquee", "object", "select", "table", "template")
_WALLS_OF_ITEMS = (*_WALLS, "ol", "ul")
#: So do these; those that stay open are opened again and again.
_FORMATS = {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
_CROSSED = 32


def tame(text: str) -> str:
    """The same page without what is too much of it."""
    if text.count("<") <= _HARMLESS and not any(mark["more"] for mark in _MARK.finditer(text)):
        return text
    return _Tamer(text).run()


class _Tamer:
    def __init__(self, text: str) -> None:
        tags = text.count("<") + 1
        self._max_depth = max(_MIN_DEPTH, _LOOKS // tags)
        self._copies_left = max(_COPIES, tags)
        self._text = text
        self._at = 0  # up to here it was looked at
        self._kept: list[str] = []
        self._begin = 0  # from here on it is kept
        self._opened: list[str] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)  # in that list, of each name
        self._formats = 0
        self._seen = dict.fromkeys(_MOST, 0)
        self._no_ends_before = 0

    def run(self) -> str:
        while mark := _MARK.search(self._text, self._at):
            self._at = mark.end()
            match mark.lastgroup:
                case "tail":
                    self._open(mark, mark["opened"].lower())
                case "closed":
                    self._close(mark["closed"].lower())
                case "comment":
                    self._skip_comment(mark["comment"])
                case "data":
                    self._distrust_ends("]]>")
        return "".join((*self._kept, self._text[self._begin :])) if self._kept else self._text

    def _skip_comment(self, begin: str) -> None:
        if begin.endswith(">"):
            return
        if self._at < self._no_ends_before:
            self._distrust_ends("-->")
            return
        end = _COMMENT_END.search(self._text, self._at)
        self._at = end.end() if end else len(self._text)

    def _open(self, mark: re.Match[str], name: str) -> None:
        self._copies_left -= self._formats
        if self._copies_left < 0 and self._formats:
            self._end_formats(mark.start())
        counts = self._counts(mark, name)
        if self._is_too_much(name, counts=counts):
            self._at += self._text.startswith(">", self._at)
            self._leave_out(mark.start())
            if self._text.startswith("<", mark.start() - 1):
                self._kept.append("<!---->")  # what follows must not become a tag
            return
        if mark["more"]:
            self._leave_out(mark.start("more"))
        if name in _RAW:
            self._skip_raw(name)
        if counts:
            self._push_beside(name)

    def _is_too_much(self, name: str, *, counts: bool) -> bool:
        if name in _MOST:
            self._seen[name] += 1
            if self._seen[name] > _MOST[name]:
                return True
        if name in _FORMATS and self._copies_left < 0:
            return True
        return counts and len(self._opened) >= self._max_depth

    def _end_formats(self, place: int) -> None:
        """All at once, and from there on there are no more."""
        opened = self._pop_to(0)
        self._kept.append(self._text[self._begin : place])
        self._kept += (f"</{name}>" for name in reversed(opened) if name in _FORMATS)
        self._begin = place
        for name in opened:
            if name not in _FORMATS:
                self._push(name)

    def _push(self, name: str) -> None:
        self._places[name].append(len(self._opened))
        self._opened.append(name)
        self._formats += name in _FORMATS

    def _pop_to(self, place: int) -> list[str]:
        """What stood there, and beyond."""
        popped = self._opened[place:]
        del self._opened[place:]
        for name in popped:
            self._places[name].pop()
            self._formats -= name in _FORMATS
        return popped

    def _counts(self, mark: re.Match[str], name: str) -> bool:
        if name not in _RAW and name not in _UNCOUNTED:
            return True
        return self._is_foreign() and not mark["tail"].endswith("/")

    def _is_foreign(self) -> bool:
        return bool(self._places["svg"] or self._places["math"])

    def _push_beside(self, name: str) -> None:
        """An item ends the one before it, and a link too."""
        top = self._opened[-1] if self._opened else ""
        if (top in _ITEMS.get(name, ()) or top == name == "a") and not self._is_foreign():
            self._pop_to(len(self._opened) - 1)
        self._push(name)

    def _leave_out(self, begin: int) -> None:
        """From there to where we are."""
        self._kept.append(self._text[self._begin : begin])
        self._begin = self._at

    def _skip_raw(self, name: str) -> None:
        if self._at < self._no_ends_before or any(self._places[other] for other in _NOT_RAW_IN):
            self._distrust_ends(f"</{name}")
            return
        self._at = _script_end(self._text, self._at) if name == "script" else _raw_end(self._text, name, self._at)

    def _distrust_ends(self, until: str) -> None:
        """What seems to end something may be text."""
        end = self._text.find(until, max(self._at, self._no_ends_before))
        self._no_ends_before = end if end >= 0 else len(self._text)

    def _close(self, name: str) -> None:
        if self._at <= self._no_ends_before or not self._places.get(name):
            return
        place = self._places[name][-1]
        above = len(self._opened) - place - 1
        if above == 0:
            self._pop_to(place)
        elif (name in _BLOCKS or name in _FORMATS) and above <= _CROSSED and not self._is_walled(name, place):
            for other in self._pop_to(place)[1:]:
                self._push(other)

    def _is_walled(self, name: str, place: int) -> bool:
        walls = _WALLS_OF_ITEMS if name == "li" else _WALLS
        return self._is_foreign() or any(self._places[wall] and self._places[wall][-1] > place for wall in walls)


def _raw_end(text: str, name: str, at: int) -> int:
    end = _end_of(name).search(text, at)
    return end.start() if end else len(text)


@cache
def _end_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)


def _script_end(text: str, at: int) -> int:
    """A script inside of a comment inside of a script has an end of its own."""
    in_comment = in_script = False
    while mark := _IN_SCRIPT.search(text, at):
        at = mark.end()
        if mark["begin"]:
            in_comment = True
            at -= 2  # its dashes may be those of the end
        elif mark["end"]:
            in_comment = in_script = False
        elif mark["script"]:
            in_script = in_comment
        elif in_script:
            in_script = False
        else:
            return mark.start()
    return len(text)
