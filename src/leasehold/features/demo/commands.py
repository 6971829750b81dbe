"""`leasehold demo`."""

from typing import Annotated

import typer

from leasehold.cli.output import command, say


@command
async def demo(
    seconds: Annotated[
        float | None, typer.Option(min=0, help="How long orders come in.", show_default="until Ctrl-C")
    ] = None,
    receiver_port: Annotated[int, typer.Option(help="Where webhooks are received, on this machine.")] = 8477,
) -> None:
    """Fill a tenant `demo` of what is up with living work: jobs of every state, flows, schedules, webhooks."""
    import asyncio

    from leasehold.features.demo import sample_data
    from leasehold.settings import Settings

    async with sample_data.receiver(receiver_port) as here, sample_data.shop(Settings.from_env(), here) as shop:
        say("the tenant demo is at work: look at it in the dashboard, or `leasehold jobs list --tenant demo`")
        if not shop.listens:
            say(
                "without webhooks, because workers may not call this machine:"
                f" set LEASEHOLD_FETCH_ALLOW=127.0.0.1:{here.port} for them and for this command"
            )
        try:
            async with asyncio.timeout(seconds):
                await shop.go_on()
        except TimeoutError:
            pass
