"""Merkle trees: the roots that others get, proofs that hold, and proofs that do not."""

from hashlib import sha256
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.attributes import Tier
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.merkle import (
    commitment,
    field_leaf,
    join,
    leaf_hash,
    path,
    root,
    root_of_path,
    salt,
)

# The leaves and roots that the tests of Certificate Transparency (RFC 6962) use.
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
HASHES = [leaf_hash(bytes.fromhex(text)) for text in LEAVES]
SIZES = st.integers(1, 40)


def _leaves(size: int) -> list[bytes]:
    return [leaf_hash(b"%d" % index) for index in range(size)]


@pytest.mark.parametrize("size", range(9))
def test_the_roots_are_those_of_rfc_6962(size: int) -> None:
    assert root(HASHES[:size]).hex() == ROOTS[size]


@settings(deadline=None)
@given(SIZES, st.data())
def test_every_leaf_has_a_proof_and_no_other_leaf_fits_it(size: int, data: st.DataObject) -> None:
    leaves = _leaves(size)
    index = data.draw(st.integers(0, size - 1))
    steps = path(leaves, index)

    fits = [
        (leaf, place)
        for leaf in leaves
        for place in range(size)
        if root_of_path(leaf, index=place, size=size, path=steps) == root(leaves)
    ]

    assert fits == [(leaves[index], index)]


@settings(deadline=None)
@given(SIZES, st.data())
def test_a_proof_that_is_longer_shorter_or_changed_does_not_hold(size: int, data: st.DataObject) -> None:
    leaves = _leaves(size)
    index = data.draw(st.integers(0, size - 1))
    steps = path(leaves, index)
    others = [[*steps, b"\0" * 32], steps[:-1]] if steps else [[b"\0" * 32]]
    others += [[*steps[:place], sha256(step).digest(), *steps[place + 1 :]] for place, step in enumerate(steps)]

    assert all(root_of_path(leaves[index], index=index, size=size, path=other) != root(leaves) for other in others)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_there_is_no_proof_for_a_place_outside(index: int, size: int) -> None:
    assert root_of_path(HASHES[0], index=index, size=size, path=[]) is None
    with pytest.raises(PassportError):
        path(HASHES[:size], index)


def test_a_node_is_no_leaf() -> None:
    """Without different first bytes, the two halves of a tree would pass as one leaf."""
    assert leaf_hash(HASHES[0] + HASHES[1]) != root(HASHES[:2])


def test_pointer_tier_value_and_salt_all_count() -> None:
    one = field_leaf(b"s" * 16, "/a", "public", "1")

    assert len({
        one,
        field_leaf(b"t" * 16, "/a", "public", "1"),
        field_leaf(b"s" * 16, "/b", "public", "1"),
        field_leaf(b"s" * 16, "/a", "authority", "1"),
        field_leaf(b"s" * 16, "/a", "public", 1),
        field_leaf(b"s" * 16, "/a", "public", True),
    }) == 6  # fmt: skip


def test_salts_are_the_same_again_and_differ_by_key_version_and_name() -> None:
    key, version = b"k" * 32, UUID(int=1)

    assert salt(key, version, "/a") == salt(key, version, "/a")
    assert len({salt(key, version, "/a"), salt(b"l" * 32, version, "/a"), salt(key, UUID(int=2), "/a")}) == 3


@pytest.mark.parametrize("key", [b"", b"k" * 31])
def test_a_short_salt_key_is_refused(key: bytes) -> None:
    with pytest.raises(PassportError, match="32 bytes"):
        salt(key, UUID(int=1), "/a")


def test_a_field_needs_a_whole_salt() -> None:
    with pytest.raises(PassportError, match="16 bytes"):
        field_leaf(b"short", "/a", "public", "1")


def test_the_root_of_all_tiers_depends_on_size_and_root_of_each() -> None:
    tiers = {Tier.PUBLIC: (1, HASHES[0]), Tier.AUTHORITY: (2, HASHES[1])}

    assert join(tiers) == join(dict(reversed(tiers.items())))
    assert join(tiers) != join({**tiers, Tier.PUBLIC: (2, HASHES[0])})
    assert join(tiers) != join({**tiers, Tier.PUBLIC: (1, HASHES[2])})


def test_a_commitment_hides_what_a_plain_hash_would_show() -> None:
    digest = sha256(b"12").hexdigest()

    assert commitment(b"s" * 16, digest) != commitment(b"t" * 16, digest) != digest
