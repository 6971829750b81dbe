"""Public keys: their names, and the documents that they are published in."""

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports import multibase
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.keys import (
    PublicKey,
    did_document,
    did_web,
    jwks,
    keys_of,
    private_raw,
    public_multibase,
    public_raw,
)
from tests.corpora.data import needs_corpora
from tests.packs.passports.battery import ISSUER, KEY
from tests.packs.passports.corpora import data

# RFC 8037, appendix A.
RFC_X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
RFC_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_a_key_names_itself_as_rfc_8037_does() -> None:
    key = PublicKey(issuer=ISSUER, raw=base64.urlsafe_b64decode(f"{RFC_X}="))

    assert key.key_id == RFC_THUMBPRINT
    assert jwks([key]) == {
        "keys": [
            {"kty": "OKP", "crv": "Ed25519", "x": RFC_X, "kid": RFC_THUMBPRINT, "alg": "EdDSA", "use": "sig"},
        ]
    }


def test_a_did_document_gives_back_its_own_keys() -> None:
    other = PublicKey(issuer="did:web:other.example", raw=bytes(32))
    document = did_document(ISSUER, [KEY, other])

    assert document["id"] == "did:web:maker.example"
    assert document["assertionMethod"] == [KEY.method]
    assert [(key.method, key.raw) for key in keys_of(document)] == [(KEY.method, KEY.raw)]


@pytest.mark.parametrize("document", [{}, {"id": "x"}, {"id": "x", "verificationMethod": [7], "assertionMethod": []}])
def test_what_is_no_did_document_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(PassportError):
        keys_of(document)


def test_hosts_with_a_port_and_paths_are_written_as_did_web_wants() -> None:
    assert did_web("example.com:8443", "makers", "a b") == "did:web:example.com%3A8443:makers:a%20b"


@pytest.mark.parametrize("host", ["", "Example.com", "a/b", "a:b", "user@host", "a b"])
def test_what_is_no_host_has_no_did(host: str) -> None:
    with pytest.raises(PassportError):
        did_web(host)


@pytest.mark.parametrize(
    ("moment", "signs"),
    [
        (datetime(2025, 12, 31, tzinfo=UTC), False),
        (datetime(2026, 1, 1, tzinfo=UTC), True),
        (datetime(2026, 6, 1, tzinfo=UTC), False),
    ],
    ids=["before", "in time", "revoked"],
)
def test_a_key_signs_in_its_time_until_it_is_revoked(moment: datetime, signs: bool) -> None:
    key = PublicKey(issuer=ISSUER, raw=KEY.raw, not_before=KEY.not_before, revoked=datetime(2026, 6, 1, tzinfo=UTC))

    assert key.signs_at(moment) is signs


@needs_corpora
def test_the_keys_of_the_w3c_are_read_and_written() -> None:
    pair = data("vc-di-eddsa", "keyPair.json")

    assert public_multibase(public_raw(pair["publicKeyMultibase"])) == pair["publicKeyMultibase"]
    assert len(private_raw(pair["privateKeyMultibase"])) == 32
    with pytest.raises(PassportError):
        public_raw(pair["privateKeyMultibase"])


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_base58_gives_back_what_it_was_given(raw: bytes) -> None:
    assert multibase.decode(multibase.encode(raw)) == raw


# draft-msporny-base58, section 5.
@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"Hello World!", "z2NEpo7TZRRrLZSi2U"),
        (
            b"The quick brown fox jumps over the lazy dog.",
            "zUSm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
        ),
        (bytes.fromhex("0000287fb4cd"), "z11233QC4"),
    ],
)
def test_base58_is_that_of_others(raw: bytes, text: str) -> None:
    assert multibase.encode(raw) == text


@pytest.mark.parametrize("text", ["", "2NEpo7", "z0", "zO", "zI", "zl", "z é", "z" + "2" * 300])
def test_what_is_no_base58_is_refused(text: str) -> None:
    with pytest.raises(PassportError):
        multibase.decode(text)
