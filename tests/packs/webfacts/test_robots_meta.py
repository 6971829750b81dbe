"""What a page allows crawlers to do with it."""

import pytest

from leasehold_packs.webfacts.robots_meta import read_robots_meta


@pytest.mark.parametrize(
    ("metas", "headers", "index", "follow"),
    [
        ([], [], True, True),
        ([("robots", "NOINDEX, follow")], [], False, True),
        ([("Robots", "none")], [], False, False),
        ([("robots", "index"), ("robots", "nofollow")], [], True, False),  # the stricter of two counts
        ([("ourbot", "noindex")], [], False, True),
        ([("otherbot", "noindex")], [], True, True),
        ([], ["noindex"], False, True),
        ([], ["otherbot: noindex, nofollow"], True, True),
        ([], ["OurBot: nofollow"], True, False),
        ([], ["unavailable_after: 25 Jun 2010 15:00:00 PST", "noindex"], False, True),
        ([], ["noindex, max-snippet:20"], False, True),
        ([], ["max-snippet:20, noindex"], False, True),
        ([], ["otherbot: noindex, ourbot: nofollow"], True, False),
        ([], ["ourbot: nofollow, otherbot: noindex"], True, False),
        ([], ["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex"], False, True),
    ],
)
def test_all_that_is_about_us_counts(
    metas: list[tuple[str, str]], headers: list[str], index: bool, follow: bool
) -> None:
    found = read_robots_meta(metas, headers=headers, agent="OurBot")
    assert (found.index, found.follow) == (index, follow)
