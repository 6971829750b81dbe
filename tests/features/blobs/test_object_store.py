"""Requests to an object store."""

import pytest

from leasehold.errors import BadSetting
from leasehold.features.blobs.object_store import ObjectStore, authorization
from leasehold.fetch.urls import parse_url
from leasehold.settings import Settings

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#: The examples of the documentation of Signature Version 4 for S3.
EXAMPLES = [
    (
        "GET", "/test.txt", {"Range": "bytes=0-9", "x-amz-content-sha256": EMPTY},
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ),
    (
        "PUT", "/test%24file.text",
        {
            "Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY",
            "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
        },
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ),
    (
        "GET", "/?lifecycle=", {"x-amz-content-sha256": EMPTY},
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("method", "target", "headers", "signature"), EXAMPLES)
def test_requests_are_signed_as_the_documentation_says(
    method: str, target: str, headers: dict[str, str], signature: str
) -> None:
    made = authorization(
        method,
        parse_url(f"https://examplebucket.s3.amazonaws.com{target}"),
        headers | {"x-amz-date": "20130524T000000Z"},
        key_id="AKIAIOSFODNN7EXAMPLE",
        secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region="us-east-1",
    )
    assert made.endswith(f"Signature={signature}")


def test_a_store_without_its_key_is_a_bad_setting() -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_OBJECTS_KEY_ID"):
        ObjectStore.of(Settings(objects_url="https://s3.example.com/bucket"))
    assert ObjectStore.of(Settings()) is None
