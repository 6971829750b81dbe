"""`leasehold serve`: the HTTP API."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.output import fail, say, warn_of_unknown_variables

if TYPE_CHECKING:
    from leasehold.settings import Settings

Host = Annotated[
    str | None, typer.Option("--host", envvar="LEASEHOLD_HOST", help="The address.", show_default="127.0.0.1")
]
Port = Annotated[
    int | None, typer.Option("--port", envvar="LEASEHOLD_PORT", min=0, max=65535, help="The port.", show_default="8080")
]
JsonLogs = Annotated[bool, typer.Option("--json-logs", help="Log lines as JSON.")]


def serve(host: Host = None, port: Port = None, json_logs: JsonLogs = False) -> None:
    """Serve the HTTP API until SIGTERM or Ctrl-C. Beyond this machine it needs LEASEHOLD_KEY_PEPPER."""
    import asyncio

    from leasehold import log, tracing
    from leasehold.cli.event_loop import loop_factory
    from leasehold.errors import LeaseholdError
    from leasehold.settings import Settings

    warn_of_unknown_variables()
    try:
        settings = Settings.from_env(host=host, port=port)
        log.configure(json_lines=json_logs, level=settings.log_level)
        if settings.otel:
            tracing.configure("leasehold-server")
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_serve(settings))
    except LeaseholdError as problem:
        fail(problem)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _serve(settings: "Settings") -> None:
    import asyncio

    from leasehold.cli.event_loop import on_stop
    from leasehold.dashboard import app
    from leasehold.http.server import serving
    from leasehold.plugins.discovery import discover

    stopping = asyncio.Event()
    on_stop(stopping.set)
    async with serving(settings, packs=discover(settings.packs), mount=app.mount) as url:
        say(f"serving {url}/v1 (docs: {url}/docs); `leasehold keys create NAME` makes a key")
        await stopping.wait()
    say("stopped")
