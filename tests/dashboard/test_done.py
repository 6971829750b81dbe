"""Every page is looked at, and every action of a page is done through that page, by some test."""

from collections import defaultdict
from uuid import uuid4

from tests.dashboard import test_actions, test_pack_actions, test_pages
from tests.dashboard.addresses import actions, routes

#: No page for people, or one that needs what the tests of its pack alone make.
_ELSEWHERE = ("/live/", "/assets/", "/favicon", "/keys/{key_id}", "/audits/{run_id}/page", "/passports/versions/")


def test_every_form_of_every_page_is_sent_by_a_browser_in_some_test() -> None:
    tests = [one for module in (test_actions, test_pack_actions, test_pages) for one in vars(module).values()]
    marks = [mark for test in tests for mark in getattr(test, "pytestmark", ()) if mark.name == "does"]
    done = {route for mark in marks for route in mark.args}
    assert sorted(done) == sorted({route.path for route in actions()})


def test_every_page_is_among_those_that_are_looked_at() -> None:
    seen = [path.partition("?")[0] for path in test_pages.paths(defaultdict(uuid4))]
    pages = [route for route in routes() if "GET" in (route.methods or ()) and not route.path.startswith(_ELSEWHERE)]
    assert [route.path for route in pages if not any(map(route.path_regex.match, seen))] == []
