"""Merkle trees in the shape of RFC 6962, and the salted leaves of a passport.

    leaf   SHA-256(0x00 ‖ salt ‖ JCS([pointer, tier, value]))       node   SHA-256(0x01 ‖ left ‖ right)

Each tier is a tree of its own, and ``join`` makes one root of theirs: who sees a tier whole can prove that nothing of
it is missing, from the roots of the others alone. Salts keep the values of hidden leaves from being guessed.
"""

import hmac
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import invalid

SALT = 16


def salt(key: bytes, version: UUID, name: str) -> bytes:
    """The same for the same key, version and name: compiling again gives the same tree."""
    if len(key) < 32:
        raise invalid("a salt key has at least 32 bytes")
    return hmac.digest(key, version.bytes + name.encode(), "sha256")[:SALT]


def field_leaf(salted: bytes, pointer: str, tier: str, value: Any) -> bytes:
    if len(salted) != SALT:
        raise invalid(f"a salt has {SALT} bytes")
    return leaf_hash(salted + canonical([pointer, tier, value]))


def leaf_hash(content: bytes) -> bytes:
    return sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root(hashes: Sequence[bytes]) -> bytes:
    if not hashes:
        return sha256(b"").digest()
    if len(hashes) == 1:
        return hashes[0]
    middle = _split(len(hashes))
    return node_hash(root(hashes[:middle]), root(hashes[middle:]))


def path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    """The hashes that lead from one leaf to the root, from the bottom up."""
    return [root(hashes[start:end]) for start, end in ranges_of_path(index, len(hashes))]


def ranges_of_path(index: int, size: int) -> list[tuple[int, int]]:
    """The leaves that each step of such a path is the root of: from, and up to."""
    if not 0 <= index < size:
        raise invalid(f"there is no leaf {index} among {size}")
    found, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        found.append((middle, end) if index < middle else (start, middle))
        start, end = (start, middle) if index < middle else (middle, end)
    return found[::-1]


def ranges_of_consistency(first: int, second: int) -> list[tuple[int, int]]:
    """The same for the proof that the first ``first`` of ``second`` leaves are those of an older tree."""
    if not 0 < first <= second:
        raise invalid(f"a tree of {second} leaves has none of {first} before it")
    found, start, end, is_whole = [], 0, second, True
    while first < end:
        middle = start + _split(end - start)
        found.append((middle, end) if first <= middle else (start, middle))
        is_whole = is_whole and first <= middle
        start, end = (start, middle) if first <= middle else (middle, end)
    return [*([] if is_whole else [(start, end)]), *found[::-1]]


def is_consistent(*, first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether this path proves that the older tree is the beginning of the newer one."""
    if not 0 < first <= second:
        return False
    return _roots(first, second, list(path), first_root) == (first_root, second_root)


def _roots(first: int, second: int, path: list[bytes], known: bytes | None) -> tuple[bytes, bytes] | None:
    """The roots that the path leads to; ``known`` is the older one as long as it is a subtree of both."""
    if first == second:
        top = [known] if known is not None and not path else path
        return (top[0], top[0]) if len(top) == 1 and (known is None or not path) else None
    if not path:
        return None
    middle = _split(second)
    *below, other = path
    if first <= middle:
        made = _roots(first, middle, below, known)
        return made and (made[0], node_hash(made[1], other))
    made = _roots(first - middle, second - middle, below, None)
    return made and (node_hash(other, made[0]), node_hash(other, made[1]))


def root_of_path(leaf: bytes, *, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf at this place leads to, or None if the path has another length than it must."""
    if not 0 <= index < size:
        return None
    if size == 1:
        return leaf if not path else None
    if not path:
        return None
    middle = _split(size)
    *below, other = path
    if index < middle:
        left = root_of_path(leaf, index=index, size=middle, path=below)
        return left and node_hash(left, other)
    right = root_of_path(leaf, index=index - middle, size=size - middle, path=below)
    return right and node_hash(other, right)


def join(tiers: Mapping[Tier, tuple[int, bytes]]) -> bytes:
    """One root for the trees of all tiers, each given by its size and its root."""
    return sha256(
        b"\x02" + canonical([[tier, size, top.hex()] for tier, (size, top) in sorted(tiers.items())])
    ).digest()


def commitment(salted: bytes, digest: str) -> str:
    """A hash that can be published: the salt keeps what is hashed from being guessed."""
    return sha256(b"\x03" + salted + bytes.fromhex(digest)).hexdigest()


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1
