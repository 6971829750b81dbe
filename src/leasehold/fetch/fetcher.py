"""Requests to hosts that others have named, safe by default. See docs/explanation/safe-fetch.md.

async with Fetcher(settings) as fetcher:
    page = await fetcher.get("https://example.com/", etag=before.etag)
"""

import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Self, TypedDict, Unpack
from urllib.parse import unquote, urlsplit

import httpcore2

from leasehold import tracing
from leasehold.errors import BadResponse, BadSetting, FetchError, FetchRefused
from leasehold.fetch.connect import (
    PinnedBackend,
    ProxyBackend,
    Resolver,
    SystemResolver,
    is_own_address,
    judged_addresses,
    on_share_of,
)
from leasehold.fetch.limits import Exchange
from leasehold.fetch.policy import Policy
from leasehold.fetch.public_addresses import Address
from leasehold.fetch.redirects import Ask, make_ask, redirect_target, redirected
from leasehold.fetch.response import Answer, Fetched, Hop, read_whole
from leasehold.fetch.urls import Url, parse_url
from leasehold.log import emit
from leasehold.settings import Settings

KEPT_CONNECTIONS = 100
KEPT_SECONDS = 5.0


Before = Callable[[Url], Awaitable[None]]


class Options(TypedDict, total=False):
    """What may be said about a request; what is not said comes from the settings."""

    headers: Mapping[str, str]
    body: bytes
    timeout: float  #: seconds for everything, redirects included
    max_bytes: int  #: of the body, after decompression
    max_redirects: int  #: 0: a redirect is the answer. Only GET and HEAD are redirected at all
    etag: str | None  #: of the last answer: 304 with no body when nothing has changed
    last_modified: str | None
    before: Before  #: asked for leave before each request, also before redirected ones
    share: str  #: the tenant whose share of lookups is used, also by what ``before`` asks; "" is a share, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A URL that may be fetched, and where a request would go; behind a proxy, that is the proxy's to find out."""

    url: Url
    addresses: tuple[Address, ...]


