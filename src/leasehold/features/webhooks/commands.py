"""`leasehold webhooks …`."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from leasehold.cli.options import Json, Tenant, duration
from leasehold.cli.output import command, print_json, print_table, say, shown
from leasehold.cli.tenant_scope import tenant_scope

if TYPE_CHECKING:
    from leasehold.features.webhooks import model

app = typer.Typer(help="Signed webhooks: endpoints, and what was delivered to them.", no_args_is_help=True)

Endpoint = Annotated[UUID, typer.Argument(help="The endpoint's id, as `webhooks list` shows it.")]
Format = Annotated[str, typer.Option("--format", help="standard, stripe, sha256 or ed25519.")]


@app.command()
@command
async def add(
    url: Annotated[str, typer.Argument(help="Where to send events; https, or a host that an operator allows.")],
    event: Annotated[
        list[str] | None, typer.Option("--event", help="job.dead, job.*, *; again for more.", show_default="job.*")
    ] = None,
    format_: Format = "standard",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", help="NAME=VARIABLE: a header whose value is in this environment variable."),
    ] = None,
    header_name: Annotated[
        list[str] | None,
        typer.Option("--header-name", help="signature=X-Shop-Signature; or message_id=…, timestamp=…"),
    ] = None,
    max_in_flight: Annotated[int, typer.Option(help="Deliveries at once.")] = 10,
    max_per_minute: Annotated[int | None, typer.Option(min=1, max=60000, help="Deliveries a minute.")] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="One after the other: what fails holds what comes after it.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            help="Time that the receiver has to answer.",
            parser=duration,
            metavar="DURATION",
        ),
    ] = 15.0,
    disable_days: Annotated[float, typer.Option(help="Days of nothing but failures that disable it.")] = 5.0,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Make an endpoint and print its secret, this once."""
    from datetime import timedelta

    from leasehold.features.webhooks import store as webhooks
    from leasehold.installation_keys import secret_keys
    from leasehold.settings import Settings

    settings = Settings.from_env(tenant=tenant)
    keys = secret_keys(settings)
    async with tenant_scope(settings) as (scope, owner):
        endpoint, secret = await webhooks.create_endpoint(
            scope,
            owner,
            keys,
            settings,
            url=url,
            events=event or ["job.*"],
            format_=format_,
            header_names=_pairs(header_name),
            headers={name: _environment(variable) for name, variable in _pairs(header).items()},
            max_in_flight=max_in_flight,
            max_per_minute=max_per_minute,
            ordered=ordered,
            timeout_s=timeout,
            disable_after=timedelta(days=disable_days),
        )
    _show_secret(endpoint, secret, json=json)


@app.command("list")
@command
async def list_(tenant: Tenant = None, json: Json = False) -> None:
    """The endpoints of a tenant."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        found = await webhooks.list_endpoints(scope, owner)
    if json:
        print_json([_plain(one) for one in found])
    else:
        print_table(
            ["endpoint", "url", "events", "state", "failing since", "reason"],
            [
                (one.endpoint_id, one.url, ",".join(one.events), one.state, one.failing_since, one.reason)
                for one in found
            ],
        )


@app.command()
@command
async def get(endpoint: Endpoint, tenant: Tenant = None) -> None:
    """One endpoint, as JSON."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        [found] = await webhooks.list_endpoints(scope, owner, endpoint)
    print_json(_plain(found))


@app.command()
@command
async def pause(
    endpoint: Endpoint,
    reason: Annotated[str | None, typer.Option(help="Why; shown with the endpoint.")] = None,
    tenant: Tenant = None,
) -> None:
    """Let events wait for this endpoint."""
    await _set_state(endpoint, "paused", tenant, reason)
    say(f"{endpoint} is paused; `{shown(f'leasehold webhooks resume {endpoint}', tenant)}` lets it go on")


@app.command()
@command
async def resume(endpoint: Endpoint, tenant: Tenant = None) -> None:
    """Let an endpoint that is paused or disabled go on; what waited for it is sent."""
    await _set_state(endpoint, "enabled", tenant)
    recover = shown(f"leasehold webhooks recover {endpoint} --since 2030-01-31T08:00:00", tenant)
    say(f"{endpoint} goes on; `{recover}` sends what it missed since then, while it was disabled")


