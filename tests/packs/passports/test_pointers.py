"""Trees taken apart and put together again."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.pointers import leaves, matching, nested, pruned

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5).filter(lambda name: not name.isdigit())
TREES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.just([]) | st.just({}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(TREES)
def test_a_tree_is_the_same_after_it_was_taken_apart(tree: Any) -> None:
    assert nested(dict(leaves(tree))) == tree


@settings(deadline=None)
@given(TREES, st.data())
def test_pruning_keeps_what_is_asked_for_and_is_done_once(tree: Any, data: st.DataObject) -> None:
    flat = dict(leaves(tree))
    keep = data.draw(st.sets(st.sampled_from(sorted(flat))))

    once = pruned(tree, keep)

    assert pruned(once, keep) == once
    if keep:
        shown = dict(leaves(once))
        assert {pointer: shown[pointer] for pointer in keep} == {pointer: flat[pointer] for pointer in keep}
        assert all(value is None for pointer, value in shown.items() if pointer not in keep)


@pytest.mark.parametrize(
    "flat",
    [{"/a/1": 1}, {"/a/0": 1, "/a/b": 2}, {"/a": 1, "/a/b": 2}, {"a": 1}, {"": 1, "/a": 2}, {"/a/0": 1, "/a/00": 2}],
    ids=["a gap", "a list with names", "inside of a value", "no pointer", "a root and more", "two spellings"],
)
def test_leaves_that_make_no_tree_are_refused(flat: dict[str, Any]) -> None:
    with pytest.raises(PassportError):
        nested(flat)


def test_patterns_find_elements_by_a_member() -> None:
    flat = dict(leaves({"m": [{"n": "Ni", "s": 1}, {"n": "Co", "s": 2}], "x": {"*": 3, "n": "Ni"}}))

    assert matching("/m/*/s", flat) == ["/m/0/s", "/m/1/s"]
    assert matching("/m/[n=Co]/s", flat) == ["/m/1/s"]
    assert matching("/m/[n=Co]", flat) == ["/m/1/n", "/m/1/s"]
    assert matching("/x/*", flat) == ["/x/*"]
    assert matching("/m/[n=Pb]", flat) == []