class Fetcher:
    """One for each process: it keeps connections. Proxies that the environment names are not used."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        resolver: Resolver | None = None,
        dialer: httpcore2.AsyncNetworkBackend | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._policy = Policy.from_settings(self._settings, is_own=is_own_address)
        self._judge = lru_cache(maxsize=4096)(self._policy.judge_url)  # what is dialled is judged again
        self._resolver = resolver or SystemResolver()
        self._proxy = _proxy(self._settings.fetch_proxy)
        dialer = dialer or httpcore2.AnyIOBackend()
        pinned = PinnedBackend(policy=self._policy, resolver=self._resolver, dialer=dialer)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or httpcore2.default_ssl_context(),
            proxy=self._proxy,
            max_connections=None,  # hosts that hang must not use up everybody's connections
            max_keepalive_connections=KEPT_CONNECTIONS,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=ProxyBackend(dialer) if self._proxy else pinned,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.aclose()

    async def get(self, url: str, *, truncate: bool = False, **options: Unpack[Options]) -> Fetched:
        return await self.request("GET", url, truncate=truncate, **options)

    async def request(self, method: str, url: str, *, truncate: bool = False, **options: Unpack[Options]) -> Fetched:
        """The whole answer, or a FetchError. ``truncate`` cuts a body that is too large."""
        exchange = self._exchange(options)
        with _reported(method, url) as span:
            async with self._opened(method, url, options, exchange) as answer:
                span.set("http.response.status_code", answer.status)
                return await read_whole(answer, exchange, truncate=truncate)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **options: Unpack[Options]) -> AsyncIterator[Answer]:
        """The head of the answer; read its body by ``chunks`` inside the block. The deadline holds for that too."""
        exchange = self._exchange(options)
        with _reported(method, url) as span:
            async with self._opened(method, url, options, exchange) as answer:
                span.set("http.response.status_code", answer.status)
                yield answer

    async def check(self, url: str) -> Checked:
        """Resolve and judge, as a request would, without a connection."""
        parsed = parse_url(url)
        self._policy.judge_url(parsed)
        if self._proxy:
            return Checked(url=parsed, addresses=())
        found = await judged_addresses(parsed.bare_host, parsed.port, policy=self._policy, resolver=self._resolver)
        return Checked(url=parsed, addresses=tuple(found))

    def _exchange(self, options: Options) -> Exchange:
        return Exchange(
            timeout=options.get("timeout", self._settings.fetch_timeout_seconds),
            max_bytes=options.get("max_bytes", self._settings.fetch_max_bytes),
        )

    @asynccontextmanager
    async def _opened(self, method: str, url: str, options: Options, exchange: Exchange) -> AsyncIterator[Answer]:
        """The answer after all redirects, closed at the end of the block."""
        ask = make_ask(
            method, parse_url(url), _headers(options), options.get("body", b""), user_agent=self._settings.user_agent
        )
        limit = options.get("max_redirects", self._settings.fetch_max_redirects)
        hops: list[Hop] = []
        past = [ask.url]
        while True:
            with on_share_of(options.get("share")):
                response = await self._send(
                    ask, exchange, options.get("before"), redirected_by=past[-2] if hops else None
                )
            try:
                following = _following(ask, response, past=past, limit=limit)
                if following is None:
                    yield Answer(response, ask=ask, hops=hops, exchange=exchange)
                    return
            finally:
                await response.aclose()
            hops.append(Hop(url=str(ask.url), status=response.status))
            past.append(following.url)
            ask = following

    async def _send(
        self, ask: Ask, exchange: Exchange, before: Before | None, *, redirected_by: Url | None
    ) -> httpcore2.Response:
        try:
            if before:
                with exchange.paused():
                    await before(ask.url)
            return await self._exchanged(ask, exchange)
        except FetchRefused as problem:
            if redirected_by is None:
                raise
            raise _as_redirect(problem, redirected_by) from None

    async def _exchanged(self, ask: Ask, exchange: Exchange) -> httpcore2.Response:
        self._judge(ask.url)
        exchange.meter.expect_head()
        request = _request(ask, proxied=self._proxy is not None)
        response = await exchange.step(ask.url, self._pool.handle_async_request(request))
        exchange.meter.head_is_complete()
        if response.status == 101:
            await response.aclose()
            raise BadResponse(f"{ask.url.host} changes to a protocol that was not asked for")
        return response


def _headers(options: Options) -> dict[str, str]:
    headers = dict(options.get("headers", {}))
    if etag := options.get("etag"):
        headers["If-None-Match"] = etag
    if last_modified := options.get("last_modified"):
        headers["If-Modified-Since"] = last_modified
    if (trace := tracing.traceparent()) and not any(name.lower() == "traceparent" for name in headers):
        headers["traceparent"] = trace
    return headers


def _request(ask: Ask, *, proxied: bool) -> httpcore2.Request:
    # By its parts: the client has no URL to read in another way than we did.
    target = str(ask.url) if proxied and ask.url.scheme == "http" else ask.url.target
    url = httpcore2.URL(scheme=ask.url.scheme, host=ask.url.bare_host, port=ask.url.port, target=target)
    return httpcore2.Request(ask.method.encode(), url, headers=ask.wire_headers(), content=ask.body)


def _following(ask: Ask, response: httpcore2.Response, *, past: list[Url], limit: int) -> Ask | None:
    location = next((value for name, value in response.headers if name.lower() == b"location"), None)
    if limit == 0 or location is None:
        return None
    try:
        target = redirect_target(ask, response.status, location.decode("utf-8", "surrogateescape"))
        return None if target is None else redirected(ask, target, past=past, limit=limit)
    except FetchRefused as problem:
        raise _as_redirect(problem, ask.url) from None


def _as_redirect(problem: FetchRefused, by: Url) -> FetchRefused:
    """A redirect may name what the caller is not to know."""
    detail = problem.detail or str(problem)
    return type(problem).because(f"the redirect of {by.origin}", problem.why, hint=problem.hint, detail=detail)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _proxy(setting: str | None) -> httpcore2.Proxy | None:
    if setting is None:
        return None
    parts = urlsplit(setting)
    if parts.scheme != "http" or not parts.hostname:
        raise BadSetting("LEASEHOLD_FETCH_PROXY is not an http:// URL", hint="such as http://proxy.internal:4750")
    auth = (unquote(parts.username or ""), unquote(parts.password or "")) if parts.username else None
    return httpcore2.Proxy(f"http://{parts.hostname}:{parts.port or 80}", auth=auth)


@contextmanager
def _reported(method: str, url: str) -> Iterator[tracing.Span]:
    """The operator's log says what the tenant's message must not; a trace says less than both."""
    try:
        with tracing.span(method, "client", http__request__method=method, server__address=_host(url)) as span:
            yield span
    except FetchError as problem:
        level = logging.INFO if isinstance(problem, FetchRefused) else logging.DEBUG
        emit("fetch failed", level=level, error=str(problem), detail=problem.detail)
        raise
