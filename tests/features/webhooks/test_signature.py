"""Signing and checking of webhooks."""

import base64
import sys
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold import webhooks
from leasehold.errors import BadInput, BadSignature
from leasehold.features.webhooks.signature import PLAIN, SLACK, STANDARD, TIMESTAMPED, Scheme, sign

NOW = 1_800_000_000
BODY = b'{"type": "job.succeeded"}'
NEW, OLD = ("whsec_" + base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
ALL = pytest.mark.parametrize("scheme", [STANDARD, TIMESTAMPED, SLACK, PLAIN], ids=lambda scheme: scheme.name)


def signed(scheme: Scheme = STANDARD, *, secrets: tuple[str, ...] = (NEW,), timestamp: int = NOW) -> dict[str, str]:
    return sign(BODY, secrets=secrets, message_id="msg_1", timestamp=timestamp, scheme=scheme)


def fits(headers: dict[str, str], scheme: Scheme = STANDARD, *, secret: str = NEW, body: bytes = BODY) -> bool:
    try:
        webhooks.verify(body, headers, secret, scheme=scheme, now=NOW)
    except BadSignature as problem:
        str(problem).encode()
        return False
    return True


@ALL
def test_what_is_signed_is_accepted(scheme: Scheme) -> None:
    assert fits(signed(scheme), scheme)
    assert fits({name.upper(): value for name, value in signed(scheme).items()}, scheme), "header names have no case"


@ALL
def test_another_body_or_secret_or_no_header_is_refused(scheme: Scheme) -> None:
    headers = signed(scheme)
    assert not fits(headers, scheme, body=BODY + b" ")
    assert not fits(headers, scheme, secret=OLD)
    for name in headers:
        assert not fits({key: value for key, value in headers.items() if key != name}, scheme)
        assert not fits({**headers, name: ""}, scheme)


@pytest.mark.parametrize("scheme", [STANDARD, TIMESTAMPED], ids=lambda scheme: scheme.name)
def test_during_a_rotation_both_secrets_fit(scheme: Scheme) -> None:
    headers = signed(scheme, secrets=(NEW, OLD))
    assert fits(headers, scheme, secret=NEW)
    assert fits(headers, scheme, secret=OLD)


@ALL
def test_a_receiver_may_have_several_secrets(scheme: Scheme) -> None:
    webhooks.verify(BODY, signed(scheme, secrets=(OLD,)), [NEW, OLD], scheme=scheme, now=NOW)


@pytest.mark.parametrize("scheme", [STANDARD, TIMESTAMPED, SLACK], ids=lambda scheme: scheme.name)
@pytest.mark.parametrize(("seconds", "accepted"), [(0, True), (-300, True), (300, True), (-301, False), (301, False)])
def test_a_message_is_neither_old_nor_from_the_future(scheme: Scheme, seconds: int, accepted: bool) -> None:
    assert fits(signed(scheme, timestamp=NOW + seconds), scheme) is accepted


@pytest.mark.parametrize(
    "stamp", ["", " 1800000000", "+1800000000", "1_800_000_000", "１８００００００００", "1e9", "9" * 13, "-1"]
)
def test_a_timestamp_is_plain_digits(stamp: str) -> None:
    assert not fits({**signed(), "webhook-timestamp": stamp})
    assert not fits({"Stripe-Signature": f"t={stamp},v1=x"}, TIMESTAMPED)


@pytest.mark.parametrize(
    "signature",
    ["v1", "v1,", ",", "v1,a,b", "v1,ü", "v1a,x", "v2,x", "\ud800", " " * 9999, "v1,x " * 9999, "t=,t=,v1="],
)
@ALL
def test_nonsense_is_refused_and_raises_nothing_else(signature: str, scheme: Scheme) -> None:
    assert not fits({**signed(scheme), scheme.signature: signature}, scheme)


def test_a_signature_must_be_written_in_the_one_right_way() -> None:
    [name] = [name for name in signed() if name == "webhook-signature"]
    text = signed()[name]
    for other in (text.rstrip("="), text + "=", text.replace("v1,", "V1,"), text.replace(",", ", "), text[:-2]):
        assert not fits({**signed(), name: other})


def test_a_header_that_is_there_twice_is_refused() -> None:
    assert not fits({**signed(), "Webhook-Id": "msg_2"})


@pytest.mark.parametrize("message_id", ["", "a.b", "a b", "ü", "x" * 257, "a\n"])
def test_an_id_has_no_dot_and_no_odd_characters(message_id: str) -> None:
    with pytest.raises(BadInput, match="cannot be the id"):
        sign(BODY, secrets=[NEW], message_id=message_id, timestamp=NOW)
    assert not fits({**signed(), "webhook-id": message_id})


def test_dots_cannot_be_moved_between_the_id_and_the_body() -> None:
    headers = sign(b"a.b", secrets=[NEW], message_id="m", timestamp=NOW)
    assert not fits({**headers, "webhook-id": f"m.{NOW}.a"}, body=b"b")


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!!!", "whsk_x", "whsec_ü"])
def test_a_secret_that_is_none_is_the_callers_mistake(secret: str) -> None:
    with pytest.raises(BadInput):
        sign(BODY, secrets=[secret], message_id="m", timestamp=NOW)
    with pytest.raises(BadInput):
        webhooks.verify(BODY, signed(), secret, now=NOW)


def test_nothing_is_signed_without_a_secret() -> None:
    with pytest.raises(BadInput, match="no secret"):
        sign(BODY, secrets=[], message_id="m", timestamp=NOW)


def test_header_names_can_be_chosen() -> None:
    scheme = replace(STANDARD, signature="X-Shop-Signature", message_id="X-Shop-Id", timestamp="X-Shop-Time")
    headers = signed(scheme)
    assert set(headers) == {"X-Shop-Signature", "X-Shop-Id", "X-Shop-Time"}
    assert fits(headers, scheme)
    assert not fits(headers)


def test_where_there_is_room_for_one_signature_the_first_secret_signs() -> None:
    for scheme in (PLAIN, SLACK):
        assert signed(scheme, secrets=(NEW, OLD)) == signed(scheme, secrets=(NEW,))


@pytest.mark.parametrize("with_public", [False, True], ids=["seed", "seed and public key"])
def test_ed25519_signs_for_those_who_must_not_be_able_to(with_public: bool) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = key.public_key().public_bytes_raw()
    private = bytes(range(32)) + (public if with_public else b"")
    secret, known = (f"{p}{base64.b64encode(raw).decode()}" for p, raw in (("whsk_", private), ("whpk_", public)))
    headers = signed(secrets=(secret, NEW))
    assert headers["webhook-signature"].startswith("v1a,")
    assert fits(headers, secret=known)
    assert fits(headers, secret=NEW)
    assert not fits(headers, secret=known, body=b"other")
    assert not fits(signed(secrets=(NEW,)), secret=known)


def test_ed25519_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "whsk_" + base64.b64encode(bytes(31)).decode()
    with pytest.raises(BadInput, match="32 or 64 bytes"):
        signed(secrets=(secret,))
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(BadInput, match="needs a library") as failed:
        signed(secrets=(secret,))
    assert failed.value.hint == "pip install 'leasehold[ed25519]'"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    scheme=st.sampled_from([STANDARD, TIMESTAMPED, SLACK, PLAIN]),
    name=st.sampled_from(["signature", "message_id", "timestamp"]),
    value=st.one_of(st.text(), st.text("v01at=, .sha256").map(lambda text: text + "x")),
    body=st.binary(),
)
def test_whatever_a_sender_sends_is_refused_by_our_own_error(
    scheme: Scheme, name: str, value: str, body: bytes
) -> None:
    header = getattr(scheme, name) or scheme.signature
    assert not fits({**signed(scheme), header: value}, scheme, body=body)
