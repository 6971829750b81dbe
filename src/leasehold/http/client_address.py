"""Where a request comes from."""

from fastapi import Request

from leasehold.fetch.public_addresses import is_loopback
from leasehold.http.services import services_of


def client_address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def is_from_here(request: Request) -> bool:
    """A proxy on this machine passes strangers on: what it passed on does not come from here."""
    passed_on = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    return services_of(request).loopback and not passed_on and is_loopback(client_address(request))
