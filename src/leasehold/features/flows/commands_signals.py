"""`leasehold signals …`."""

from typing import Annotated

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, say
from leasehold.features.flows.commands import opened

app = typer.Typer(help="Signals: what flows wait for from outside.", no_args_is_help=True)


@app.callback()
def _signals() -> None:
    """Otherwise a single command would stand for the whole group."""


@app.command()
@command
async def send(
    signal: str,
    key: Annotated[str, typer.Argument(help="What the step waits for; or the id of its flow.")],
    payload: Annotated[str | None, typer.Option(help="JSON; the result of the step.")] = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Send a signal; without a step that waits for it, it is kept for the first that does."""
    from leasehold.errors import BadInput
    from leasehold.json_codec import decode

    try:
        value = decode(payload)
    except ValueError as problem:
        raise BadInput(f"the payload is not JSON: {problem}") from None
    async with opened(tenant) as flows:
        taken = await flows.send_signal(signal, key, value)
    print_json({"signal": signal, "key": key, "taken": taken}) if json else say("taken" if taken else "kept")
