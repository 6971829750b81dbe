"""An S3-compatible object store: three requests, signed with AWS Signature Version 4, through our own fetcher."""

import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Self

from leasehold.errors import BadSetting, FetchError, FetchTooLarge, FetchUnreachable, NotFound
from leasehold.fetch.fetcher import Fetcher
from leasehold.fetch.response import Fetched
from leasehold.fetch.urls import Url, parse_url
from leasehold.settings import Settings

#: What the store says when it has no object, or refuses.
_WORDS_BYTES = 100_000


class ObjectStore:
    """The bucket that ``LEASEHOLD_OBJECTS_URL`` names, such as ``https://s3.example.com/bucket/folder``."""

    def __init__(self, settings: Settings) -> None:
        if not (settings.objects_url and settings.objects_key_id and settings.objects_secret):
            raise BadSetting(
                "LEASEHOLD_OBJECTS_URL needs LEASEHOLD_OBJECTS_KEY_ID and LEASEHOLD_OBJECTS_SECRET beside it"
            )
        self._base = parse_url(settings.objects_url.rstrip("/") + "/")
        self._region = settings.objects_region
        self._key_id, self._secret = settings.objects_key_id, settings.objects_secret
        # The operator has named this host, so it may be an internal one; nobody else has a say in where we go.
        own = f"{self._base.host}:{self._base.port}"
        self._fetcher = Fetcher(replace(settings, fetch_allow=own, fetch_deny=None, fetch_max_redirects=0))

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The store that the settings name, if they do."""
        return cls(settings) if settings.objects_url else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._fetcher.__aexit__(kind, error, trace)

    async def put(self, key: str, data: bytes) -> None:
        await self._ask("PUT", key, data)

    async def get(self, key: str, *, max_bytes: int) -> bytes:
        # however little the caller takes, the store's own words about an object must fit
        body = (await self._ask("GET", key, max_bytes=max(max_bytes, _WORDS_BYTES))).body
        if len(body) > max_bytes:
            raise FetchTooLarge(f"the object has more than {max_bytes} bytes")
        return body

    async def delete(self, key: str) -> None:
        """One that is not there is gone, too."""
        with suppress(NotFound):
            await self._ask("DELETE", key)

    async def _ask(self, method: str, key: str, data: bytes = b"", *, max_bytes: int = _WORDS_BYTES) -> Fetched:
        url = parse_url(f"{self._base}{key}")
        headers = {
            "x-amz-content-sha256": sha256(data).hexdigest(),
            "x-amz-date": f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}",
        }
        headers["Authorization"] = authorization(
            method, url, headers, key_id=self._key_id, secret=self._secret, region=self._region
        )
        answer = await self._fetcher.request(method, str(url), headers=headers, body=data, max_bytes=max_bytes)
        if answer.status == 404:
            raise NotFound(f"the object store has no object {key}")
        if answer.status >= 500 or answer.status == 429:
            raise FetchUnreachable(f"the object store answered {answer.status}")
        if not 200 <= answer.status < 300:
            # Its words may name the bucket and the key id: they are for the operator's log.
            raise FetchError(f"the object store refused: it answered {answer.status}", detail=answer.text[:500])
        return answer


def authorization(
    method: str, url: Url, headers: Mapping[str, str], *, key_id: str, secret: str, region: str, service: str = "s3"
) -> str:
    """The Authorization header of a request that carries these headers, Host, and the digest of its body."""
    path, _, query = url.target.partition("?")
    signed = {"host": url.authority} | {name.lower(): value for name, value in headers.items()}
    names = ";".join(sorted(signed))
    lines = [f"{name}:{signed[name]}" for name in sorted(signed)]
    asked = "\n".join([method, path, query, *lines, "", names, signed["x-amz-content-sha256"]])
    moment = signed["x-amz-date"]
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, sha256(asked.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