@app.command()
@command
async def rotate(
    endpoint: Endpoint,
    hours: Annotated[float, typer.Option(min=0, max=8760, help="Hours that the old secrets go on signing.")] = 24.0,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Give an endpoint a new secret and print it, this once. Old and new ones sign until the old have expired."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.installation_keys import secret_keys
    from leasehold.settings import Settings

    settings = Settings.from_env(tenant=tenant)
    keys = secret_keys(settings)
    async with tenant_scope(settings) as (scope, owner):
        secret = await webhooks.rotate_secret(scope, owner, endpoint, keys, overlap_s=hours * 3600)
    _show_secret(endpoint, secret, json=json)


@app.command("test")
@command
async def send_test(endpoint: Endpoint, tenant: Tenant = None) -> None:
    """Send an event of type endpoint.test, and print the delivery's id."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        print(await webhooks.test_endpoint(scope, owner, endpoint))


@app.command()
@command
async def deliveries(
    endpoint: Annotated[UUID | None, typer.Argument(help="Of this endpoint only.")] = None,
    delivery: Annotated[UUID | None, typer.Option("--delivery", help="The attempts of this one, as JSON.")] = None,
    state: Annotated[str | None, typer.Option(help="pending, delivered or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Deliveries, newest first; or everything that was sent and answered for one of them."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        if delivery:
            print_json(await webhooks.list_delivery_attempts(scope, owner, delivery))
            return
        found = await webhooks.list_deliveries(scope, owner, endpoint=endpoint, state=state, limit=limit)
    if json:
        print_json(found)
    else:
        print_table(
            ["delivery", "type", "subject", "state", "attempts", "status", "created", "reason"],
            [
                (d.delivery_id, d.type, d.subject_id, d.state, d.attempts, d.status, d.created_at, d.reason)
                for d in found
            ],
        )


@app.command()
@command
async def resend(
    delivery: Annotated[UUID, typer.Argument(help="The delivery's id.")],
    tenant: Tenant = None,
) -> None:
    """Send one delivery now: again, or before its time. The receiver sees the same id."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        await webhooks.resend_delivery(scope, owner, delivery)
    say(f"{delivery} is on its way")


@app.command()
@command
async def recover(
    endpoint: Endpoint,
    since: Annotated[datetime, typer.Option(help="From this moment on, in UTC.")],
    tenant: Tenant = None,
) -> None:
    """Send an endpoint all that failed, or that it missed while it was disabled."""
    from datetime import UTC

    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        count = await webhooks.recover_deliveries(scope, owner, endpoint, since.replace(tzinfo=UTC))
    say(f"{count} deliveries are on their way")


@app.command()
@command
async def remove(endpoint: Endpoint, tenant: Tenant = None) -> None:
    """Remove an endpoint with the history of its deliveries."""
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        await webhooks.remove_endpoint(scope, owner, endpoint)
    say(f"{endpoint} is removed")


@app.command()
@command
async def listen(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8765,
    format_: Format = "standard",
    secret_from: Annotated[
        str, typer.Option("--secret-from", help="The environment variable that has the endpoint's secret.")
    ] = "WEBHOOK_SECRET",
) -> None:
    """Receive webhooks on this machine, verify them, and print each as a line of JSON. Ctrl-C ends it."""
    from leasehold.features.webhooks.receiver import receive
    from leasehold.features.webhooks.rules import scheme_of

    await receive(port, secret=_environment(secret_from), scheme=scheme_of(format_, {}))


async def _set_state(endpoint: UUID, state: str, tenant: str | None, reason: str | None = None) -> None:
    from leasehold.features.webhooks import store as webhooks
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        await webhooks.set_endpoint_state(scope, owner, endpoint, state, reason)


def _show_secret(endpoint: UUID, secret: str, *, json: bool) -> None:
    if json:
        print_json({"endpoint_id": endpoint, "secret": secret})
    else:
        print(endpoint)
        print(secret)
        say("the secret is not shown again; its receiver verifies with it: leasehold.webhooks.verify")


def _pairs(given: list[str] | None) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in given or []]
    if wrong := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise typer.BadParameter(f"{wrong[0]!r} is not NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _environment(variable: str) -> str:
    """A value that must not stand on a command line, where everybody on the machine can read it."""
    import os

    value = os.environ.get(variable)
    if not value:
        raise typer.BadParameter(f"the environment variable {variable} is not set")
    return value


def _plain(endpoint: "model.Endpoint") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(endpoint)
