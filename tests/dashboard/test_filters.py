"""The parts of the dashboard that need no database: searches, words, and files of others."""

import hashlib
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from uuid import UUID

import pytest

from leasehold.dashboard import filters as words
from leasehold.errors import BadInput
from leasehold.features.flows import drawing
from leasehold.features.flows.model import StepInfo
from leasehold.features.jobs import search_syntax

ASSETS = files("leasehold.dashboard") / "assets"
OWN = {"app.css", "app.js", "icon.svg", "assets.lock", "LICENSES.txt"}


def test_every_file_of_others_is_the_one_that_the_lock_names() -> None:
    locked = {}
    for line in (ASSETS / "assets.lock").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _package, _version, licence, digest = line.split()
            assert licence in ("0BSD", "MIT")
            locked[name] = digest
    assert {entry.name for entry in ASSETS.iterdir()} - OWN == set(locked)
    assert {name: hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() for name in locked} == locked


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("", {}),
        ("kind:shop.refund state:dead", {"kind": "shop.refund", "state": "dead"}),
        ('error:"timed out" tag:vip', {"error": "timed out", "tag": "vip"}),
        ("shop.refund", {"kind": "shop.refund"}),  # looks like a kind
        ("timeout", {"error": "timeout"}),  # anything else is looked for in errors
        ("key:a:b", {"key": "a:b"}),
        ("payload.order.id:4711 payload.vip:true", {"payload": {"order.id": "4711", "vip": "true"}}),
    ],
)
def test_a_search_is_made_of_qualifiers(text: str, filters: dict[str, str]) -> None:
    assert search_syntax.parse(text).filters == filters


def test_an_id_is_that_job() -> None:
    job_id = UUID("0190a000-0000-7000-8000-00000000000a")
    assert search_syntax.parse(f" {job_id} ").job_id == search_syntax.parse(job_id.hex).job_id == job_id


@pytest.mark.parametrize("text", ["knd:a", "kind:", 'error:"open', "kind:a kind:b"])
def test_a_search_that_cannot_be_meant_says_why(text: str) -> None:
    with pytest.raises(BadInput):
        search_syntax.parse(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7199, "1 h ago"),
        (-90, "in 1 min"),
        (200_000, "2 d ago"),
    ],
)
def test_times_are_told_by_their_distance(seconds: float, text: str) -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)
    told = words.ago(now - timedelta(seconds=seconds), now)
    assert f">{text}</time>" in told
    assert "UTC" in told


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0421, "42 ms"),
        (3.21, "3.2 s"),
        (42, "42 s"),
        (4830, "1 h 20 min"),
        (7205, "2 h"),
        (90_000, "1 d 1 h"),
    ],
)
def test_spans_have_two_parts_at_most(seconds: float | None, text: str) -> None:
    assert words.span(seconds) == text


def test_a_bound_that_was_reached_shows() -> None:
    assert (words.count(999, 1000), words.count(1000, 1000), words.count(1234)) == ("999", "1,000+", "1,234")


def test_json_is_escaped_wherever_it_stands() -> None:
    shown = words.tree({"<b>": ["<i>", {"x": "</span><script>"}], "n": None})
    assert "<b>" not in shown
    assert "<script>" not in shown
    assert "&lt;i&gt;" in shown
    assert str(words.brief("<b> 0190a000-0000-7000-8000-00000000000a")).startswith("&lt;b&gt; <span title=")


def a_step(n: int, *after: int, state: str = "succeeded", what: str = "job", kind: str | None = None) -> StepInfo:
    parents = [UUID(int=one) for one in after]
    row = {"job_id": UUID(int=n), "state": state, "reason": None, "after": parents, "finished_at": None}
    return StepInfo.from_row(row | {"name": f"s{n}", "kind": kind or f"shop.s{n}", "what": what})


def test_a_flow_is_drawn_from_left_to_right() -> None:
    steps = [a_step(1), a_step(2, 1), a_step(3, 1), a_step(4, 2, 3, state="blocked", what="approval"), a_step(5, 1, 4)]
    drawn = drawing.draw(steps)
    x = {node.title: node.x for node in drawn.nodes}
    assert x["s1"] < x["s2"] == x["s3"] < x["s4"] < x["s5"]
    assert len(drawn.lines) == 6
    assert len({(node.x, node.y) for node in drawn.nodes}) == 5
    assert all(
        0 <= node.x <= drawn.width - drawing.WIDTH and 0 <= node.y <= drawn.height - drawing.HEIGHT
        for node in drawn.nodes
    )
    assert [node.words for node in drawn.nodes if node.title == "s4"] == ["waits for a person"]
    assert drawing.draw([]).nodes == []


def test_many_steps_that_are_alike_are_drawn_as_one() -> None:
    pages = [a_step(n, 1, kind="shop.page", state="running" if n % 2 else "succeeded") for n in range(2, 102)]
    drawn = drawing.draw([a_step(1), *pages, a_step(200, *range(2, 102), state="blocked")])
    [_, stack, last] = drawn.nodes
    assert (stack.n, stack.title, stack.state, stack.words) == (
        100,
        "100 × shop.page",
        "running",
        "50 of 100 done",
    )
    assert (last.words, len(drawn.lines)) == ("waits for steps", 2)
