"""JSON pointers (RFC 6901): a tree taken apart into its leaves, and put together again.

A leaf is null, a boolean, a number, a text, or an empty list or object. Patterns are pointers with two more words:
``*`` is any element of a list, ``[name=value]`` is the element that has this member.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from leasehold_packs.passports.errors import invalid

MAX_DEPTH = 64
Leaf = Any


def token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def pointer_to(path: Iterable[str]) -> str:
    return "".join(f"/{token(name)}" for name in path)


@lru_cache(maxsize=65_536)
def tokens(pointer: str) -> tuple[str, ...]:
    if pointer and not pointer.startswith("/"):
        raise invalid(f"{pointer!r} is no JSON pointer", hint="it starts with /")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def order(pointer: str) -> bytes:
    """Pointers are sorted as RFC 8785 sorts names, so that a verifier in a browser sorts them alike."""
    return pointer.encode("utf-16-be", "surrogatepass")


def leaves(tree: Any, at: str = "", depth: int = 0) -> Iterator[tuple[str, Leaf]]:
    if depth > MAX_DEPTH:
        raise invalid(f"more than {MAX_DEPTH} levels at {at}")
    if isinstance(tree, dict) and tree:
        for name, child in tree.items():
            yield from leaves(child, f"{at}/{token(name)}", depth + 1)
    elif isinstance(tree, list) and tree:
        for index, child in enumerate(tree):
            yield from leaves(child, f"{at}/{index}", depth + 1)
    else:
        yield at, tree


def nested(flat: Mapping[str, Leaf]) -> Any:
    """The tree of these leaves. Names of digits alone are places in a list, which must have no gaps."""
    if set(flat) == {""}:
        return flat[""]
    tree: dict[str, Any] = {}
    for pointer in sorted(flat, key=order):
        _put(tree, tokens(pointer), pointer, flat[pointer])
    return _with_lists(tree, "")


class _Branch(dict[str, Any]):
    """A container under construction: an empty object that is a leaf is a plain dict."""


def _put(tree: dict[str, Any], path: tuple[str, ...], pointer: str, leaf: Leaf) -> None:
    if not path:
        raise invalid("a value at the root stands alone")
    for name in path[:-1]:
        tree = tree.setdefault(name, _Branch())
        if not isinstance(tree, _Branch):
            raise invalid(f"{pointer} lies inside of another value")
    if path[-1] in tree:
        raise invalid(f"{pointer} lies inside of another value, or is there twice")
    tree[path[-1]] = leaf


def _with_lists(tree: dict[str, Any], at: str) -> Any:
    children = {
        name: _with_lists(child, f"{at}/{token(name)}") if isinstance(child, _Branch) else child
        for name, child in tree.items()
    }
    numbered = [name for name in children if is_index(name)]
    if not numbered:
        return children
    if len(numbered) < len(children) or {int(name) for name in numbered} != set(range(len(children))):
        raise invalid(f"the list at {at or '/'} has gaps, or also has names")
    return [children[str(index)] for index in range(len(children))]


def sparse(flat: Mapping[str, Leaf]) -> Any:
    """The tree of some leaves of another. Null stands for elements that are left out before others of a list."""
    tree = _Branch()
    for pointer in sorted(flat, key=order):
        _put(tree, tokens(pointer), pointer, flat[pointer])
    return _with_gaps(tree)


def _with_gaps(tree: _Branch) -> Any:
    children = {name: _with_gaps(child) if isinstance(child, _Branch) else child for name, child in tree.items()}
    if not children or not all(is_index(name) for name in children):
        return children
    return [children.get(str(index)) for index in range(1 + max(int(name) for name in children))]


def is_index(name: str) -> bool:
    """Without a leading zero, and of ASCII digits: other spellings of a number are names."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")


def pruned(tree: Any, keep: Collection[str], at: str = "") -> Any:
    """The tree with these leaves only. Null stands for elements that are left out before others of a list."""
    found = _kept(tree, keep, at)
    return {} if found is _NOTHING else found


_NOTHING = object()


def _kept(tree: Any, keep: Collection[str], at: str) -> Any:
    if isinstance(tree, dict) and tree:
        kept = {name: _kept(child, keep, f"{at}/{token(name)}") for name, child in tree.items()}
        return {name: child for name, child in kept.items() if child is not _NOTHING} or _NOTHING
    if isinstance(tree, list) and tree:
        children = [_kept(child, keep, f"{at}/{index}") for index, child in enumerate(tree)]
        while children and children[-1] is _NOTHING:
            children.pop()
        return [None if child is _NOTHING else child for child in children] or _NOTHING
    return tree if at in keep else _NOTHING


def matching(pattern: str, flat: Mapping[str, Leaf]) -> list[str]:
    """The pointers at or under the pattern, in order."""
    wanted = tokens(pattern)
    return sorted((pointer for pointer in flat if matches(wanted, pointer, flat)), key=order)


def matches(wanted: tuple[str, ...], pointer: str, flat: Mapping[str, Leaf]) -> bool:
    found = tokens(pointer)
    if len(found) < len(wanted):
        return False
    for place, want in enumerate(wanted):  # a loop, not all(): this is where compiling spends its time
        if want != found[place] and not _chosen(want, found[:place], found[place], flat):
            return False
    return True


def may_match(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    """What ``matches`` can tell without the values of other leaves."""
    return len(found) >= len(wanted) and all(
        want == name or (is_index(name) and (want == "*" or want.startswith("[")))
        for want, name in zip(wanted, found, strict=False)
    )


def _chosen(want: str, before: Iterable[str], name: str, flat: Mapping[str, Leaf]) -> bool:
    if not is_index(name):
        return False
    if want == "*":
        return True
    if not (want.startswith("[") and want.endswith("]") and "=" in want):
        return False
    member, _, value = want[1:-1].partition("=")
    there = flat.get("".join(f"/{token(part)}" for part in (*before, name, member)), _NOTHING)
    return there is not _NOTHING and _word(there) == value


def _word(leaf: Leaf) -> str:
    return str(leaf).lower() if isinstance(leaf, bool) else str(leaf)
