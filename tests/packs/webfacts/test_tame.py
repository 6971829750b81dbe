"""Pages that are made to keep a parser busy. What is asserted is what it had to build, not how long that took."""

import gzip
import random
from collections.abc import Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from leasehold_packs.webfacts import sanitize as module
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.dom import parse
from leasehold_packs.webfacts.sanitize import tame
from tests.corpora.data import CORPORA, needs_corpora

#: Elements that are not counted stand between those that are: of tables there are three more for
#: each.
_DEPTH, _BETWEEN = 20, 5
_NAMES = [
    "div", "p", "span", "a", "b", "i", "font", "li", "ul", "dl", "dd", "dt", "table", "tbody", "tr", "td", "th",
    "caption", "colgroup", "col", "select", "option", "optgroup", "button", "form", "object", "applet",
    "marquee", "template", "svg", "math", "foreignObject", "desc", "title", "mi", "annotation-xml", "style",
    "script", "textarea", "iframe", "noscript", "noframes", "xmp", "h1", "pre", "address", "nobr", "ruby", "rb",
    "rt", "rtc", "rp", "body", "html", "head", "frameset", "input", "br", "hr", "img", "link", "meta", "param",
    "details", "x-y",
]  # fmt: skip
_MARKS = ["<!--", "-->", "<!-->", "--!>", "<![CDATA[", "]]>", "<!x ", "</ ", "<?x", "x", "<", '"', "'", ">", "=",
          "<script><!--<script>", "</scriptx>", "<a b='", '<a b=">"']  # fmt: skip


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits for small pages."""
    for name, limit in {"_HARMLESS": 0, "_LOOKS": 0, "_COPIES": 0, "_MIN_DEPTH": _DEPTH}.items():
        monkeypatch.setattr(module, name, limit)


def test_an_ordinary_page_stays_as_it_is() -> None:
    page = "<ul>" + "<li><a href=x><b>one</a></b><p>two" * 5000 + "</ul><table><tr><td>three<tr><td>four</table>"
    assert tame(page) == page


@pytest.mark.parametrize(
    "pattern",
    [
        "<div>", "<div></x>", "<div><!--</div>-->", "<div><!x </div>", "<div a='</div>'>", "<div><table></div></table>",
        "<div><script></scriptx></div></script>", "<div><script><!--<script></script></div>--></script>",
        "<li><dd>", "<rt>", "<optgroup>", "<svg><g a=b/>", "<svg><g><![CDATA[></g>]]>", "<select><style></select><div>",
        "<span><p></span><div></span>", "<b><i c={n}></b>", "<a><b c={n}>", "<div><b c={n}></div>",
        "<table><b c={n}><tr>", "<b c={n}><table></b></table>", "<svg><p><div><script></div></script>",
        "<math><option>", "<svg><a>", "<<div>x", "</details><details><frameset>", "<svg></button><button/><rb>",
        "<frameset><title><object>", "<select><script><!--<script></script><applet>",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("strict")
def test_no_pattern_nests_without_end(pattern: str) -> None:
    page = "".join(pattern.replace("{n}", str(n)) for n in range(1000))
    assert _depth(parse(page)) < _DEPTH * _BETWEEN + 10


@pytest.mark.usefixtures("strict")
def test_no_random_page_nests_without_end() -> None:
    dice = random.Random(1)
    for _ in range(500):
        begin, pattern, end = (_soup(dice, most) for most in (4, 6, 3))
        page = begin + "".join(pattern.replace("{n}", str(n)) for n in range(400)) + end * 400
        assert _depth(parse(page)) < _DEPTH * _BETWEEN + 10, (begin, pattern, end)


def test_attributes_beyond_number_are_left_out_and_their_element_stays() -> None:
    many = " ".join(f'a{n}=">"' for n in range(10_000))
    tree = parse(f"<p>before</p><div {many} id=late>inside</div><p>after</p>")
    [found] = tree.css("div")
    assert len(found.attributes) == module.MAX_ATTRIBUTES
    assert tree.body is not None
    assert tree.body.text() == "beforeinsideafter"


def test_a_root_does_not_collect_the_attributes_of_many() -> None:
    tree = parse("".join(f"<html a{n}=1>" for n in range(10_000)))
    assert tree.root is not None
    assert len(tree.root.attributes) == module._MOST["html"]


def test_a_list_has_no_more_choices_than_anybody_reads() -> None:
    tree = parse("<select>" + "<option>x" * 10_000 + "</select>after")
    assert len(tree.css("option")) == module._MOST["option"]
    assert tree.body is not None
    assert tree.body.text().endswith("after")


def test_formats_that_were_not_ended_are_not_opened_again_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COPIES", 10_000)
    page = "<p>" + "".join(f"<b c={n}>" for n in range(1000)) + "</p>" + "<p>x</p>" * 5000 + "<a href=late>late</a>"
    tree = parse(page)
    assert len(tree.css("b")) < 20_000  # of five millions
    assert tree.body is not None
    assert tree.body.text().endswith("late")


def test_what_is_nested_beyond_reason_can_still_be_read() -> None:
    body = parse("<p>before</p>" + "<div>" * 200_000 + "inside").body
    assert body is not None
    assert body.text() == "beforeinside"


@needs_corpora
def test_no_real_page_is_changed() -> None:
    folders = ("product-extraction", "article-extraction")
    pages = [page for folder in folders for page in (CORPORA / folder).rglob("*.html.gz")]
    assert len(pages) > 100
    for page in pages:
        text = decode(gzip.decompress(page.read_bytes()), content_type="text/html; charset=utf-8")
        assert module._Tamer(text).run() == text, page


def _soup(dice: random.Random, most: int) -> str:
    return "".join(_token(dice) for _ in range(dice.randint(1, most)))


def _token(dice: random.Random) -> str:
    name = dice.choice(_NAMES)
    kinds = [f"<{name}>", f"<{name} a{{n}}>", f"<{name} a=b/>", f"<{name}/>", f"</{name}>", dice.choice(_MARKS)]
    return dice.choices(kinds, weights=[9, 2, 1, 1, 5, 2])[0]


def _depth(tree: LexborHTMLParser) -> int:
    return max((depth for _, depth in _nodes(tree)), default=0)


def _nodes(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, int]]:
    waiting = [(tree.root, 0)] if tree.root else []
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in node.iter()]
