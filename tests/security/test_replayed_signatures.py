"""A signed delivery in the wrong hands: sent again, changed, kept until later, or signed with what has expired."""

import json
from dataclasses import replace
from typing import Any

import pytest

from leasehold import webhooks
from leasehold.errors import BadSignature
from leasehold.features.webhooks.signature import (
    PLAIN,
    SLACK,
    STANDARD,
    TIMESTAMPED,
    Scheme,
    new_pair,
    new_secret,
    sign,
)

NOW = 1_800_000_000
BODY = b'{"type": "order.paid", "id": "evt_1", "amount": 5}'
MINE, OTHERS, OLD = new_secret(), new_secret(), new_secret()
STAMPED = pytest.mark.parametrize("scheme", [STANDARD, TIMESTAMPED, SLACK], ids=lambda one: one.name)


def taken(scheme: Scheme = STANDARD, *, secrets: tuple[str, ...] = (MINE,), at: int = NOW) -> dict[str, str]:
    """The headers of a delivery that somebody has listened to."""
    return sign(BODY, secrets=secrets, message_id="evt_1", timestamp=at, scheme=scheme)


def accepts(headers: dict[str, str], scheme: Scheme = STANDARD, *, body: bytes = BODY, **more: Any) -> bool:
    try:
        webhooks.verify(body, headers, more.pop("secret", MINE), scheme=scheme, now=more.pop("now", NOW))
    except BadSignature:
        return False
    return True


@STAMPED
def test_what_was_listened_to_is_of_no_use_after_five_minutes(scheme: Scheme) -> None:
    headers = taken(scheme)
    assert accepts(headers, scheme, now=NOW + 300)
    assert not accepts(headers, scheme, now=NOW + 301)


@STAMPED
def test_it_cannot_be_made_younger(scheme: Scheme) -> None:
    later = NOW + 3600
    headers = taken(scheme)
    for name in headers:
        fresh = headers | {name: headers[name].replace(str(NOW), str(later))}
        assert not accepts(fresh, scheme, now=later)
        both = headers | {name: headers[name].replace(f"t={NOW}", f"t={NOW},t={later}")}
        assert not accepts(both, scheme, now=later)
        first = headers | {name: headers[name].replace(f"t={NOW}", f"t={later},t={NOW}")}
        assert not accepts(first, scheme, now=later)


def test_it_cannot_get_another_id_by_which_a_receiver_would_know_it_again() -> None:
    headers = taken()
    assert headers["webhook-id"] == "evt_1"
    for other in ("evt_2", "EVT_1", "evt_1 ", " evt_1", "evt_1\t"):
        assert not accepts(headers | {"webhook-id": other})


def test_the_same_message_sent_again_has_the_same_id() -> None:
    """A receiver that keeps ids for the five minutes sees a replay; the retry of a delivery has that id, too."""
    assert taken(at=NOW)["webhook-id"] == taken(at=NOW + 60)["webhook-id"]


@pytest.mark.parametrize("scheme", [STANDARD, TIMESTAMPED, SLACK, PLAIN], ids=lambda one: one.name)
def test_a_delivery_to_another_endpoint_does_not_fit_here(scheme: Scheme) -> None:
    """A tenant that has an endpoint at the same receiver, with a secret of its own."""
    assert not accepts(taken(scheme, secrets=(OTHERS,)), scheme)


@STAMPED
def test_a_signature_of_one_format_is_none_of_another(scheme: Scheme) -> None:
    for other in (STANDARD, TIMESTAMPED, SLACK, PLAIN):
        if other is not scheme:
            given = taken(other)
            named = replace(scheme, signature=other.signature) if other.signature in given else scheme
            stamps = {name: str(NOW) for name in (scheme.timestamp, scheme.message_id) if name}
            assert not accepts(stamps | given, named)


def test_after_a_rotation_the_old_secret_opens_nothing() -> None:
    during = taken(secrets=(MINE, OLD))
    assert accepts(during, secret=OLD)
    assert not accepts(taken(secrets=(MINE,)), secret=OLD)
    assert not accepts(taken(secrets=(OLD,))), "what is signed with a leaked old secret fits no receiver that went on"
    texts = during["webhook-signature"].split(" ")
    assert not accepts(during | {"webhook-signature": texts[1]}), "nor does the half of a delivery of those days"


def test_many_guesses_in_one_header_are_not_all_tried() -> None:
    right = taken()["webhook-signature"]
    assert not accepts(taken() | {"webhook-signature": "v1,AAAA " * 200 + right})


def test_a_private_key_cannot_be_passed_off_as_a_shared_secret() -> None:
    """With a public key a receiver verifies; whoever knows that key, and everybody does, signs nothing with it."""
    private, public = new_pair()
    assert accepts(taken(secrets=(private,)), secret=public)
    as_shared = "whsec_" + public.removeprefix("whpk_")
    forged = taken(secrets=(as_shared,))
    assert not accepts(forged, secret=public)
    assert not accepts({name: text.replace("v1,", "v1a,") for name, text in forged.items()}, secret=public)


@pytest.mark.parametrize(
    "body", [b"", BODY + b"\n", json.dumps(json.loads(BODY), indent=1).encode(), BODY.replace(b"5", b"9")]
)
def test_no_other_body_fits(body: bytes) -> None:
    for scheme in (STANDARD, TIMESTAMPED, SLACK, PLAIN):
        assert not accepts(taken(scheme), scheme, body=body)
