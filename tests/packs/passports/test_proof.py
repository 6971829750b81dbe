"""Data Integrity proofs: the vectors of the W3C and of Wycheproof, and what is not a proof."""

from datetime import UTC, datetime
from typing import Any

import pytest

from leasehold_packs.passports import multibase
from leasehold_packs.passports.canonical import canonical
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.keys import private_raw, public_raw
from leasehold_packs.passports.proof import options, sign, signature_fits, signed_bytes, verifies
from tests.corpora.data import needs_corpora
from tests.packs.passports.battery import KEY, SEED
from tests.packs.passports.corpora import data, text

SUITE = ("vc-di-eddsa", "eddsa-jcs-2022")


@needs_corpora
def test_the_vector_of_the_w3c_comes_out_bit_for_bit() -> None:
    pair, document = data("vc-di-eddsa", "keyPair.json"), data("vc-di-eddsa", "unsigned.json")
    config, signed = data(*SUITE, "proofConfigJCS.json"), data(*SUITE, "signedJCS.json")
    combined = signed_bytes(document, config)

    assert canonical(document).decode() == text(*SUITE, "canonDocJCS.txt")
    assert canonical(config).decode() == text(*SUITE, "proofCanonJCS.txt")
    assert combined[:32].hex() == text(*SUITE, "proofHashJCS.txt")
    assert combined[32:].hex() == text(*SUITE, "docHashJCS.txt")
    assert combined.hex() == text(*SUITE, "combinedHashJCS.txt")
    proof = sign(document, config, seed=private_raw(pair["privateKeyMultibase"]))
    assert proof == signed["proof"]
    assert proof["proofValue"] == text(*SUITE, "sigBTC58JCS.txt")
    assert multibase.decode(proof["proofValue"]).hex() == text(*SUITE, "sigHexJCS.txt")
    assert verifies(signed, proof, public=public_raw(pair["publicKeyMultibase"]))


@needs_corpora
@pytest.mark.parametrize("suite", ["eddsa-rdfc-2022/signedDataInt.json", "Ed25519Signature2020/signedEdSig.json"])
def test_proofs_of_other_suites_are_none_of_ours(suite: str) -> None:
    signed = data("vc-di-eddsa", suite)
    public = public_raw(data("vc-di-eddsa", "keyPair.json")["publicKeyMultibase"])

    assert not verifies(signed, signed["proof"], public=public)


@needs_corpora
def test_wycheproof_has_no_signature_that_we_judge_otherwise() -> None:
    rows = data("webhooks", "wycheproof_ed25519.json")

    wrong = [row for row in rows if _judged(row) != (row["result"] == "valid")]

    assert (len(rows), wrong) == (151, [])


def _judged(row: dict[str, Any]) -> bool:
    return signature_fits(*(bytes.fromhex(row[name]) for name in ("pk", "msg", "sig")))


DOCUMENT = {"@context": ["https://a.example", "https://b.example"], "name": "battery"}
ABOUT = options(method=KEY.method, created=datetime(2027, 2, 18, tzinfo=UTC))


def test_signing_again_gives_the_same_proof() -> None:
    assert sign(DOCUMENT, ABOUT, seed=SEED) == sign(DOCUMENT, ABOUT, seed=SEED)


def test_a_document_may_get_more_contexts_but_not_other_ones() -> None:
    proof = sign(DOCUMENT, ABOUT, seed=SEED)
    more = {**DOCUMENT, "@context": [*DOCUMENT["@context"], "https://c.example"]}
    other = {**DOCUMENT, "@context": ["https://c.example", *DOCUMENT["@context"]]}

    assert verifies(more, proof, public=KEY.raw)
    assert not verifies(other, proof, public=KEY.raw)


@pytest.mark.parametrize(
    "change",
    [
        {"proofValue": None},
        {"proofValue": 7},
        {"proofValue": ""},
        {"proofValue": "z" + "1" * 64},
        {"proofValue": "z" * 10_000},
        {"proofValue": "uAAAA"},
        {"created": "2027-02-19T00:00:00Z"},
        {"verificationMethod": "did:web:other.example#key"},
        {"proofPurpose": "authentication"},
        {"cryptosuite": "eddsa-rdfc-2022"},
        {"type": "Ed25519Signature2020"},
        {"extra": 1},
        {"@context": "https://a.example"},
        {"created": 2**60},
    ],
    ids=str,
)
def test_a_changed_proof_is_none(change: dict[str, Any]) -> None:
    assert not verifies(DOCUMENT, {**sign(DOCUMENT, ABOUT, seed=SEED), **change}, public=KEY.raw)


def test_a_changed_document_or_another_key_does_not_fit() -> None:
    proof = sign(DOCUMENT, ABOUT, seed=SEED)

    assert verifies(DOCUMENT, proof, public=KEY.raw)
    assert not verifies({**DOCUMENT, "name": "other"}, proof, public=KEY.raw)
    assert not verifies(DOCUMENT, proof, public=bytes(32))
    assert not verifies(DOCUMENT, proof, public=b"short")


def test_without_a_key_there_is_no_signature() -> None:
    with pytest.raises(PassportError) as refused:
        sign(DOCUMENT, ABOUT, seed=None)

    assert (refused.value.code, refused.value.retryable) == (Code.SIGNING_KEY_MISSING, False)


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(PassportError, match="32 bytes"):
        sign(DOCUMENT, ABOUT, seed=b"short")
