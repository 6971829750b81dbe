"""Which name a request may call this server by: its own, or the public host of somebody to whom a pack shows something.

A page of another host can lead its own name here by the DNS, and would then be of the same origin as this server.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from urllib.parse import urlsplit

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from leasehold.fetch.host_header import name_of
from leasehold.fetch.public_addresses import is_loopback, parse_address
from leasehold.http.client_address import client_address
from leasehold.http.problems import Problem, answer
from leasehold.http.route import ANYBODY, Route
from leasehold.http.services import Services
from leasehold.program.access import Stranger
from leasehold.program.transaction import ReadOnlyTransaction
from leasehold.settings import Settings

#: Load balancers and the kubelet ask these by whatever address they know; they tell nothing about anybody.
_ANY_HOST = ("/healthz", "/readyz")

#: Says whether somebody's public pages are at this host: ``async def is_public_host(tx, host)``, port included.
PublicHosts = Callable[[ReadOnlyTransaction, str], Awaitable[bool]]


class Hosts:
    """ASGI middleware. A pack's public host gets the routes that are for anybody, and nothing else."""

    def __init__(
        self, app: ASGIApp, services: Services, public: Sequence[PublicHosts] = (), routes: Iterable[Route] = ()
    ) -> None:
        self._app = app
        self._services = services
        self._names = OwnNames(services.settings, loopback=services.loopback)
        self._public = public
        self._shown = [route.path_regex for route in routes if (route.openapi_extra or {}).get(ANYBODY)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _ANY_HOST:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        given = request.headers.getlist("host")
        host = given[0].lower() if len(given) == 1 else ""
        # Every browser names a host: a request without one is a program's.
        if not given or self._names.has(host, local_address=scope.get("server")):
            await self._app(scope, receive, send)
            return
        try:
            await self._refuse_unless_public(request, host)
        except Problem as problem:
            await answer(request, problem)(scope, receive, send)
            return
        request.state.public_host = host
        await self._app(scope, receive, send)

    async def _refuse_unless_public(self, request: Request, host: str) -> None:
        shown = any(pattern.match(request.url.path) for pattern in self._shown)
        if shown and name_of(host):
            self._services.addresses.count_request(client_address(request))
            async with Stranger(self._services.backend).transaction() as tx:
                for is_public in self._public:
                    if await is_public(tx, host):
                        return
        raise Problem(
            "misdirected",
            "this server does not answer to the name that the request gives it",
            hint="name it in LEASEHOLD_HOSTS on the server, or ask under LEASEHOLD_PUBLIC_URL",
        )


def public_host(request: Request) -> str | None:
    """The public host that the request was let in by; None under one of this server's own names."""
    host: str | None = getattr(request.state, "public_host", None)
    return host


class OwnNames:
    """Names that people and programs call this server by."""

    def __init__(self, settings: Settings, *, loopback: bool) -> None:
        self._loopback = loopback
        self._names = set(settings.hosts.split(",")) if settings.hosts else set()
        if settings.public_url:
            self._names.add(urlsplit(settings.public_url).hostname or "")

    def has(self, host: str, *, local_address: tuple[str, int | None] | None) -> bool:
        """Whether a Host header names this server; also by the address that the connection came to, as probes do."""
        if "*" in self._names:
            return True
        name = name_of(host)
        if name is None:
            return False
        if self._loopback and is_loopback(name):
            return True
        address = parse_address(name)
        if address and local_address and address == parse_address(local_address[0]):
            return True
        above = name.split(".")
        return name in self._names or any(f"*.{'.'.join(above[n:])}" in self._names for n in range(1, len(above)))
