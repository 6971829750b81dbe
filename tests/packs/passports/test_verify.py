"""Bundles are checked offline, and every change of them is caught and named."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports import log, verify_standalone
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.bundle import Bundle, field_proof
from leasehold_packs.passports.bundle_zip import keys_json
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.keys import PublicKey
from leasehold_packs.passports.merkle import field_leaf, path, ranges_of_consistency, root
from leasehold_packs.passports.pointers import leaves, pruned
from leasehold_packs.passports.verify import consistency_findings, field_is_shown, verify
from tests.packs.passports.battery import KEY, head_of, logged, passport, signed

MADE = passport()
BUNDLES = {reader: signed(MADE, reader) for reader in Reader}
PARTS = ("payload", "receipt", "proof", "log", "disclosure")


def _codes(bundle: Bundle) -> set[str]:
    return {finding.code for finding in verify(bundle, [KEY]).findings}


@pytest.mark.parametrize("reader", Reader)
def test_a_bundle_as_it_was_made_has_no_findings(reader: Reader) -> None:
    verdict = verify(BUNDLES[reader], [KEY])

    assert verdict.findings == ()
    assert verdict.shown == reader.tiers


@pytest.mark.parametrize("reader", Reader)
def test_a_reader_sees_its_tiers_and_nothing_else(reader: Reader) -> None:
    bundle = BUNDLES[reader]
    everything = b"".join(getattr(bundle, part) for part in PARTS)

    seen = {pointer for pointer, value in leaves(json.loads(bundle.payload)) if value is not None or pointer == "/note"}

    assert seen == {each.pointer for each in MADE.fields if each.tier in reader.tiers}
    hidden = {each.salt.hex() for each in MADE.fields if each.tier not in reader.tiers}
    assert not [salt for salt in hidden if salt.encode() in everything]
    assert (MADE.payload_salt.hex().encode() in everything) is (reader == Reader.OWNER)


def test_a_public_bundle_leaves_no_trace_of_hidden_values() -> None:
    bundle = BUNDLES[Reader.PUBLIC]

    assert b"Aluminium" not in bundle.payload
    assert b"report" not in b"".join(getattr(bundle, part) for part in PARTS)
    assert json.loads(bundle.payload)["materials"] == [{"name": "Cobalt"}]


@pytest.mark.long
@pytest.mark.parametrize(
    ("reader", "part"),
    [*((Reader.OWNER, part) for part in PARTS[:4]), (Reader.PUBLIC, "payload"), (Reader.PUBLIC, "disclosure")],
)
def test_every_single_flipped_bit_is_caught_and_its_part_named(reader: Reader, part: str) -> None:
    bundle = BUNDLES[reader]
    raw: bytes = getattr(bundle, part)

    for flipped in _flipped(raw):
        codes = _codes(replace(bundle, **{part: flipped}))
        assert codes & {f"{part.upper()}_CHANGED", f"{part.upper()}_MALFORMED"}, flipped


@pytest.mark.long
def test_the_stand_alone_program_catches_and_names_every_flipped_byte() -> None:
    dice = Random(1)
    keys = json.loads(keys_json([KEY]))
    raw = {part: getattr(BUNDLES[Reader.OWNER], part) for part in PARTS}
    assert verify_standalone.findings(raw, keys) == []
    for part in PARTS:
        for place in range(len(raw[part])):
            flipped = bytearray(raw[part])
            flipped[place] ^= 1 << dice.randrange(8)
            found = verify_standalone.findings({**raw, part: bytes(flipped)}, keys)
            assert any(finding.startswith(part.upper()) for finding in found), (part, bytes(flipped), found)


def _flipped(raw: bytes) -> Iterator[bytes]:
    for place in range(len(raw)):
        for bit in range(8):
            yield raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]


def test_another_salt_of_the_whole_payload_is_caught() -> None:
    disclosure = {**json.loads(BUNDLES[Reader.OWNER].disclosure), "payload_salt": "0" * 32}

    assert _codes(replace(BUNDLES[Reader.OWNER], disclosure=canonical(disclosure))) == {"DISCLOSURE_CHANGED"}


@settings(deadline=None)
@given(st.sampled_from(PARTS), st.sampled_from(list(Reader)), st.data())
def test_bytes_that_are_lost_added_or_replaced_are_caught(part: str, reader: Reader, data: st.DataObject) -> None:
    raw: bytes = getattr(BUNDLES[reader], part)
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, min(len(raw), start + 5)))
    other = raw[:start] + data.draw(st.binary(max_size=5)) + raw[end:]

    if other != raw:
        assert not verify(replace(BUNDLES[reader], **{part: other}), [KEY]).ok


@settings(deadline=None)
@given(st.tuples(*[st.binary(max_size=60) | st.sampled_from([b"{}", b"[]", b"null", b"[" * 9_000])] * 5))
def test_nothing_that_a_stranger_sends_raises(raw: tuple[bytes, ...]) -> None:
    assert not verify(Bundle(**dict(zip(PARTS, raw, strict=True))), [KEY]).ok


@pytest.mark.parametrize("reader", [Reader.OWNER, Reader.PUBLIC])
def test_a_changed_value_is_named_by_its_pointer(reader: Reader) -> None:
    payload = json.loads(BUNDLES[reader].payload)
    payload["mass"]["value"] = "431"

    verdict = verify(replace(BUNDLES[reader], payload=canonical(payload)), [KEY])

    assert [(finding.code, finding.at) for finding in verdict.findings] == [("PAYLOAD_CHANGED", "/mass/value")]


@pytest.mark.parametrize(
    ("change", "at"),
    [
        (lambda payload: payload.pop("model"), "/model"),
        (lambda payload: payload.update(extra="x"), "/extra"),
        (lambda payload: payload["materials"].append(None), "payload"),
        (lambda payload: payload["materials"].insert(0, None), "/materials/0/name"),
        (lambda payload: payload.update(ok=1), "/ok"),
        (lambda payload: payload.update(extra=None), "payload"),
    ],
    ids=["lost", "added", "a place added", "moved", "1 for true", "a null added"],
)
def test_what_is_added_lost_or_moved_is_named(change: Any, at: str) -> None:
    payload = json.loads(BUNDLES[Reader.PUBLIC].payload)
    change(payload)

    verdict = verify(replace(BUNDLES[Reader.PUBLIC], payload=canonical(payload)), [KEY])

    assert ("PAYLOAD_CHANGED", at) in [(finding.code, finding.at) for finding in verdict.findings]


@pytest.mark.parametrize("pointer", ["/model", "/mass/value", "/ok"])
def test_a_field_that_is_withheld_from_all_parts_leaves_its_tier_incomplete(pointer: str) -> None:
    bundle = _without(BUNDLES[Reader.PUBLIC], pointer)

    assert [(finding.code, finding.at) for finding in verify(bundle, [KEY]).findings] == [("TIER_INCOMPLETE", "public")]


def test_a_bundle_without_any_public_field_is_incomplete() -> None:
    bundle = BUNDLES[Reader.PUBLIC]
    for each in MADE.fields:
        if each.tier == Tier.PUBLIC:
            bundle = _without(bundle, each.pointer)

    assert _codes(bundle) == {"TIER_INCOMPLETE"}


def _without(bundle: Bundle, pointer: str) -> Bundle:
    """As a server would do it that hides a field and knows how bundles are made."""
    disclosure = json.loads(bundle.disclosure)
    disclosure["fields"] = [row for row in disclosure["fields"] if row[0] != pointer]
    return _resealed(bundle, pruned(json.loads(bundle.payload), {row[0] for row in disclosure["fields"]}), disclosure)


def _resealed(bundle: Bundle, payload: Any, disclosure: dict[str, Any]) -> Bundle:
    raw = canonical(payload)
    disclosure["parts"]["payload"] = sha256(raw).hexdigest()
    return replace(bundle, payload=raw, disclosure=canonical(disclosure))


def test_a_value_that_is_changed_in_all_parts_is_caught() -> None:
    payload, disclosure = json.loads(BUNDLES[Reader.PUBLIC].payload), json.loads(BUNDLES[Reader.PUBLIC].disclosure)
    payload["model"] = "M2"
    row = next(row for row in disclosure["fields"] if row[0] == "/model")
    row[3] = field_leaf(bytes.fromhex(row[2]), "/model", "public", "M2").hex()

    assert _codes(_resealed(BUNDLES[Reader.PUBLIC], payload, disclosure)) == {"TIER_INCOMPLETE"}


def test_a_receipt_of_another_passport_does_not_fit() -> None:
    other = signed(passport(says={"model": "M2", "energy": 1, "footprint": 2}), Reader.PUBLIC)

    codes = _codes(replace(BUNDLES[Reader.PUBLIC], receipt=other.receipt, proof=other.proof))

    assert {"TIER_INCOMPLETE", "DISCLOSURE_CHANGED"} <= codes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"payload_root": "0" * 64}, "ROOT_DIFFERS"),
        ({"issuer": "did:web:other.example"}, "ISSUER_DIFFERS"),
        ({"key_id": "other"}, "ISSUER_DIFFERS"),
        ({"format": "other"}, "RECEIPT_MALFORMED"),
        ({"issued_at": "2027-02-30T00:00:00Z"}, "RECEIPT_MALFORMED"),
        ({"tiers": {}}, "RECEIPT_MALFORMED"),
    ],
    ids=str,
)
def test_a_receipt_that_contradicts_itself_is_refused_even_if_it_is_signed(change: dict[str, Any], code: str) -> None:
    receipt = canonical({**json.loads(MADE.receipt), **change})

    assert _codes(signed(replace(MADE, receipt=receipt), Reader.PUBLIC)) == {code}


@pytest.mark.parametrize("spelling", [b" %s", b"%s\n", b"\xef\xbb\xbf%s"], ids=["blank", "line end", "mark"])
def test_a_payload_in_another_spelling_is_malformed_even_if_its_hash_is_given(spelling: bytes) -> None:
    bundle = BUNDLES[Reader.PUBLIC]
    raw = spelling % bundle.payload
    disclosure = json.loads(bundle.disclosure)
    disclosure["parts"]["payload"] = sha256(raw).hexdigest()

    assert _codes(replace(bundle, payload=raw, disclosure=canonical(disclosure))) == {"PAYLOAD_MALFORMED"}


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ([], "KEY_UNKNOWN"),
        ([PublicKey(issuer=KEY.issuer, raw=bytes(31) + b"\1")], "KEY_UNKNOWN"),
        ([replace(KEY, not_before=datetime(2027, 6, 1, tzinfo=UTC))], "KEY_NOT_VALID"),
        ([replace(KEY, not_after=datetime(2027, 1, 1, tzinfo=UTC))], "KEY_NOT_VALID"),
        ([replace(KEY, revoked=datetime(2027, 1, 1, tzinfo=UTC))], "KEY_NOT_VALID"),
    ],
    ids=["no key", "another key", "not yet", "no more", "revoked"],
)
def test_only_a_key_that_was_valid_then_counts(keys: list[PublicKey], code: str) -> None:
    assert {finding.code for finding in verify(BUNDLES[Reader.PUBLIC], keys).findings} == {code}


@settings(deadline=None)
@given(st.sampled_from(MADE.fields), st.sampled_from(MADE.fields))
def test_a_single_field_is_proven_and_no_other_one_by_its_proof(one: Any, other: Any) -> None:
    proof = field_proof(MADE, one.pointer)
    borrowed = {**proof, "pointer": other.pointer, "value": other.value, "salt": other.salt.hex()}

    assert field_is_shown(MADE.receipt, proof)
    assert field_is_shown(MADE.receipt, borrowed) is (one.pointer == other.pointer)


@pytest.mark.parametrize(
    "change",
    [{"value": "x"}, {"index": -1}, {"index": 10**9}, {"index": "0"}, {"path": []}, {"path": ["zz"]}, {"path": None},
     {"tier": "authority"}, {"tier": "nobody"}, {"salt": ""}, {"salt": 7}, {"value": {1}}],
    ids=str,
)  # fmt: skip
def test_a_changed_proof_of_a_field_does_not_hold(change: dict[str, Any]) -> None:
    assert not field_is_shown(MADE.receipt, {**field_proof(MADE, "/model"), **change})


def test_there_is_no_proof_of_a_field_that_is_not_there() -> None:
    with pytest.raises(PassportError):
        field_proof(MADE, "/nothing")


# -- the log --------------------------------------------------------------------------------------------------------


def _with_log(log_part: Any) -> Bundle:
    """As somebody would change the log that knows how bundles are made."""
    bundle = BUNDLES[Reader.PUBLIC]
    disclosure = json.loads(bundle.disclosure)
    raw = canonical(log_part)
    disclosure["parts"]["log"] = sha256(raw).hexdigest()
    return replace(bundle, log=raw, disclosure=canonical(disclosure))


def test_a_bundle_without_its_place_in_the_log_is_refused() -> None:
    assert _codes(_with_log(None)) == {"LOG_MISSING"}


def test_a_place_in_the_log_that_is_another_receipts_is_refused() -> None:
    assert _codes(_with_log(logged(b"another", b"one"))) == {"LOG_EXCLUDES"}


def test_a_head_that_the_issuer_did_not_sign_is_refused() -> None:
    entry = json.loads(BUNDLES[Reader.PUBLIC].log)
    entry["head"]["at"] = "2027-02-19T00:00:00Z"

    assert _codes(_with_log(entry)) == {"LOG_HEAD_INVALID"}


LEAVES = [bytes([number]) * 32 for number in range(40)]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40))
def test_a_newer_log_proves_that_it_has_all_of_an_older_one(one: int, other: int) -> None:
    first, second = sorted((one, other))
    steps = [root(LEAVES[start:end]).hex() for start, end in ranges_of_consistency(first, second)]
    shown = {"format": log.CONSISTENCY, "first": head_of(LEAVES[:first]), "second": head_of(LEAVES[:second])}

    assert consistency_findings({**shown, "path": steps}, [KEY]) == []
    for place in range(len(steps)):
        forged = [*steps[:place], "0" * 64, *steps[place + 1 :]]
        assert consistency_findings({**shown, "path": forged}, [KEY])
    assert consistency_findings({**shown, "path": [*steps, "0" * 64]}, [KEY])


def test_a_log_that_was_rewritten_is_not_consistent_with_the_older_head() -> None:
    rewritten = [b"x" * 32, *LEAVES[1:9]]
    steps = [root(rewritten[start:end]).hex() for start, end in ranges_of_consistency(5, 9)]
    shown = {"format": log.CONSISTENCY, "first": head_of(LEAVES[:5]), "second": head_of(rewritten), "path": steps}

    assert [each.code for each in consistency_findings(shown, [KEY])] == ["LOG_INCONSISTENT"]


@pytest.mark.parametrize("size", range(1, 18))
def test_proofs_are_folded_from_whole_subtrees(size: int) -> None:
    nodes = {
        (level, index): root(LEAVES[index << level : (index + 1) << level])
        for level in range(6)
        for index in range(size >> level)
    }
    for index in range(size):
        assert log.folded(log.steps_of_path(index, size), nodes) == path(LEAVES[:size], index)
