"""The log of an issuer: every receipt that it signed is a leaf of one Merkle tree (RFC 6962), which only grows.

    leaf   SHA-256(0x00 ‖ SHA-256(receipt) ‖ SHA-256(proof))

A head is the size and the root of the tree at a moment, signed like a receipt. A bundle has the way from its leaf to a
head; a consistency proof shows that a newer head has all that an older one had, at the same places. Pure: ``store_log``
fetches the nodes that are named here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, TypedDict

from leasehold_packs.passports import merkle
from leasehold_packs.passports.proof import timestamp

FORMAT = "leasehold-passport-log/1"
HEAD = "leasehold-passport-tree-head/1"
CONSISTENCY = "leasehold-passport-log-consistency/1"
#: A whole subtree: its level, of which 0 has the leaves, and its place there.
Node = tuple[int, int]
#: The nodes that one step of a proof is folded from, from the left.
Step = list[Node]


def leaf(receipt: bytes, proof: bytes) -> bytes:
    return merkle.leaf_hash(sha256(receipt).digest() + sha256(proof).digest())


class Head(TypedDict):
    """What is signed of the tree."""

    format: str
    issuer: str
    size: int
    root: str
    at: str


class SignedHead(Head):
    proof: dict[str, Any]


class LogEntry(TypedDict):
    """The place of a leaf, and its way to a head."""

    format: str
    index: int
    path: list[str]
    head: SignedHead


class LogConsistency(TypedDict):
    """Two heads, and that the newer log begins with all of the older."""

    format: str
    first: SignedHead
    second: SignedHead
    path: list[str]


def head(*, issuer: str, size: int, root: bytes, at: datetime) -> Head:
    """What is signed of the tree."""
    return {"format": HEAD, "issuer": issuer, "size": size, "root": root.hex(), "at": timestamp(at)}


def entry(signed_head: SignedHead, *, index: int, path: Sequence[bytes]) -> LogEntry:
    """What a bundle has of the log."""
    return {"format": FORMAT, "index": index, "path": [step.hex() for step in path], "head": signed_head}


def steps_of_path(index: int, size: int) -> list[Step]:
    """What leads from a leaf to the root, from the bottom up."""
    return [_whole(start, end) for start, end in merkle.ranges_of_path(index, size)]


def steps_of_consistency(first: int, second: int) -> list[Step]:
    return [_whole(start, end) for start, end in merkle.ranges_of_consistency(first, second)]


def folded(steps: Sequence[Step], nodes: Mapping[Node, bytes]) -> list[bytes]:
    return [_folded([nodes[node] for node in step]) for step in steps]


def _whole(start: int, end: int) -> Step:
    """The whole subtrees that cover these leaves; ``start`` is a multiple of every one of their sizes."""
    found: Step = []
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def _folded(hashes: Sequence[bytes]) -> bytes:
    *others, made = hashes
    for each in reversed(others):
        made = merkle.node_hash(each, made)
    return made
