"""The limits of one request, its redirects included, and our words for what goes wrong in it."""

import asyncio
import ssl
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpcore2

from leasehold.errors import BadInput, BadResponse, FetchRefused, FetchTooSlow, FetchUnreachable, LeaseholdError
from leasehold.fetch.byte_budget import Meter
from leasehold.fetch.urls import Url

T = TypeVar("T")

_CLIENT_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    OSError,
)


class Exchange:
    """Everything that waits for the other side happens in a ``step``."""

    def __init__(self, *, timeout: float, max_bytes: int) -> None:
        self._started = asyncio.get_running_loop().time()
        self._timeout = timeout
        self.max_bytes = max_bytes
        self.meter = Meter(max_bytes)

    @property
    def seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that does not count: the other side does not know yet that it will be asked."""
        began = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            self._started += asyncio.get_running_loop().time() - began

    async def step(self, url: Url, work: Awaitable[T]) -> T:
        try:
            # One deadline for all: a server that drips never trips a timeout of a single read.
            async with asyncio.timeout_at(self._started + self._timeout):
                with self.meter:
                    return await work
        except TimeoutError:
            raise FetchTooSlow(f"{url.host} took longer than {self._timeout:g} s") from None
        except _CLIENT_ERRORS as problem:
            # Not chained: the client's words name addresses, and a traceback is shown to the tenant.
            raise _translated(url, problem) from None


def _translated(url: Url, problem: Exception) -> LeaseholdError:
    host, detail = url.host, f"{type(problem).__name__}: {problem}"
    cause = _tls_error(problem)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return BadResponse(f"the certificate of {host} is not valid: {cause.verify_message}", detail=detail)
    if cause:
        return BadResponse(f"{host} does not speak TLS as it should", detail=detail)
    if isinstance(problem, httpcore2.ProxyError):
        return _refused_by_proxy(host, str(problem))
    if isinstance(problem, httpcore2.LocalProtocolError):
        return BadInput(f"the request to {host} is not valid HTTP", hint="check its method and headers")
    if isinstance(problem, httpcore2.ProtocolError) and not _broke_off(problem):
        return BadResponse(f"the answer of {host} is not valid HTTP", detail=detail)
    return FetchUnreachable(f"the connection to {host} broke before the answer was complete", detail=detail)


def _tls_error(problem: BaseException | None) -> ssl.SSLError | None:
    """The client wraps it once or twice."""
    while problem:
        if isinstance(problem, ssl.SSLError):
            return problem
        problem = problem.__cause__ or problem.__context__
    return None


def _broke_off(problem: Exception) -> bool:
    """The client has one class for nonsense and for silence; only the words tell them apart."""
    return str(problem).startswith(("peer closed connection", "Server disconnected"))


def _refused_by_proxy(host: str, answer: str) -> LeaseholdError:
    if answer.startswith("4"):
        return FetchRefused.because(host, "the egress proxy does not let it through", detail=answer)
    return FetchUnreachable(f"the egress proxy cannot reach {host}", detail=answer)
