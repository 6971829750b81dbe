"""The HTTP API inside AWS Lambda, behind API Gateway or a function URL: ``leasehold.aws_lambda.lambda_handler``.

Needs ``leasehold[lambda]``. A function is frozen between two events, so it serves requests and runs no jobs: have a
worker elsewhere. It cannot stream either: whoever asks for a stream gets the page.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cache
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from leasehold.http.app import Services, create_app, open_services
from leasehold.plugins.discovery import discover
from leasehold.settings import Settings

#: Never closed: an instance is not told of its end. Kept here, or it would be closed as soon as nobody names it.
_opened = AsyncExitStack()


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one event. The first one opens the database; later ones in the same instance find it open."""
    answer: dict[str, Any] = _adapter()(event, context)
    return answer


class Unstreamed:
    """The application where nothing happens after an answer: no stream, and wake-ups go out before it."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        plain = [(name, value) for name, value in scope["headers"] if value != b"text/event-stream"]
        await self._app({**scope, "headers": plain}, receive, send)
        await self._services.send_waiting()


@cache
def _adapter() -> Any:
    from mangum import Mangum

    settings = Settings.from_env()
    settings = replace(settings, hosts=settings.hosts or "*")  # the gateway calls us by its own names alone
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # where the adapter looks for it, at every event
    services = loop.run_until_complete(_opened.enter_async_context(open_services(settings, loopback=False)))
    return Mangum(Unstreamed(create_app(services, discover(settings.packs)), services), lifespan="off")
