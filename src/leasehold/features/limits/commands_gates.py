"""`leasehold gates …`."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json, Tenant, duration
from leasehold.cli.output import command, print_json, print_table, say, shown
from leasehold.cli.tenant_scope import shell_scope, tenant_scope

if TYPE_CHECKING:
    from leasehold.features.limits.model import Gate

app = typer.Typer(help="Gates: rate limits and circuit breakers.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="GATE", help="A gate, as in host:example.com.")]
NameOrClass = Annotated[str, typer.Argument(metavar="GATE", help="A gate, or a class of gates, as in host:")]
Shared = Annotated[bool, typer.Option("--shared", help="For all tenants together, before their own.")]


@app.command("list")
@command
async def list_(tenant: Tenant = None, json: Json = False) -> None:
    """The rules, and the gates that have let a job through, with how they stand."""
    from leasehold.features.limits.store import Gates
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        found = await Gates(db, owner).list()
    if json:
        print_json(found)
    else:
        _print(found)


@app.command()
@command
async def show(gate: Name, tenant: Tenant = None, json: Json = False) -> None:
    """One gate."""
    from leasehold.features.limits.store import Gates
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        found = await Gates(db, owner).get(gate)
    if json:
        print_json(found)
    else:
        _print([found])


@app.command("set")
@command
async def set_(
    gate: NameOrClass,
    rate: Annotated[int | None, typer.Option(min=1, help="So many starts …")] = None,
    per: Annotated[
        float | None,
        typer.Option(
            help="Length of the period.",
            show_default="1",
            parser=duration,
            metavar="DURATION",
        ),
    ] = None,
    burst: Annotated[int | None, typer.Option(min=1, help="Starts at once after a rest.", show_default="1")] = None,
    failures: Annotated[int | None, typer.Option(min=1, help="Failures that open the breaker …")] = None,
    ratio: Annotated[float | None, typer.Option(help="… if they are this share of the starts …")] = None,
    window: Annotated[
        float | None,
        typer.Option(
            help="Period in which starts are counted.",
            parser=duration,
            metavar="DURATION",
        ),
    ] = None,
    cooldown: Annotated[
        float | None,
        typer.Option(
            help="How long the breaker stays open.",
            parser=duration,
            metavar="DURATION",
        ),
    ] = None,
    probes: Annotated[int | None, typer.Option(min=1, help="Jobs that then try.")] = None,
    shared: Shared = False,
    tenant: Tenant = None,
) -> None:
    """Set the rule of a gate, in the place of the one that it has: a rate, a breaker, or both."""
    from leasehold.features.limits.store import Gates, set_shared
    from leasehold.settings import Settings

    rule = {
        "rate": rate,
        "per_s": per,
        "burst": burst,
        "failures": failures,
        "ratio": ratio,
        "window_s": window,
        "cooldown_s": cooldown,
        "probes": probes,
    }
    async with shell_scope(None if shared else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            await set_shared(db, gate, rule)
        else:
            await Gates(db, owner).set(gate, **rule)
    say(f"{gate} has its rule")


@app.command()
@command
async def remove(gate: NameOrClass, shared: Shared = False, tenant: Tenant = None) -> None:
    """Remove a rule; who waits for it may go."""
    from leasehold.features.limits.store import Gates, set_shared
    from leasehold.settings import Settings

    async with shell_scope(None if shared else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            await set_shared(db, gate, None)
        else:
            await Gates(db, owner).remove(gate)
    say(f"{gate} has no rule")


@app.command()
@command
async def hold(
    gate: Name,
    seconds: Annotated[
        float,
        typer.Option(
            "--for",
            help="How long.",
            parser=duration,
            metavar="DURATION",
        ),
    ],
    tenant: Tenant = None,
) -> None:
    """Let nobody pass a gate for a while."""
    from leasehold.features.limits.store import Gates
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        await Gates(db, owner).hold(gate, seconds)
    say(f"{gate} is held for {seconds:g} s; `{shown(f'leasehold gates reset {gate}', tenant)}` ends it")


@app.command()
@command
async def reset(gate: Name, shared: Shared = False, tenant: Tenant = None) -> None:
    """Close the breaker of a gate and end what holds it; its rate goes on."""
    from leasehold.features.limits.store import Gates, reset_shared
    from leasehold.settings import Settings

    async with shell_scope(None if shared else Settings.from_env(tenant=tenant)) as (db, owner):
        if owner is None:
            await reset_shared(db, gate)
        else:
            await Gates(db, owner).reset(gate)
    say(f"{gate} is reset")


def _print(found: "list[Gate]") -> None:
    print_table(
        ["gate", "rule", "rate", "burst", "state", "failed", "next", "waiting"],
        [
            (
                one.gate,
                f"{one.rule or ''}{' (shared)' if one.shared else ''}",
                f"{one.rate} in {one.per_s:g} s" if one.rate else "",
                one.burst,
                one.state,
                one.failed,
                one.next_at,
                one.waiting,
            )
            for one in found
        ],
    )
